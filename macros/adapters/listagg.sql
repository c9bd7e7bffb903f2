{# dbt-spark ignores the order, which Spark 4 knows. A limit needs an array: the text is split again
   at a character that no text holds. #}
{% macro spark_mv__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  {%- if not order_by_clause -%}
    {{ return(spark__listagg(measure, delimiter_text, order_by_clause, limit_num)) }}
  {%- elif not limit_num -%}
    {{ return('listagg(' ~ measure ~ ', ' ~ delimiter_text ~ ') within group (' ~ order_by_clause ~ ')') }}
  {%- endif -%}
  {%- set mark = "'\\u0001'" -%}
  {%- set all = 'listagg(' ~ measure ~ ', ' ~ mark ~ ') within group (' ~ order_by_clause ~ ')' -%}
  {{ return('array_join(slice(split(' ~ all ~ ', ' ~ mark ~ '), 1, ' ~ limit_num ~ '), ' ~ delimiter_text ~ ')') }}
{%- endmacro %}
