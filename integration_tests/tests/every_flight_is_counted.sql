-- A sum over a materialized view equals a count of its base table, also right after a change.
select counted.flights, expected.flights as expected
from (select sum(flights) as flights from {{ ref('delays_by_airport') }}) counted
cross join (select count(*) as flights from {{ source('raw', 'flights') }}) expected
where counted.flights <> expected.flights
