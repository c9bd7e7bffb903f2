{% macro cancel(view=none, wait=true) %}
  {%- set arguments = {'view': view, 'wait': wait} -%}
  {% do adapter.run_materialized_view_operation('cancel', arguments) %}
{% endmacro %}
