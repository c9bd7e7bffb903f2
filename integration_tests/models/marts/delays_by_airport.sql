{{ config(materialized='bq_materialized_view') }}

select
  destination,
  destination_name,
  count(*) as flights,
  count(arrival_delay) as arrived,
  sum(arrival_delay) as total_delay,
  max(arrival_delay) as worst_delay
from {{ ref('flights_with_airports') }}
group by destination, destination_name
