{% macro spark_mv__tblproperties_clause() -%}
  {%- set tblproperties = config.get('tblproperties') -%}
  {%- if tblproperties %}
    tblproperties (
      {%- for name, value in tblproperties.items() %}
      {{ adapter.text_literal(name) }} = {{ adapter.text_literal(value) }}{{ ',' if not loop.last }}
      {%- endfor %}
    )
  {%- endif %}
{%- endmacro %}


{% macro spark_mv__comment_clause() %}
  {%- if config.persist_relation_docs() and model.description %}
    comment {{ adapter.text_literal(model.description) }}
  {%- endif %}
{%- endmacro %}
