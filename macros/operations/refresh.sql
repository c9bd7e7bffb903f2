{% macro refresh(view=none, method='auto', wait=false, dry_run=false, all=false, keys=none, expired=false, as_of=none) %}
  {%- set arguments = {'view': view, 'method': method, 'wait': wait, 'dry_run': dry_run, 'all': all, 'keys': keys, 'expired': expired, 'as_of': as_of} -%}
  {% do adapter.run_materialized_view_operation('refresh', arguments) %}
{% endmacro %}
