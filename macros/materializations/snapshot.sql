{# A view beside the snapshot: its columns must be described, which a temporary view shared by all
   threads of a session would allow only as long as no other snapshot has the same name. #}
{% macro spark_build_snapshot_staging_table(strategy, sql, target_relation) %}
  {%- set staging = target_relation.incorporate(
    path={'identifier': target_relation.identifier ~ '__dbt_tmp'}, type='view'
  ) -%}
  {% call statement('build_snapshot_staging_relation') %}
    create or replace view {{ staging }} as
    {{ snapshot_staging_table(strategy, sql, target_relation) }}
  {% endcall %}
  {% do return(staging) %}
{% endmacro %}


{% macro spark_mv__snapshot_merge_sql(target, source, insert_cols) -%}
  {%- set columns = config.get("snapshot_table_column_names") or get_snapshot_table_column_names() -%}
  {%- set current = config.get("dbt_valid_to_current") -%}
  {%- set insert_cols = insert_cols | reject('in', _snapshot_key_columns(insert_cols)) | list -%}
  merge into {{ target }} as DBT_INTERNAL_DEST
  using {{ source }} as DBT_INTERNAL_SOURCE
  on DBT_INTERNAL_SOURCE.{{ columns.dbt_scd_id }} = DBT_INTERNAL_DEST.{{ columns.dbt_scd_id }}
  when matched
    and (
      DBT_INTERNAL_DEST.{{ columns.dbt_valid_to }} is null
      {%- if current %} or DBT_INTERNAL_DEST.{{ columns.dbt_valid_to }} = {{ current }}{% endif %}
    )
    and DBT_INTERNAL_SOURCE.dbt_change_type in ('update', 'delete')
    then update set {{ columns.dbt_valid_to }} = DBT_INTERNAL_SOURCE.{{ columns.dbt_valid_to }}
  when not matched
    and DBT_INTERNAL_SOURCE.dbt_change_type = 'insert'
    then insert ({{ insert_cols | join(', ') }})
    values (
      {%- for column in insert_cols %}DBT_INTERNAL_SOURCE.{{ column }}{{ ', ' if not loop.last }}{% endfor -%}
    )
{%- endmacro %}


{% macro _snapshot_key_columns(quoted_names) %}
  {%- set keys = [] -%}
  {%- for name in quoted_names if name.startswith('`dbt_unique_key') -%}
    {%- do keys.append(name) -%}
  {%- endfor -%}
  {{ return(keys) }}
{% endmacro %}


{# The keys are columns of the staging view only; dbt-spark knows them by one name, for a single key. #}
{% macro spark_mv__create_columns(relation, columns) %}
  {%- set added = [] -%}
  {%- for column in columns if not column.name.startswith('dbt_unique_key') -%}
    {%- do added.append(column) -%}
  {%- endfor -%}
  {%- if added -%}
    {%- do alter_relation_add_remove_columns(relation, added, none) -%}
  {%- endif -%}
{% endmacro %}
