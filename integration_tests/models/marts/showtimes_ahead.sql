{{ config(materialized='bq_materialized_view', unique_key='showtime_id', tags=['cinema']) }}

-- The clock in a query: no write makes a showtime begin.
select s.showtime_id, s.start_time, m.title
from {{ source('cinema', 'showtimes') }} s
join {{ source('cinema', 'movies') }} m on m.movie_id = s.movie_id
where s.start_time > current_timestamp()
  and s.start_time <= current_timestamp() + interval 7 days
