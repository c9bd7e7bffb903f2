{{ config(materialized='bq_materialized_view', unique_key='carrier') }}

select
  f.carrier,
  a.airline,
  count(*) as flights,
  count(f.arrival_delay) as arrived,
  sum(f.arrival_delay) as total_delay,
  avg(f.arrival_delay) as average_delay
from {{ ref('stg_flights') }} f
join {{ ref('stg_airlines') }} a on a.carrier = f.carrier
group by f.carrier, a.airline
