{% macro verify(view=none, repair=false, all=false) %}
  {% do adapter.run_materialized_view_operation('verify', {'view': view, 'repair': repair, 'all': all}) %}
{% endmacro %}
