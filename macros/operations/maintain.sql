{% macro maintain(view=none, all=false, keep_hours=24) %}
  {%- set arguments = {'view': view, 'all': all, 'keep_hours': keep_hours} -%}
  {% do adapter.run_materialized_view_operation('maintain', arguments) %}
{% endmacro %}
