{# Readers find the old rows or the new ones, whatever the number of queries that return them. #}
{% macro spark_mv_seed_in_one_commit(old_relation, target_relation, agate_table) %}
  {%- set types = adapter.seed_types(agate_table, config.get('column_types') or {}) -%}
  {%- set queries = adapter.seed_queries(agate_table, types, config.get('quote_columns'), get_batch_size()) -%}
  {%- set label = adapter.seed_label(create_table_as(False, target_relation, types | string), queries) -%}
  {%- set intermediate_relation = make_intermediate_relation(target_relation).incorporate(is_iceberg=true) -%}
  {%- set code = 'CREATE' if should_full_refresh() else 'INSERT' -%}

  {%- if old_relation is not none and not old_relation.is_iceberg -%}
    {%- do adapter.write_seed(create_table_as(False, intermediate_relation, queries[0]), label) -%}
    {%- for query in queries[1:] -%}
      {%- do adapter.write_seed('insert into ' ~ intermediate_relation ~ ' ' ~ query, label) -%}
    {%- endfor -%}
    {%- do adapter.swap_in(intermediate_relation, target_relation) -%}
    {{ return(code) }}
  {%- endif -%}

  {%- set change = 'all' -%}
  {%- if old_relation is not none and not should_full_refresh() -%}
    {%- set change = adapter.seed_change(target_relation, label) -%}
  {%- endif -%}
  {%- if change is none -%}
    {{ return('UNCHANGED') }}
  {%- endif -%}

  {%- set query = queries[0] -%}
  {%- if queries | length > 1 -%}
    {%- do adapter.add_query('create or replace table ' ~ intermediate_relation ~ ' using iceberg as ' ~ query, abridge_sql_log=True) -%}
    {%- for query in queries[1:] -%}
      {%- do adapter.add_query('insert into ' ~ intermediate_relation ~ ' ' ~ query, abridge_sql_log=True) -%}
    {%- endfor -%}
    {%- set query = 'select * from ' ~ intermediate_relation -%}
  {%- endif -%}
  {%- if change == 'rows' -%}
    {%- do adapter.write_seed('insert into ' ~ target_relation ~ ' replace where true ' ~ query, label) -%}
  {%- else -%}
    {%- do adapter.write_seed(create_table_as(False, target_relation, query), label) -%}
    {%- if old_relation is not none -%}
      {%- do unset_old_properties(target_relation, old_relation) -%}
    {%- endif -%}
  {%- endif -%}
  {%- if queries | length > 1 -%}
    {%- do adapter.drop_relation(intermediate_relation) -%}
  {%- endif -%}
  {{ return(code) }}
{% endmacro %}
