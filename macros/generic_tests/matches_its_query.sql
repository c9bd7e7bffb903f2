{# One row for each stored row that differs from the query at the pinned versions. #}
{% test matches_its_query(model) %}
  {{- adapter.differences_query(model) if execute else 'select 1' -}}
{% endtest %}
