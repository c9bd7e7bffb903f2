"""The demo's tables with the same columns and few rows, by the demo's own loaders."""

from __future__ import annotations

import csv
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

DEMO = Path(__file__).parents[3] / "integration_tests"

# More than 10,000 flights of United, so that the view over a view has a row.
DAYS = 364
FLIGHTS_A_DAY = {"UA": 30, "AA": 8, "OO": 1}
AIRPORTS = ("ATL", "BOS", "ORD", "SFO")
ORIGINS = ("EWR", "JFK", "LGA")
CINEMA = {
    "movies": 12,
    "theatres": 6,
    "auditoriums": 3,
    "showtimes": 2_016,
    "orders": 20_000,
    "tickets": 20_000,
}


def _flights() -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for day in (date(2013, 1, 1) + timedelta(n) for n in range(DAYS)):
        for carrier, flights in FLIGHTS_A_DAY.items():
            for number in range(flights):
                n = len(rows)
                delay = "NA" if n % 41 == 0 else (n * 37 + day.day) % 90 - 30
                hour = 6 + n % 16
                rows.append(
                    (day.year, day.month, day.day, hour * 100, hour * 100, n % 50 - 10)
                    + (hour * 100 + 200, hour * 100 + 210, delay, carrier, 100 + number)
                    + (f"N{n % 20}UA", ORIGINS[n % 3], (*AIRPORTS, "XXX")[n % 5], 120)
                    + (500 + n % 5 * 100, hour, 0, f"{day}T{hour:02}:00:00Z")
                )
    return rows


def _weather() -> list[tuple[Any, ...]]:
    return [
        (origin, day.year, day.month, day.day, hour, 30 + day.month + hour / 2, 20.5, 60.1)
        + (270, 10.5, "NA", 0.25 * (hour // 12), 1012.0, 10.0, f"{day}T{hour:02}:00:00Z")
        for day in (date(2013, 1, 1) + timedelta(n) for n in range(0, DAYS, 7))
        for origin in ORIGINS
        for hour in (6, 18)
    ]


def _tables() -> dict[str, list[tuple[Any, ...]]]:
    carriers = [*FLIGHTS_A_DAY, "AS", "B6", "DL", "EV", "F9", "HA", "MQ", "US", "VX", "WN", "9E"]
    return {
        "flights": _flights(),
        "weather": _weather(),
        "airlines": [(code, f"{code} Air Lines Inc.") for code in carriers],
        "airports": [
            (code, f"{code} Intl", 40.5, -73.5, 13, -5, "A", "America/New_York")
            for code in AIRPORTS
        ],
        "planes": [
            (f"N{n}UA", 1999, "Fixed wing", "BOEING", "737", 2, 149, "NA", "Turbo-fan")
            for n in range(20)
        ],
    }


def load_small(session: SparkSession, folder: Path) -> None:
    """Load `raw` and `cinema`; `folder` is for the CSV files that the loader reads."""
    sys.path.insert(0, str(DEMO))
    import generate_cinema
    import load_flights

    files = folder / "nycflights13"
    files.mkdir(parents=True)
    tables = _tables()
    for source in load_flights.SOURCES:
        names = [column.split()[0] for column in source.columns.split(", ")]
        with open(files / f"{source.name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([names, *tables[source.name]])
    assert all(rows for _, rows, _ in load_flights.load(session, folder))
    generate_cinema.ROWS = CINEMA
    assert all(rows for _, rows, _ in generate_cinema.generate(session))
    session.sql("create table raw.cancellations (carrier string, day date) using iceberg")
