select weather_date, origin, temp as temperature_f, wind_speed, precip as precipitation
from {{ source('raw', 'weather') }}
