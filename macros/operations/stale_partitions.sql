{% macro stale_partitions(view=none) %}
  {% do adapter.run_materialized_view_operation('stale_partitions', {'view': view}) %}
{% endmacro %}
