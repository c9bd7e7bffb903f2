{% macro explain_rewrite(sql=none, model=none) %}
  {%- if execute and model is not none -%}
    {%- set found = graph.nodes.values() | selectattr('resource_type', 'equalto', 'model')
        | selectattr('name', 'equalto', model) | list -%}
    {%- if not found -%}
      {{ exceptions.raise_compiler_error("explain_rewrite: there is no model '" ~ model ~ "'.") }}
    {%- endif -%}
    {%- set sql = render(found[0].raw_code) -%}
  {%- endif -%}
  {% do adapter.run_materialized_view_operation('explain_rewrite', {'sql': sql}) %}
{% endmacro %}
