{# Readers find the old rows or the new ones, whatever the number of queries that return them. #}
{% macro spark_mv_seed_in_one_commit(old_relation, target_relation, agate_table) %}
  {%- set types = adapter.seed_types(agate_table, config.get('column_types') or {}) -%}
  {%- set queries = adapter.seed_queries(agate_table, types, config.get('quote_columns'), get_batch_size()) -%}
  {%- set create = spark_mv_create_seed_sql(target_relation) -%}
  {%- set label = adapter.seed_label(create ~ types, queries) -%}
  {%- set code = 'CREATE' if should_full_refresh() else 'INSERT' -%}

  {%- if old_relation is not none and not old_relation.is_iceberg -%}
    {%- set intermediate_relation = make_intermediate_relation(target_relation) -%}
    {%- do adapter.write_seed(intermediate_relation, spark_mv_create_seed_sql(intermediate_relation), queries, label) -%}
    {%- do adapter.swap_in(intermediate_relation, target_relation) -%}
    {{ return(code) }}
  {%- endif -%}

  {%- set change = 'all' -%}
  {%- if old_relation is not none and not should_full_refresh() -%}
    {%- set change = adapter.seed_change(target_relation, label) -%}
  {%- endif -%}
  {%- if change is none -%}
    {{ return('UNCHANGED') }}
  {%- elif change == 'rows' -%}
    {%- do adapter.write_seed(target_relation, 'insert into ' ~ target_relation ~ ' replace where true', queries, label) -%}
  {%- else -%}
    {%- do adapter.write_seed(target_relation, create, queries, label) -%}
    {%- if old_relation is not none -%}
      {%- do unset_old_properties(target_relation, old_relation) -%}
    {%- endif -%}
  {%- endif -%}
  {{ return(code) }}
{% endmacro %}


{# What stands before the query; a contract is no matter of seeds. #}
{% macro spark_mv_create_seed_sql(relation) %}
  create or replace table {{ relation.render() }}
  {{ spark_mv_seed_clauses() }}
  as
{% endmacro %}


{# What the config of a seed says of its table, of whatever format. #}
{% macro spark_mv_seed_clauses() %}
  {{ file_format_clause() }}
  {{ tblproperties_clause() }}
  {{ partition_cols(label="partitioned by") }}
  {{ clustered_cols(label="clustered by") }}
  {{ location_clause() }}
  {{ comment_clause() }}
{% endmacro %}
