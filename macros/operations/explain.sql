{% macro explain(view=none) %}
  {% do adapter.run_materialized_view_operation('explain', {'view': view}) %}
{% endmacro %}
