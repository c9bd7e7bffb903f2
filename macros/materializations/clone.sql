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
  {% if existing is not none and (existing.is_materialized_view or not existing.is_view) %}
    {{ drop_relation_if_exists(existing) }}
  {% endif %}
  {% call statement('main') %}
    {{ get_create_view_as_sql(target_relation, 'select * from ' ~ defer_relation) }}
  {% endcall %}
  {% do apply_grants(target_relation, config.get('grants'), should_revoke=should_revoke(existing, full_refresh_mode=True)) %}
  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
