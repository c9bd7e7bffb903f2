{% macro history(view=none, all=false, limit=50, summary=false) %}
  {% do adapter.run_materialized_view_operation('history', {'view': view, 'all': all, 'limit': limit, 'summary': summary}) %}
{% endmacro %}
