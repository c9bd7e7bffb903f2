{% macro check_staleness(view=none, all=false) %}
  {%- set arguments = {'view': view, 'all': all} -%}
  {% do adapter.run_materialized_view_operation('check_staleness', arguments) %}
{% endmacro %}
