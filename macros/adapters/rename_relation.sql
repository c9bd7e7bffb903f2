{% macro spark_mv__rename_relation(from_relation, to_relation) -%}
  {%- if from_relation.type not in ('table', 'view') -%}
    {% do exceptions.raise_database_error(
      from_relation ~ " cannot be renamed: its type is " ~ (from_relation.type or 'unknown') ~ ".\n"
      ~ "Only tables and views can; rebuild it under the new name."
    ) %}
  {%- endif -%}
  {%- call statement('rename_relation') -%}
    alter {{ from_relation.type }} {{ from_relation }} rename to {{ to_relation }}
  {%- endcall -%}
{%- endmacro %}
