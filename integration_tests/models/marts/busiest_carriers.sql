{{ config(materialized='bq_materialized_view', tags=['top']) }}

select carrier, airline, flights, average_delay
from {{ ref('delays_by_carrier') }}
where flights >= 10000
