{{ config(
    materialized='bq_materialized_view', unique_key='showtime_id', live=true, tags=['cinema']
) }}

select
  o.showtime_id,
  count(t.ticket_id) as tickets_sold,
  sum(t.price) as revenue
from {{ source('cinema', 'orders') }} o
left join {{ source('cinema', 'tickets') }} t on t.order_id = o.order_id
group by o.showtime_id
