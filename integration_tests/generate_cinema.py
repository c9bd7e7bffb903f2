"""Generate the schema ``cinema``: showtimes, orders and tickets of six theatres over a year.

Every value comes from arithmetic on row numbers, so two runs give the same rows. The fixed "now"
of the story is the variable ``as_of`` of dbt_project.yml. Some showtimes are sold out to the last
seat, some have one seat left, some have orders without a ticket, some no orders; some start
exactly now, or exactly seven days from now.
Run as ``python generate_cinema.py [--warehouse DIR] [--scale N] [--force]``.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator

from load_flights import open_session
from pyspark.sql import SparkSession

NOW = "2025-06-15 19:30:00"
ROWS = {
    "movies": 44,
    "theatres": 6,
    "auditoriums": 30,
    "showtimes": 20_201,
    "orders": 218_593,
    "tickets": 218_591,
}

MOVIES = """
select cast(id as int) as movie_id,
  concat_ws(' ', 'The',
    element_at(array('Silent', 'Last', 'Crimson', 'Lost', 'Golden', 'Second', 'Hidden'),
      cast(1 + id % 7 as int)),
    element_at(array('Harbor', 'Summer', 'Detective', 'Orchard', 'Signal', 'Voyage', 'Winter',
      'Letter', 'Garden', 'Empire', 'Canyon'), cast(1 + id % 11 as int)),
    if(id > 77, cast(id div 77 as string), null)) as title,
  element_at(array('G', 'PG', 'PG-13', 'R'), cast(1 + id * 7 % 4 as int)) as rating,
  cast(82 + id * 37 % 80 as int) as length_minutes,
  date_add(date'2024-11-01', cast(id * 17 % 240 as int)) as release_date
from range(1, {movies} + 1) as r (id)
"""

THEATRES = """
select cast(id as int) as theatre_id,
  concat(element_at(array('Riverside', 'Grand', 'Palace', 'Station', 'Market', 'Hillcrest'),
    cast(1 + (id - 1) % 6 as int)), if(id > 6, concat(' ', (id - 1) div 6 + 1), '')) as name,
  lpad(cast(1201 + id * 613 % 8000 as string), 5, '0') as zip_code,
  concat('555-', lpad(cast(id * 271 % 10000 as string), 4, '0')) as phone_number
from range(1, {theatres} + 1) as r (id)
"""

AUDITORIUMS = """
select cast(id as int) as auditorium_id,
  cast(1 + (id - 1) div 5 as int) as theatre_id,
  element_at(array('A', 'B', 'C', 'D', 'E'), cast(1 + (id - 1) % 5 as int)) as room,
  cast(20 + 4 * (id * 7 % 11) as int) as seats_available
from range(1, {auditoriums} + 1) as r (id)
"""

# An auditorium shows twice a day: matinee at 14:00 and evening from 19:30 on.
SHOWTIMES = """
select id as showtime_id,
  cast(1 + pmod(xxhash64(id, 'movie'), {movies}) as int) as movie_id,
  cast(1 + (id - 1) % {auditoriums} as int) as auditorium_id,
  timestamp'{now}' + make_dt_interval(
    cast((id - 1) div {auditoriums} div 2 - 168 as int),
    if((id - 1) div {auditoriums} % 2 = 0, -6, 0),
    if((id - 1) div {auditoriums} % 2 = 0, 30, 0) + cast(15 * ((id - 1) % 4) as int)
  ) as start_time
from range(1, {showtimes} + 1) as r (id)
"""

# How many orders and tickets each showtime gets. Percent 0-3: sold out; 4: one seat left; 5-7: no
# orders; 8-9: orders but no tickets. The others share the rest by weight: running totals are
# rounded, not the shares, so the sums are exact.
PLAN = """
with numbered as (
  select s.showtime_id, s.start_time, a.seats_available,
    pmod(xxhash64(s.showtime_id, 'kind'), 100) as percent,
    5 + pmod(xxhash64(s.showtime_id, 'demand'), 11) as demand
  from cinema.showtimes s join cinema.auditoriums a using (auditorium_id)
), weighted as (
  select *,
    case when percent <= 3 then seats_available when percent = 4 then seats_available - 1 else 0
      end as fixed_tickets,
    if(percent >= 10, demand, 0) as weight
  from numbered
), summed as (
  select *, sum(weight) over (order by showtime_id) as weight_to, sum(weight) over () as weight_all,
    {tickets} - sum(fixed_tickets) over () as shared_tickets
  from weighted
), ticketed as (
  select showtime_id, start_time,
    fixed_tickets + shared_tickets * weight_to div weight_all
      - shared_tickets * (weight_to - weight) div weight_all as tickets,
    percent in (8, 9) as only_orders
  from summed
), ordered as (
  select *, if(only_orders, 4, tickets) as load,
    sum(tickets) over (order by showtime_id) as tickets_to,
    sum(if(only_orders, 4, tickets)) over (order by showtime_id) as load_to,
    sum(if(only_orders, 4, tickets)) over () as load_all
  from ticketed
)
select showtime_id, start_time, tickets, tickets_to - tickets as tickets_before,
  {orders} * load_to div load_all - {orders} * (load_to - load) div load_all as orders,
  {orders} * (load_to - load) div load_all as orders_before
from ordered
"""

ORDERS = """
select orders_before + i as order_id, showtime_id,
  lpad(cast(1201 + pmod(xxhash64(orders_before + i, 'zip'), 8000) as string), 5, '0') as zip_code,
  least(start_time, timestamp'{now}')
    - make_dt_interval(0, 0, cast(5 + pmod(xxhash64(orders_before + i, 'when'), 14400) as int))
    as ordered_at
from cinema_plan lateral view explode(sequence(1, orders)) as i
where orders > 0
"""

# Tickets come in groups of one to four to an order, so many orders never got as far as a ticket.
TICKETS = """
select tickets_before + i + 1 as ticket_id,
  orders_before + 1 + (i - i % (1 + showtime_id % 4)) % orders as order_id,
  cast(i + 1 as int) as seat,
  cast(element_at(array(9.50, 12.00, 14.50), cast(1 + (i + showtime_id) % 3 as int))
    as decimal(6, 2)) as price
from cinema_plan lateral view explode(sequence(0, tickets - 1)) as i
where tickets > 0
"""

QUERIES = {
    "movies": MOVIES,
    "theatres": THEATRES,
    "auditoriums": AUDITORIUMS,
    "showtimes": SHOWTIMES,
    "orders": ORDERS,
    "tickets": TICKETS,
}


def generate(
    session: SparkSession, scale: int = 1, force: bool = False
) -> Iterator[tuple[str, int, float]]:
    """Create each missing table of the schema ``cinema``; yields (table, rows, seconds)."""
    session.sql("create schema if not exists cinema")
    present = {row.tableName for row in session.sql("show tables in cinema").collect()}
    sizes = {name: rows * scale for name, rows in ROWS.items()}
    for name, query in QUERIES.items():
        started = time.monotonic()
        if force or name not in present:
            if name in ("orders", "tickets"):
                session.sql(PLAN.format(**sizes)).createOrReplaceTempView("cinema_plan")
            session.sql(f"drop table if exists cinema.{name}")
            text = query.format(now=NOW, **sizes)
            session.sql(f"create table cinema.{name} using iceberg as {text}")
        rows = session.table(f"cinema.{name}").count()
        yield f"cinema.{name}", rows, time.monotonic() - started


def main() -> None:
    """Generate the six tables and print their sizes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--warehouse", default=os.environ.get("DEMO_WAREHOUSE", "warehouse"))
    parser.add_argument("--scale", type=int, default=1, help="multiplies every table")
    parser.add_argument("--force", action="store_true", help="generate again what is there")
    args = parser.parse_args()
    for table, rows, seconds in generate(open_session(args.warehouse), args.scale, args.force):
        print(f"{table:<18} {rows:>9,} rows  {seconds:5.1f} s", flush=True)


if __name__ == "__main__":
    main()
