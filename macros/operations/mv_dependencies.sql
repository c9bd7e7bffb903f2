{% macro mv_dependencies(view=none) %}
  {% do adapter.run_materialized_view_operation('mv_dependencies', {'view': view}) %}
{% endmacro %}
