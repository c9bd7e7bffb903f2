{% macro spark_mv__refresh_materialized_view(relation) -%}
  {{- log('Applying REFRESH to: ' ~ relation) -}}
  refresh materialized view {{ relation }}
{%- endmacro %}
