{% materialization seed, adapter='spark_mv' %}
  {%- set old_relation = adapter.get_relation(database=database, schema=schema, identifier=model['alias']) -%}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set agate_table = load_agate_table() -%}
  {%- do store_result('agate_table', response='OK', agate_table=agate_table) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% if old_relation is not none and old_relation.is_materialized_view %}
    {% do exceptions.raise_compiler_error("Cannot seed to '" ~ old_relation ~ "', it is a materialized view. Drop it with dbt run-operation drop_mv, or give the seed another alias.") %}
  {% elif old_relation is not none and old_relation.is_view %}
    {% do exceptions.raise_compiler_error("Cannot seed to '" ~ old_relation ~ "', it is a view") %}
  {% endif %}

  {%- set rows_affected = agate_table.rows | length -%}
  {%- if config.get('file_format', 'none') | lower == 'iceberg' -%}
    {%- set code = spark_mv_seed_in_one_commit(old_relation, target_relation, agate_table) -%}
    {%- set sql = '' -%}
  {%- else -%}
    {%- set code = 'CREATE' if should_full_refresh() else 'INSERT' -%}
    {%- if old_relation is none -%}
      {%- set create_sql = create_csv_table(model, agate_table) -%}
    {%- else -%}
      {%- set create_sql = reset_csv_table(model, should_full_refresh(), old_relation, agate_table) -%}
    {%- endif -%}
    {%- set sql = get_csv_sql(create_sql, load_csv_rows(model, agate_table) if rows_affected else '') -%}
  {%- endif -%}
  {% call noop_statement('main', code ~ ' ' ~ rows_affected, code, rows_affected) %}
    {{ sql }}
  {% endcall %}

  {% do apply_grants(target_relation, config.get('grants'), should_revoke(old_relation, should_full_refresh())) %}
  {% do persist_docs(target_relation, model) %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {% do adapter.commit() %}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
