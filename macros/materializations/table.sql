{% materialization table, adapter='spark_mv', supported_languages=['sql'] %}
  {{ return(spark_mv_materialize_table()) }}
{% endmaterialization %}


{% macro spark_mv_materialize_table() %}
  {%- set old_relation = adapter.get_relation(database=database, schema=schema, identifier=model['alias']) -%}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set file_format = config.get('file_format') -%}
  {%- set is_replaced = old_relation is not none and old_relation.is_table and (
    (old_relation.is_iceberg and file_format == 'iceberg') or (old_relation.is_delta and file_format == 'delta')
  ) -%}
  {#- With a location_root, files of another format would be written to where the old ones are. -#}
  {%- set is_aside = old_relation is not none and not is_replaced
    and (file_format == 'iceberg' or config.get('location_root') is none) -%}
  {%- set built_relation = make_intermediate_relation(target_relation) if is_aside else target_relation -%}

  {{ run_hooks(pre_hooks) }}

  {% if old_relation is not none and not is_replaced and not is_aside %}
    {% do adapter.drop_relation(old_relation) %}
  {% endif %}

  {%- call statement('main') -%}
    {{ create_table_as(False, built_relation, compiled_code) }}
  {%- endcall -%}
  {% if is_aside %}
    {% do adapter.swap_in(built_relation, target_relation) %}
  {% elif is_replaced %}
    {% do unset_old_properties(target_relation, old_relation) %}
  {% endif %}

  {% do apply_grants(target_relation, config.get('grants'), should_revoke(old_relation, full_refresh_mode=True)) %}
  {% do persist_docs(target_relation, model) %}
  {% do persist_constraints(target_relation, model) %}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target_relation]}) }}
{% endmacro %}


{# A replaced table keeps the properties of the old one, also those the model no longer sets. #}
{% macro unset_old_properties(relation, old_relation) %}
  {%- set names = adapter.outdated_properties(old_relation, config.get('tblproperties') or {}) -%}
  {%- if names -%}
    {%- set literals = [] -%}
    {%- for name in names -%}
      {%- do literals.append(adapter.text_literal(name)) -%}
    {%- endfor -%}
    {%- do run_query('alter table ' ~ relation ~ ' unset tblproperties if exists (' ~ literals | join(', ') ~ ')') -%}
  {%- endif -%}
{% endmacro %}
