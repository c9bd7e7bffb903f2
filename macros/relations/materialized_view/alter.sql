{% macro spark_mv__get_alter_materialized_view_as_sql(relation, configuration_changes, sql, existing_relation, backup_relation, intermediate_relation) -%}
  {{- log('Applying ALTER to: ' ~ relation) -}}
  {{- get_create_materialized_view_as_sql(relation, sql) -}}
{%- endmacro %}
