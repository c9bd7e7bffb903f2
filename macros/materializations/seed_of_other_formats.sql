{# Of tables of other formats, which are dropped and filled by several commits. #}
{% macro spark_mv__create_csv_table(model, agate_table) %}
  {%- set types = adapter.seed_types(agate_table, model['config'].get('column_types', {})) -%}
  {%- set quoting = model['config'].get('quote_columns', none) -%}
  {% set sql %}
    create table {{ this.render() }} (
      {%- for name in agate_table.column_names %}
        {{ adapter.quote_seed_column(name | string, quoting) }} {{ types[name] }}
        {{- ', ' if not loop.last }}
      {%- endfor %}
    )
    {{ spark_mv_seed_clauses() }}
  {% endset %}
  {% call statement('_') -%}
    {{ sql }}
  {%- endcall %}
  {{ return(sql) }}
{% endmacro %}


{% macro spark_mv__load_csv_rows(model, agate_table) %}
  {%- set types = adapter.seed_types(agate_table, model['config'].get('column_types', {})) -%}
  {%- set quoting = model['config'].get('quote_columns', none) -%}
  {%- set queries = adapter.seed_queries(agate_table, types, quoting, get_batch_size()) -%}
  {% for query in queries %}
    {% do adapter.add_query('insert into ' ~ this.render() ~ ' ' ~ query, abridge_sql_log=True) %}
  {% endfor %}
  {{ return('insert into ' ~ this.render() ~ ' ' ~ queries[0]) }}
{% endmacro %}
