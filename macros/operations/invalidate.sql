{% macro invalidate(view=none, keys=none, partitions=none, all=false) %}
  {%- set arguments = {'view': view, 'keys': keys, 'partitions': partitions, 'all': all} -%}
  {% do adapter.run_materialized_view_operation('invalidate', arguments) %}
{% endmacro %}
