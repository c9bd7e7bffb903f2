{# With `append_new_columns` a column that the model lost stays in the table, and is null from then on;
   dbt-spark would select it from the new rows. #}
{% macro get_insert_into_sql(source_relation, target_relation) %}
  {%- set columns = adapter.get_columns_in_relation(target_relation) | map(attribute='quoted') | list -%}
  {%- if config.get('on_schema_change') == 'append_new_columns' -%}
    {%- set given = adapter.get_columns_in_relation(source_relation) | map(attribute='quoted') | list -%}
    {%- set columns = columns | select('in', given) | list -%}
  {%- endif -%}
  insert into {{ target_relation }} ({{ columns | join(', ') }})
  select {{ columns | join(', ') }} from {{ source_relation }}
{% endmacro %}
