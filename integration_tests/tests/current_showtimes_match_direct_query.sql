-- The two materialized views together say what one query over the base tables says.
{% set as_of = "timestamp'" ~ var('as_of') ~ "'" %}
with offered as (
  select showtime_id, tickets_sold from {{ ref('current_showtimes') }}
),

direct as (
  select s.showtime_id, count(t.ticket_id) as tickets_sold
  from {{ source('cinema', 'showtimes') }} s
  join {{ source('cinema', 'auditoriums') }} a on a.auditorium_id = s.auditorium_id
  left join {{ source('cinema', 'orders') }} o on o.showtime_id = s.showtime_id
  left join {{ source('cinema', 'tickets') }} t on t.order_id = o.order_id
  where s.start_time > {{ as_of }} and s.start_time <= {{ as_of }} + interval 7 days
  group by s.showtime_id
  having count(t.ticket_id) < max(a.seats_available)
)

(select * from offered except all select * from direct)
union all
(select * from direct except all select * from offered)
