{# dbt-spark writes the name of the schema without the backticks that it may need. #}
{% macro spark_mv__list_relations_without_caching(schema_relation) %}
  {% call statement('list_relations_without_caching', fetch_result=True) -%}
    show table extended in {{ schema_relation.without_identifier().render() }} like '*'
  {%- endcall %}
  {% do return(load_result('list_relations_without_caching').table) %}
{% endmacro %}


{% macro spark_mv_list_views(schema_relation) %}
  {% call statement('list_views', fetch_result=True) -%}
    show views in {{ schema_relation.without_identifier().render() }}
  {%- endcall %}
  {% do return(load_result('list_views').table) %}
{% endmacro %}
