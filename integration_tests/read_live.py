"""Read the live view of the ticket counts by plain Spark SQL: a program that knows nothing of dbt.

Run as ``python read_live.py [--warehouse DIR]``.
"""

from __future__ import annotations

import argparse
import os

from load_flights import open_session

VIEWS = ("paid_tickets_by_showtime", "paid_tickets_by_showtime__live")
QUERY = "select sum(tickets_sold) from analytics.{view}"
COUNT = "select count(*) from cinema.tickets t join cinema.orders o on o.order_id = t.order_id"


def main() -> None:
    """Print what both views say of the tickets sold, and how many there are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--warehouse", default=os.environ.get("DEMO_WAREHOUSE", "warehouse"))
    print("Starting Spark ...", flush=True)
    session = open_session(parser.parse_args().warehouse)
    stored, live = (session.sql(QUERY.format(view=view)).collect()[0][0] for view in VIEWS)
    sold = session.sql(COUNT).collect()[0][0]
    print(f"tickets sold           {sold:,}")
    print(f"in the stored rows     {stored:,}  (as of the last refresh)")
    print(f"in the live view       {live:,}")
    if live != sold:
        raise SystemExit("The live view is wrong.")


if __name__ == "__main__":
    main()
