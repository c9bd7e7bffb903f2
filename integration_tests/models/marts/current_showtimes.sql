{{ config(materialized='bq_materialized_view', unique_key='showtime_id', tags=['cinema']) }}

{% set as_of = "timestamp'" ~ var('as_of') ~ "'" %}
select
  s.showtime_id,
  s.start_time,
  m.title,
  m.rating,
  t.name as theatre,
  t.zip_code,
  a.room,
  a.seats_available,
  coalesce(p.tickets_sold, 0) as tickets_sold,
  a.seats_available - coalesce(p.tickets_sold, 0) as seats_left
from {{ source('cinema', 'showtimes') }} s
join {{ source('cinema', 'movies') }} m on m.movie_id = s.movie_id
join {{ source('cinema', 'auditoriums') }} a on a.auditorium_id = s.auditorium_id
join {{ source('cinema', 'theatres') }} t on t.theatre_id = a.theatre_id
left join {{ ref('paid_tickets_by_showtime') }} p on p.showtime_id = s.showtime_id
where s.start_time > {{ as_of }}
  and s.start_time <= {{ as_of }} + interval 7 days
  and coalesce(p.tickets_sold, 0) < a.seats_available
