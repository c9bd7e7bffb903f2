{{ config(
    materialized='bq_materialized_view',
    partition_by='flight_month',
    unique_key='flight_date'
) }}

select
  flight_date,
  flight_month,
  count(*) as flights,
  sum(departure_delay) as total_departure_delay,
  sum(arrival_delay) as total_arrival_delay
from {{ ref('flown_flights') }}
group by flight_date, flight_month
