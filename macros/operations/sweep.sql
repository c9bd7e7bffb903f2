{% macro sweep(view=none, all=false) %}
  {%- set arguments = {'view': view, 'all': all} -%}
  {% do adapter.run_materialized_view_operation('sweep', arguments) %}
{% endmacro %}
