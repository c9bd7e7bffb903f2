{{ config(materialized='incremental', incremental_strategy='merge', unique_key='flight_date') }}

select flight_date, flights, total_arrival_delay / flights as average_delay
from {{ ref('daily_flights') }}
where total_arrival_delay > 30 * flights
{% if is_incremental() %}
  and flight_date >= (select date_sub(max(flight_date), 31) from {{ this }})
{% endif %}
