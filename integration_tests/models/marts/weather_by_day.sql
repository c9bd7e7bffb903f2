{{ config(
    materialized='bq_materialized_view',
    max_staleness='INTERVAL "4:0:0" HOUR TO SECOND'
) }}

select
  weather_date,
  origin,
  min(temperature_f) as coldest_f,
  max(temperature_f) as warmest_f,
  avg(wind_speed) as average_wind_speed,
  sum(precipitation) as precipitation
from {{ ref('stg_weather') }}
group by weather_date, origin
