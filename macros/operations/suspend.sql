{% macro suspend(view=none) %}
  {%- set arguments = {'view': view} -%}
  {% do adapter.run_materialized_view_operation('suspend', arguments) %}
{% endmacro %}
