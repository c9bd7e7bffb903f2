{# dbt's own macros expect columns here; dbt-spark gives them the rows of a description. #}
{% macro spark_mv__get_columns_in_relation(relation) -%}
  {{ return(adapter.get_columns_in_relation(relation)) }}
{%- endmacro %}


{# dbt-spark refuses to drop columns; Iceberg tables can. #}
{% macro spark_mv__alter_relation_add_remove_columns(relation, add_columns, remove_columns) %}
  {%- if execute and remove_columns and not (relation.is_iceberg or adapter.default_is_iceberg()) -%}
    {{ return(spark__alter_relation_add_remove_columns(relation, add_columns, remove_columns)) }}
  {%- endif -%}
  {%- if remove_columns -%}
    {%- do run_query(
      'alter table ' ~ relation ~ ' drop columns (' ~ remove_columns | map(attribute='quoted') | join(', ') ~ ')'
    ) -%}
  {%- endif -%}
  {%- if add_columns -%}
    {%- set added = [] -%}
    {%- for column in add_columns -%}
      {%- do added.append(column.quoted ~ ' ' ~ column.data_type) -%}
    {%- endfor -%}
    {%- do run_query('alter table ' ~ relation ~ ' add columns (' ~ added | join(', ') ~ ')') -%}
  {%- endif -%}
{% endmacro %}
