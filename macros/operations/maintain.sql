{% macro maintain(view=none, all=false, keep_hours=24, keep_history_days=365, dry_run=false) %}
  {%- set arguments = {'view': view, 'all': all, 'keep_hours': keep_hours,
      'keep_history_days': keep_history_days, 'dry_run': dry_run} -%}
  {% do adapter.run_materialized_view_operation('maintain', arguments) %}
{% endmacro %}
