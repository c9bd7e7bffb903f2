{# Spark ignores DROP TABLE IF EXISTS of a view, and the other way round: always the true type. #}
{% macro spark_mv__drop_relation(relation) -%}
  {%- call statement('drop_relation', auto_begin=False) -%}
    {%- if relation.is_materialized_view -%}
      drop materialized view if exists {{ relation }}
    {%- else -%}
      drop {{ relation.type }} if exists {{ relation }}
      {{- ' purge' if relation.is_table and relation.is_iceberg }}
    {%- endif -%}
  {%- endcall -%}
{%- endmacro %}
