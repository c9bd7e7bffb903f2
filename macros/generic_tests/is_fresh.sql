{# Fails if the stored rows are older than the base tables; never refreshes. #}
{% test is_fresh(model) %}
  {{- adapter.freshness_failures_query(model) if execute else 'select 1' -}}
{% endtest %}
