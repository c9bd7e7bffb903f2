{% macro refresh_due(view=none, all=false) %}
  {%- set arguments = {'view': view, 'all': all} -%}
  {% do adapter.run_materialized_view_operation('refresh_due', arguments) %}
{% endmacro %}
