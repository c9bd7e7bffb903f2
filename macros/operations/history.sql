{% macro history(view=none, all=false, limit=50) %}
  {% do adapter.run_materialized_view_operation('history', {'view': view, 'all': all, 'limit': limit}) %}
{% endmacro %}
