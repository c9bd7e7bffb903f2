"""Sell the last seats of one showtime by plain Spark SQL: a program that knows nothing of dbt.

Run as ``python sell_out.py [--warehouse DIR]``; each run sells out another showtime.
"""

from __future__ import annotations

import argparse
import os

from generate_cinema import NOW
from load_flights import open_session

NEXT_SHOWTIME = f"""
select s.showtime_id, a.seats_available, count(t.ticket_id) as sold
from cinema.showtimes s
join cinema.auditoriums a using (auditorium_id)
left join cinema.orders o on o.showtime_id = s.showtime_id
left join cinema.tickets t on t.order_id = o.order_id
where s.start_time > timestamp'{NOW}' and s.start_time <= timestamp'{NOW}' + interval 7 days
group by s.showtime_id, a.seats_available
having count(t.ticket_id) < a.seats_available
order by s.showtime_id limit 1
"""


def main() -> None:
    """Place one order for every free seat of the next showtime that is on offer."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--warehouse", default=os.environ.get("DEMO_WAREHOUSE", "warehouse"))
    print("Starting Spark ...", flush=True)
    session = open_session(parser.parse_args().warehouse)
    showtime, seats, sold = session.sql(NEXT_SHOWTIME).first() or (None, 0, 0)
    if showtime is None:
        raise SystemExit("No showtime has a free seat.\nRun generate_cinema.py --force.")
    (order,) = session.sql("select max(order_id) + 1 from cinema.orders").collect()[0]
    (ticket,) = session.sql("select max(ticket_id) from cinema.tickets").collect()[0]
    session.sql(
        f"insert into cinema.orders values ({order}, {showtime}, '01201', timestamp'{NOW}')"
    )
    session.sql(
        f"insert into cinema.tickets select {ticket} + i, {order}, cast({sold} + i as int), 12.00 "
        f"from (select explode(sequence(1, {seats - sold})) as i)"
    )
    print(f"Sold the last {seats - sold} of {seats} seats of showtime {showtime} (order {order}).")


if __name__ == "__main__":
    main()
