{# What dbt-spark would drop before it builds anew is replaced as a table is. #}
{% materialization incremental, adapter='spark_mv', supported_languages=['sql', 'python'] %}
  {%- set existing = load_cached_relation(this) -%}
  {%- if existing is none or model['language'] != 'sql' or config.get('incremental_strategy') == 'microbatch'
      or (existing.is_table and not should_full_refresh() and not adapter.was_restored()) -%}
    {{ return(materialization_incremental_spark()) }}
  {%- endif -%}
  {%- set file_format = dbt_spark_validate_get_file_format(config.get('file_format', default='parquet')) -%}
  {%- do dbt_spark_validate_get_incremental_strategy(config.get('incremental_strategy') or 'append', file_format) -%}
  {%- do incremental_validate_on_schema_change(config.get('on_schema_change'), default='ignore') -%}
  {{ return(spark_mv_materialize_table()) }}
{% endmaterialization %}


{# With `append_new_columns` a column that the model lost stays in the table, and is null from then on;
   dbt-spark would select it from the new rows. #}
{% macro get_insert_into_sql(source_relation, target_relation) %}
  {%- set columns = adapter.get_columns_in_relation(target_relation) | map(attribute='quoted') | list -%}
  {%- if config.get('on_schema_change') == 'append_new_columns' -%}
    {%- set given = adapter.get_columns_in_relation(source_relation) | map(attribute='quoted') | list -%}
    {%- set columns = columns | select('in', given) | list -%}
  {%- endif -%}
  insert into {{ target_relation }} ({{ columns | join(', ') }})
  select {{ columns | join(', ') }} from {{ source_relation }}
{% endmacro %}
