"""A guided tour: load, build, change, read, refresh, verify. Every step prints its command.

Run as ``python integration_tests/demo.py [--warehouse DIR]``. What is loaded stays in DIR; a
second tour starts faster.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner, dbtRunnerResult
from dbt_common.events.base_types import EventMsg
from generate_cinema import generate
from load_flights import load, open_session

HERE = Path(__file__).resolve().parent
WIDTH = 100
LOUD = ("info", "warn", "error")
# What dbt says at each start is true but tells no story; a test that passes is counted below.
UNTOLD = {
    "MainReportVersion",
    "AdapterRegistered",
    "FoundStats",
    "ConcurrencyLine",
    "LogStartLine",
    "FinishedRunningStats",
    "Formatting",
    "UnableToPartialParse",
}

BUSIEST = (
    "select carrier, airline, flights, round(average_delay, 2) as average_delay "
    "from {{ ref('busiest_carriers') }} order by flights desc"
)
OFFERED = (
    "select count(*) as showtimes, sum(seats_left) as seats from {{ ref('current_showtimes') }}"
)
OF_BASE_TABLES = (
    "select origin, count(*) as flights, min(distance) as nearest from {flights} group by origin"
)
AHEAD = "select count(*) as showtimes, min(start_time) as next from {{ ref('showtimes_ahead') }}"
EVENING = "2025-06-15 19:25:00"
OFFSET = "DBT_SPARK_MV_CLOCK_OFFSET"


class StepFailed(Exception):
    """A command of the tour went wrong."""


def say(text: str = "") -> None:
    """Print a line at once, also into a pipe."""
    # One write per line: dbt's threads speak at the same time.
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def typed(command: Iterable[str]) -> str:
    """The command line as one would type it, with SQL in readable double quotes."""
    return " ".join(
        f'"{part}"' if "'" in part and not set(part) & set('"$`\\') else shlex.quote(part)
        for part in command
    )


def tell(event: EventMsg) -> None:
    """Print what dbt has to say, without its routine lines."""
    info: Any = event.info
    routine = info.name in UNTOLD or not info.msg.strip()
    passed = info.name == "LogTestResult" and info.level == "info"
    if info.level in LOUD and not routine and not passed:
        for line in info.msg.rstrip().splitlines():
            say(f"    {line}")


@dataclass
class Tour:
    """Runs commands one after the other and remembers what each took."""

    warehouse: Path
    runner: dbtRunner = field(default_factory=lambda: dbtRunner(callbacks=[tell]))
    summary: list[tuple[str, float, str]] = field(default_factory=list)
    chapters: int = 0

    def chapter(self, title: str, why: str) -> None:
        """Print the heading of a step and what is about to happen."""
        self.chapters += 1
        say(f"\n{self.chapters}. {title}\n{'-' * (len(title) + 3)}\n{why}")

    def note(self, command: str, started: float, result: str = "") -> None:
        """Remember a finished command for the summary, and print its time."""
        seconds = time.monotonic() - started
        self.summary.append((command, seconds, result))
        say(f"    -> {seconds:.1f} s{', ' + result if result else ''}")

    def dbt(self, *args: str) -> dbtRunnerResult:
        """Run a dbt command in this process."""
        command = typed(["dbt", *args])
        say(f"\n  $ {command}")
        started = time.monotonic()
        # The lines come through the callback; dbt's own console would print them a second time.
        colors = "--use-colors" if sys.stdout.isatty() else "--no-use-colors"
        result = self.runner.invoke(["--log-level", "none", colors, *args])
        self.note(command, started, outcome(result))
        if not result.success:
            if result.exception is not None:
                say(f"    {result.exception}")
            raise StepFailed(command)
        return result

    def operation(self, name: str, **args: str) -> None:
        """Run a run-operation."""
        given = "{" + ", ".join(f"{key}: {value}" for key, value in args.items()) + "}"
        self.dbt("run-operation", name, *(["--args", given] if args else []))

    def query(self, sql: str) -> list[list[Any]]:
        """Read through `dbt show`; the rows."""
        result = self.dbt("show", "--inline", sql, "--limit", "8")
        results: Any = result.result
        table = results.results[0].agate_table
        return [list(row.values()) for row in table.rows]

    def process(self, *command: str) -> None:
        """Run a command in a process of its own."""
        line = typed(command)
        say(f"\n  $ {line}")
        started = time.monotonic()
        program = {
            "python": [sys.executable, "-u"],
            "dbt": [
                sys.executable,
                "-u",
                "-c",
                "from dbt.cli.main import cli; cli()",
                "--no-use-colors",
            ],
        }[command[0]]
        running = subprocess.Popen(
            [*program, *command[1:]], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        for printed in running.stdout or ():
            say(f"    {printed.rstrip()}")
        running.wait()
        self.note(line, started, "another process")
        if running.returncode:
            raise StepFailed(line)

    def finish(self) -> None:
        """Print what ran and how long it took."""
        say(f"\n{'Summary':<78}{'seconds':>9}  result\n{'-' * WIDTH}")
        for command, seconds, result in self.summary:
            short = command if len(command) < 76 else command[:73] + "..."
            say(f"{short:<78}{seconds:>9.1f}  {result}")
        total = sum(seconds for _, seconds, _ in self.summary)
        say(f"{'-' * WIDTH}\n{'':<78}{total:>9.1f}")


def outcome(result: dbtRunnerResult) -> str:
    """A few words on what a dbt command did: rows shown, nodes built, or nothing."""
    results = getattr(result.result, "results", None)
    if not result.success or not results:
        return "" if result.success else "FAILED"
    table = getattr(results[0], "agate_table", None)
    if table is not None:
        return "1 row" if len(table.rows) == 1 else f"{len(table.rows)} rows"
    if len(results) == 1:
        return ""
    tests = sum(str(done.status) == "pass" for done in results)
    return f"{len(results) - tests} nodes built, {tests} tests passed"


def load_tables(tour: Tour, tables: Iterable[tuple[str, int, float]], command: str) -> None:
    """Load tables one by one, with a line for each."""
    say(f"\n  $ {command}")
    started = time.monotonic()
    total = 0
    for table, rows, seconds in tables:
        total += rows
        say(f"    {table:<20}{rows:>10,} rows  {seconds:5.1f} s")
    tour.note(command, started, f"{total:,} rows")


def tell_story(tour: Tour) -> None:
    """All steps, in order."""
    load_and_build(tour)
    change_through_dbt(tour)
    ask_a_base_table(tour)
    change_outside_dbt(tour)
    let_time_pass(tour)
    read_without_dbt(tour)
    look_back(tour)


def load_and_build(tour: Tour) -> None:
    """Steps 1 and 2: base tables, then every model."""
    tour.chapter(
        "Load the base tables",
        "Real flights of 2013, and the ticket sales of six cinemas. Tables that are there are kept."
        "\nSpark starts first, which takes a few seconds.",
    )
    started = time.monotonic()
    session = open_session(tour.warehouse)
    tour.note("(Spark starts)", started)
    load_tables(tour, load(session, HERE / ".data"), "python load_flights.py")
    load_tables(tour, generate(session), "python generate_cinema.py")
    tour.chapter(
        "Build and test every model",
        "Eight of them are materialized views. Their tests compare the stored rows with the query.",
    )
    tour.dbt("build", "--exclude", "showtimes_ahead")
    tour.operation("status")


def change_through_dbt(tour: Tour) -> None:
    """Step 3 and 4: a write through dbt, a lazy read, an explicit refresh."""
    tour.chapter(
        "Change a base table through dbt",
        "A macro inserts, updates and deletes flights. Nothing is refreshed by that: the views\n"
        "over flights become stale, the ones over weather and cinema do not.",
    )
    before = tour.query(BUSIEST)
    tour.operation("apply_changes")
    tour.operation("status")
    tour.chapter(
        "Read one of them",
        "busiest_carriers is built over delays_by_carrier. The read below waits until both are\n"
        "fresh, the inner one first; the second read finds nothing to do. The others stay stale.",
    )
    after = tour.query(BUSIEST)
    tour.query(BUSIEST)
    moved = sum(old != new for old, new in zip(before, after, strict=False))
    say(f"\n  {moved} of {len(after)} rows differ from those before the change.")
    tour.operation("status")
    tour.chapter(
        "Refresh others by hand",
        "explain tells what a refresh would do and why: tables as small as these are read whole.\n"
        "Of larger ones only what changed is, which can be asked for here, too: daily_flights is\n"
        "computed for the months in which flights changed, routes has the changed flights added.",
    )
    tour.operation("explain", view="daily_flights")
    tour.operation("refresh", view="daily_flights", method="partition")
    tour.operation("refresh", view="routes", method="fast")


def ask_a_base_table(tour: Tour) -> None:
    """A report that names only base tables, and is answered by a view."""
    tour.chapter(
        "Ask a base table, and be answered by a view",
        "The report below reads the flights themselves. routes is fresh and has what it takes, so\n"
        "that dbt has the report read its 200 rows in place of 337,000, and says so.",
    )
    tour.query(OF_BASE_TABLES.format(flights="{{ source('raw', 'flights') }}"))
    tour.dbt(
        "run-operation",
        "explain_rewrite",
        "--args",
        f"{{sql: '{OF_BASE_TABLES.format(flights='raw.flights')}'}}",
    )


def change_outside_dbt(tour: Tour) -> None:
    """Step 5 and 6: a write that dbt never sees, and a second dbt process."""
    tour.chapter(
        "Change base tables outside dbt",
        "Another process sells the last seats of a showtime by plain Spark SQL. Nobody tells dbt.\n"
        "The next read looks at the versions of the base tables, and is right all the same.",
    )
    before = tour.query(OFFERED)
    tour.process("python", "sell_out.py")
    tour.operation("status", view="current_showtimes")
    after = tour.query(OFFERED)
    say(f"\n  Showtimes on offer: {before[0][0]} before the sale, {after[0][0]} after it.")
    if after[0][0] != before[0][0] - 1:
        raise StepFailed("the read after the sale")
    tour.chapter(
        "Ask from a second process",
        "A dbt command of its own, with its own Spark, sees the same: all of it is in the\n"
        "warehouse folder. That Spark takes some seconds to start.",
    )
    tour.process("dbt", "run-operation", "status")


def let_time_pass(tour: Tour) -> None:
    """Step 7: the clock goes on, and nobody writes anything."""
    tour.chapter(
        "Let time pass",
        "showtimes_ahead compares showtimes with the clock. Its rows are right until the first\n"
        "of them begins: each refresh finds out when that is. To see it pass, the tour sets the\n"
        "clock of dbt to an evening of the cinema, and then two hours ahead.",
    )
    # For a view time does not go back: it is built anew on that evening.
    tour.operation("drop_mv", view="showtimes_ahead", if_exists="true")
    set_clock(timedelta())
    tour.dbt("build", "--select", "showtimes_ahead")
    before = tour.query(AHEAD)
    tour.operation("explain", view="showtimes_ahead")
    tour.query(AHEAD)
    set_clock(timedelta(hours=2))
    tour.operation("status", view="showtimes_ahead")
    after = tour.query(AHEAD)
    tour.operation("verify", view="showtimes_ahead")
    os.environ.pop(OFFSET)
    say(f"\n  The next showtime at first: {before[0][1]}; two hours later: {after[0][1]}.")
    if after[0][1] <= before[0][1]:
        raise StepFailed("the read two hours later")


def set_clock(after: timedelta) -> None:
    """Set dbt's clock to so long after the evening of the cinema."""
    evening = datetime.fromisoformat(EVENING).astimezone()
    offset = (evening + after).timestamp() - time.time()
    os.environ[OFFSET] = str(round(offset))


def read_without_dbt(tour: Tour) -> None:
    """Step 8: a plain Spark session reads rows that are right at that moment."""
    tour.chapter(
        "Read from a program that is not dbt",
        "Another showtime is sold out by plain Spark SQL. A plain read of the materialized view\n"
        "has the rows of its last refresh; its live view has those of the query, in any session.",
    )
    tour.process("python", "sell_out.py")
    tour.process("python", "read_live.py")


def look_back(tour: Tour) -> None:
    """Step 9: history, who paid, and verification."""
    tour.chapter(
        "Look back, and check",
        "history lists the refreshes and their reasons, and sums up who waited for them; verify\n"
        "recomputes a view from its query and compares row by row.",
    )
    tour.operation("history", view="busiest_carriers")
    tour.operation("history", summary="true")
    for view in ("busiest_carriers", "current_showtimes", "daily_flights", "routes"):
        tour.operation("verify", view=view)


def main() -> None:
    """Take the tour in the given warehouse folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--warehouse", type=Path, default=HERE / "warehouse")
    warehouse = parser.parse_args().warehouse.resolve()
    # Every command below is then exactly what a user would type in this folder.
    os.environ["DEMO_WAREHOUSE"] = str(warehouse)
    os.chdir(HERE)
    say(f"Commands run in {HERE}\nwith DEMO_WAREHOUSE={warehouse}")
    tour = Tour(warehouse)
    try:
        tell_story(tour)
    except StepFailed as failure:
        say(f"\nThe tour stops here. This failed: {failure}")
        raise SystemExit(1) from None
    finally:
        tour.finish()


if __name__ == "__main__":
    main()
