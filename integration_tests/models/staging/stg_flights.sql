select
  flight_date,
  carrier,
  flight as flight_number,
  tailnum as tail_number,
  origin,
  dest as destination,
  sched_dep_time as scheduled_departure,
  dep_delay as departure_delay,
  arr_delay as arrival_delay,
  distance
from {{ source('raw', 'flights') }}
