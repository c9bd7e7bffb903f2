{% macro status(view=none, all=false) %}
  {% do adapter.run_materialized_view_operation('status', {'view': view, 'all': all}) %}
{% endmacro %}
