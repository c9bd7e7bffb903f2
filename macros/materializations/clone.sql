{# Tables of Delta are cloned as dbt-spark does it; of anything else there is no clone but a view. #}
{% materialization clone, adapter='spark_mv' %}
  {%- if config.get('file_format') == 'delta' -%}
    {{ return(materialization_clone_spark()) }}
  {%- endif -%}
  {%- set existing = load_cached_relation(this) -%}
  {%- if not defer_relation -%}
    {{ log("No relation found in state manifest for " ~ model.unique_id, info=True) }}
    {{ return({'relations': []}) }}
  {%- elif defer_relation.render() == this.render() -%}
    {{ log("Target relation and defer relation are the same, skipping clone for relation: " ~ this.render(), info=True) }}
    {{ return({'relations': []}) }}
  {%- elif existing is not none and not flags.FULL_REFRESH -%}
    {{ log("Relation " ~ existing ~ " already exists", info=True) }}
    {{ return({'relations': []}) }}
  {%- endif -%}
  {%- set target_relation = this.incorporate(type='view') -%}
  {%- set is_aside = existing is not none and (existing.is_materialized_view or not existing.is_view) -%}
  {%- set built_relation = make_intermediate_relation(target_relation) if is_aside else target_relation -%}
  {% call statement('main') %}
    {{ spark_mv_create_clone_sql(built_relation, defer_relation) }}
  {% endcall %}
  {% if is_aside %}
    {% do adapter.swap_in(built_relation, target_relation) %}
  {% endif %}
  {% do apply_grants(target_relation, config.get('grants'), should_revoke=should_revoke(existing, full_refresh_mode=True)) %}
  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{# The columns are those that a description has: a query for them would refresh what is cloned. #}
{% macro spark_mv_create_clone_sql(relation, cloned) %}
  create or replace view {{ relation }}
  {% if config.persist_column_docs() -%}
    {%- set columns = adapter.get_columns_in_relation(cloned) | map(attribute='name') | list -%}
    ({{ get_persist_docs_column_list(model.columns, columns) }})
  {% endif %}
  {{ comment_clause() }}
  as select * from {{ cloned }}
{% endmacro %}
