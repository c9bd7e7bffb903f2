{{ config(materialized='table') }}

select
  d.carrier,
  coalesce(i.nickname, d.airline) as airline,
  d.flights,
  round(d.average_delay, 1) as average_delay,
  b.carrier is not null as is_busy
from {{ ref('delays_by_carrier') }} d
left join {{ ref('busiest_carriers') }} b on b.carrier = d.carrier
left join {{ ref('carriers_of_interest') }} i on i.carrier = d.carrier
