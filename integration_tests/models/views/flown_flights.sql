{{ config(materialized='ephemeral') }}

select flight_date, trunc(flight_date, 'MM') as flight_month, carrier, departure_delay, arrival_delay
from {{ ref('stg_flights') }}
where arrival_delay is not null
