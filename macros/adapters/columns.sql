{# dbt's own macros expect columns here; dbt-spark gives them the rows of a description. #}
{% macro spark_mv__get_columns_in_relation(relation) -%}
  {{ return(adapter.get_columns_in_relation(relation)) }}
{%- endmacro %}


{# A relation as text is a query in a run with --empty; its name is what `render` gives. #}
{% macro spark_mv__get_columns_in_relation_raw(relation) -%}
  {%- call statement('get_columns_in_relation_raw', fetch_result=True) -%}
    describe extended {{ relation.render() }}
  {%- endcall -%}
  {{ return(load_result('get_columns_in_relation_raw').table) }}
{%- endmacro %}


{% macro spark_mv__alter_column_type(relation, column_name, new_column_type) -%}
  {%- call statement('alter_column_type') -%}
    alter table {{ relation.render() }} alter column {{ adapter.quote(column_name) }} type {{ new_column_type }}
  {%- endcall -%}
{%- endmacro %}


{# dbt-spark refuses to drop columns; Iceberg tables can. #}
{% macro spark_mv__alter_relation_add_remove_columns(relation, add_columns, remove_columns) %}
  {%- if execute and remove_columns and not (relation.is_iceberg or adapter.default_is_iceberg()) -%}
    {{ return(spark__alter_relation_add_remove_columns(relation, add_columns, remove_columns)) }}
  {%- endif -%}
  {%- if remove_columns -%}
    {%- do run_query(
      'alter table ' ~ relation.render() ~ ' drop columns (' ~ remove_columns | map(attribute='quoted') | join(', ') ~ ')'
    ) -%}
  {%- endif -%}
  {%- if add_columns -%}
    {%- set added = [] -%}
    {%- for column in add_columns -%}
      {%- do added.append(column.quoted ~ ' ' ~ column.data_type) -%}
    {%- endfor -%}
    {%- do run_query('alter table ' ~ relation.render() ~ ' add columns (' ~ added | join(', ') ~ ')') -%}
  {%- endif -%}
{% endmacro %}
