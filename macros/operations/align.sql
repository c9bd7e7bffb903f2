{% macro align(group=none) %}
  {% do adapter.run_materialized_view_operation('align', {'group': group}) %}
{% endmacro %}
