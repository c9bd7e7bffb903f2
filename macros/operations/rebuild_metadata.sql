{% macro rebuild_metadata() %}
  {% do adapter.run_materialized_view_operation('rebuild_metadata', {}) %}
{% endmacro %}
