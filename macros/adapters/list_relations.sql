{% macro spark_mv_list_views(schema_relation) %}
  {% call statement('list_views', fetch_result=True) -%}
    show views in {{ schema_relation.schema }}
  {%- endcall %}
  {% do return(load_result('list_views').table) %}
{% endmacro %}
