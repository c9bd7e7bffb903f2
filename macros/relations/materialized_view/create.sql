{% macro spark_mv__get_create_materialized_view_as_sql(relation, sql) -%}
  {%- if config.get('contract').enforced -%}
    {{ get_assert_columns_equivalent(sql) }}
    {%- set sql = get_select_subquery(sql) -%}
  {%- endif -%}
  {%- set query_columns = get_columns_in_query(sql) if config.persist_column_docs() else none -%}
  {{ adapter.create_materialized_view_sql(relation, sql, model, query_columns) }}
{%- endmacro %}
