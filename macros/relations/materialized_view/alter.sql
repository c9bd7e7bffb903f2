{% macro spark_mv__get_materialized_view_configuration_changes(existing_relation, new_config) -%}
  {%- set changes = adapter.materialized_view_changes(existing_relation, sql, model) -%}
  {%- do return(changes if changes.has_changes else none) -%}
{%- endmacro %}


{% macro spark_mv__get_alter_materialized_view_as_sql(relation, configuration_changes, sql, existing_relation, backup_relation, intermediate_relation) -%}
  {{- log('Applying ALTER to: ' ~ relation) -}}
  {{- get_create_materialized_view_as_sql(relation, sql) -}}
{%- endmacro %}
