{% macro resume(view=none) %}
  {%- set arguments = {'view': view} -%}
  {% do adapter.run_materialized_view_operation('resume', arguments) %}
{% endmacro %}
