{{ config(materialized='bq_materialized_view', when_stale='serve') }}

select origin, destination, count(*) as flights, min(distance) as distance
from {{ ref('stg_flights') }}
group by origin, destination
