select
  f.flight_date,
  f.carrier,
  f.origin,
  f.destination,
  coalesce(a.airport_name, f.destination) as destination_name,
  f.departure_delay,
  f.arrival_delay
from {{ ref('stg_flights') }} f
left join {{ ref('stg_airports') }} a on a.airport = f.destination
