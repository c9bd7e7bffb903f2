{# One column of a view's column list; dbt-spark's macro of this name escapes quotes only. #}
{% macro get_column_comment_sql(column_name, column_dict) -%}
  {{ adapter.quote(column_name) }}
  {%- set described = column_dict.get(column_name, {}).get('description') %}
  {{- ' comment ' ~ adapter.text_literal(described) if described }}
{%- endmacro %}


{# All comments in one statement, and only those that differ: each statement is a commit. #}
{% macro spark_mv__alter_column_comment(relation, column_dict) %}
  {%- set described = column_dict.values() | selectattr('description') | list -%}
  {%- if described and relation.is_table and config.get('file_format') in ['delta', 'hudi', 'iceberg'] -%}
    {%- set changes, comments = [], {} -%}
    {%- for row in get_columns_in_relation_raw(relation) -%}
      {%- do comments.setdefault(row[0], row[2]) -%}
    {%- endfor -%}
    {%- for name, column in column_dict.items() if column['description'] not in (none, '', comments.get(name)) -%}
      {%- do changes.append(adapter.quote(name) ~ ' comment ' ~ adapter.text_literal(column['description'])) -%}
    {%- endfor -%}
    {%- if changes -%}
      {%- do run_query('alter table ' ~ relation.render() ~ ' alter column ' ~ changes | join(', ')) -%}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}
