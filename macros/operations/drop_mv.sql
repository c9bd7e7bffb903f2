{# dbt has a macro drop_materialized_view of its own. #}
{% macro drop_mv(view, if_exists=false) %}
  {% do adapter.run_materialized_view_operation('drop', {'view': view, 'if_exists': if_exists}) %}
{% endmacro %}
