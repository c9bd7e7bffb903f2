"""What the tests of clocks share: a cinema, and a clock that they set."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

from tests.functional.materialized_view.warehouse import Rows, Warehouse

NOON = "2026-03-01 12:00:00"
# Showtimes as in the cinema: over, about to be too late, and becoming bookable a week ahead.
SHOWTIMES = """
(1, timestamp'2026-03-01 11:00:00Z'), (2, timestamp'2026-03-01 12:30:00Z'),
(3, timestamp'2026-03-02 20:00:00Z'), (4, timestamp'2026-03-08 13:00:00Z'),
(5, timestamp'2026-05-01 20:00:00Z')
"""
BOOKABLE = "start_time > current_timestamp() and start_time - now() < interval 7 days"
Shift = Callable[[str], None]


def epoch(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()


def create(lake: Warehouse, view: str, query: str, options: str = "") -> None:
    with_options = f" options ({options})" if options else ""
    lake.sql(f"create or replace materialized view @.{view}{with_options} as {query}")


def read(lake: Warehouse, view: str, columns: str = "*") -> Rows:
    return sorted(lake.apart(f"select {columns} from @.{view}"))


def ids(lake: Warehouse, view: str) -> list[Any]:
    return [row[0] for row in read(lake, view, "id")]


def expires_at(lake: Warehouse, view: str) -> Any:
    found = lake.value(
        "select unix_micros(expires_at) / 1e6 from @meta.mv_status "
        f"where table_name = '{view}' and table_schema = '{lake.schema}'"
    )
    return None if found is None else float(found)
