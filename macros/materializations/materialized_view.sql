{% materialization bq_materialized_view, adapter='spark_mv', supported_languages=['sql'] %}
  {{ return(spark_mv_materialize_view()) }}
{% endmaterialization %}


{% materialization materialized_view, adapter='spark_mv', supported_languages=['sql'] %}
  {{ return(spark_mv_materialize_view()) }}
{% endmaterialization %}


{% macro spark_mv_materialize_view() %}
  {%- set target_relation = this.incorporate(type=this.MaterializedView) -%}
  {{ run_hooks(pre_hooks) }}
  {%- set existing = adapter.as_it_is(load_cached_relation(this)) -%}

  {%- set build_sql = spark_mv_build_sql(existing, target_relation) -%}
  {% if build_sql == '' %}
    {{ materialized_view_execute_no_op(target_relation) }}
  {% else %}
    {%- set is_replaced = existing is not none and not existing.is_materialized_view -%}
    {% if is_replaced %}
      {% do adapter.allow_replacing(target_relation) %}
    {% endif %}
    {% call statement('main') -%}
      {{ build_sql }}
    {%- endcall %}
    {% if is_replaced %}
      {% do adapter.cache_dropped(existing) %}
    {% endif %}
  {% endif %}

  {% do apply_grants(target_relation, config.get('grants'), should_revoke(existing, full_refresh_mode=True)) %}
  {{ run_hooks(post_hooks) }}
  {{ return({'relations': [target_relation]}) }}
{% endmacro %}


{# Create, replace, change, leave alone or refresh: as dbt does it for its other adapters. #}
{% macro spark_mv_build_sql(existing, target_relation) %}
  {%- if existing is none -%}
    {{ return(get_create_materialized_view_as_sql(target_relation, sql)) }}
  {%- elif should_full_refresh() or not existing.is_materialized_view -%}
    {{ return(spark_mv_replace_sql(target_relation, sql)) }}
  {%- endif -%}
  {%- set changes = get_materialized_view_configuration_changes(target_relation, config) -%}
  {%- if changes is none -%}
    {{ return(refresh_materialized_view(target_relation)) }}
  {%- elif changes.has_other_definition -%}
    {{ return(spark_mv_replace_sql(target_relation, sql)) }}
  {%- endif -%}
  {%- set names = changes.names | join(', ') -%}
  {%- set policy = config.get('on_configuration_change') -%}
  {%- if policy == 'apply' and changes.requires_full_refresh -%}
    {{ return(spark_mv_replace_sql(target_relation, sql)) }}
  {%- elif policy == 'apply' -%}
    {{ return(get_alter_materialized_view_as_sql(target_relation, changes, sql, existing, none, none)) }}
  {%- elif policy == 'continue' -%}
    {% do exceptions.warn("Configuration changes were identified and `on_configuration_change` was set to `continue` for `" ~ target_relation.render() ~ "`: " ~ names) %}
    {{ return('') }}
  {%- endif -%}
  {% do exceptions.raise_fail_fast_error("Configuration changes were identified and `on_configuration_change` was set to `fail` for `" ~ target_relation.render() ~ "`: " ~ names) %}
{% endmacro %}
