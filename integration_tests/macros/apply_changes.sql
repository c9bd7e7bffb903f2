{#- Change raw.flights through dbt: some flights more, some fewer, some later than they were. A
    second run finds nothing to insert or delete; the update changes rows each time.
    `only` picks one of insert, update, delete. -#}
{% macro apply_changes(only=none) %}
  {% set flights = source('raw', 'flights') %}
  {% set insert %}
    insert into {{ flights }} by name
    select f.* except (flight), f.flight + 10000 as flight
    from {{ flights }} f
    left anti join {{ flights }} added
      on added.flight = f.flight + 10000 and added.flight_date = f.flight_date
    where f.carrier = 'OO' and f.flight < 10000
  {% endset %}
  {% set update %}
    update {{ flights }} set arr_delay = arr_delay + 5
    where carrier = 'UA' and flight_date between date'2013-01-01' and date'2013-01-07'
  {% endset %}
  {% set delete %}
    delete from {{ flights }} where flight_date = date'2013-02-09' and arr_delay is null
  {% endset %}
  {% set changes = {'insert': insert, 'update': update, 'delete': delete} %}
  {% for kind in ([only] if only else changes) %}
    {% do run_query(changes[kind]) %}
    {{ log(kind ~ ' in ' ~ flights ~ ': done', info=true) }}
  {% endfor %}
{% endmacro %}
