"""Three processes that write, refresh, read and are killed at random, and a program that checks.

`make soak ARGS='--minutes 20 --seed 1'`. Ends with a non-zero exit code if a view was ever wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.conftest import JAVA
from tests.functional.materialized_view.warehouse import Warehouse, assert_same
from tests.soak import checks
from tests.soak.views import VIEWS
from tests.soak.world import SCHEMA, build

ROOT = Path(__file__).parents[2]
WORKERS = 3
LOOKED_AT = 5
SECONDS_BETWEEN_KILLS = (10, 40)
# What a statement may rightly be told while others write, drop and create the same relations.
EXPECTED = (
    "another refresh is running",
    "set when_stale to another value than 'fail'",
    "does not exist",
    "was dropped while it was being refreshed",
    "exists already",
    "CONCURRENT",
    "Found conflicting files",
    "Found new conflicting",
    "conflicting",
    "Cannot commit",
    "TABLE_OR_VIEW_NOT_FOUND",
    "Missing required files",
    "Cannot find file",
    "Failed to open input stream",
)


class Worker:
    """A process that is started again whenever it was killed; `did` counts what it said."""

    def __init__(self, target: dict[str, Any], seed: int, did: Counter[str]) -> None:
        self._target, self._seed, self._did = target, seed, did
        self.start()

    def start(self) -> None:
        """Begin, or begin again with other chances."""
        self._seed += 1000
        self.works = False
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.soak.worker", json.dumps(self._target), str(self._seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            try:
                said = json.loads(line)
            except ValueError:  # cut off by a kill, or not ours
                continue
            # A process that is still starting is no victim: its death would prove nothing.
            self.works = process is self._process
            self._did[said.get("did") or f"ERROR {_kind(said['error'])}"] += 1

    def kill(self) -> None:
        """End it as a power cut would, and start it again."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.start()

    def end(self) -> None:
        """Let it finish what it does."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(300)
        self._reader.join(10)


def _kind(error: str) -> str:
    expected = next((text for text in EXPECTED if text in error), None)
    return f"(expected) {expected}" if expected else f"(UNEXPECTED) {error[:300]}"


def main() -> int:
    """Run for the given time; prints figures, and what was wrong."""
    parser = argparse.ArgumentParser(prog="soak")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance, did = random.Random(given.seed), Counter[str]()
    target = _target(tempfile.mkdtemp(prefix="soak"))
    lake = Warehouse(target, SCHEMA)
    build(lake)
    workers = [Worker(target, given.seed * 10 + number, did) for number in range(WORKERS)]
    wrong: list[str] = []
    until = time.monotonic() + given.minutes * 60
    next_kill = time.monotonic() + 30
    while time.monotonic() < until:
        time.sleep(chance.uniform(0.5, 3))
        wrong += _look(lake, did, chance.sample(tuple(VIEWS), LOOKED_AT))
        victims = [worker for worker in workers if worker.works]
        if victims and time.monotonic() > next_kill:
            chance.choice(victims).kill()
            did["KILL"] += 1
            next_kill = time.monotonic() + chance.uniform(*SECONDS_BETWEEN_KILLS)
        _progress(until, did, wrong)
    for worker in workers:
        worker.end()
    wrong += _end(lake, did)
    wrong += [f"{count} x {kind}" for kind, count in did.items() if "UNEXPECTED" in kind]
    _report(lake, given, did, wrong)
    return 1 if wrong else 0


def _target(folder: str) -> dict[str, Any]:
    conf = {
        "spark.master": "local[1]",
        "spark.driver.memory": "700m",
        "spark.driver.extraJavaOptions": JAVA,
        "spark.sql.shuffle.partitions": "1",
    }
    given = {"type": "spark_mv", "method": "embedded", "path": folder, "threads": 4}
    return {**given, "refresh_timeout": 60, "spark_conf": conf}


def _look(lake: Warehouse, did: Counter[str], names: list[str]) -> list[str]:
    wrong = []
    for name in names:
        try:
            found = checks.differences(lake, name)
        except Exception as error:
            found = [(str(error)[:500],)]
        did["check" if found is not None else "check skipped"] += 1
        if found:
            wrong.append(f"{name} is not its query at its label's versions: {found[:3]}")
    return wrong


def _end(lake: Warehouse, did: Counter[str]) -> list[str]:
    """Everything has stopped: one read makes each view right, a sweep leaves nothing."""
    lake.restart()
    wrong = []
    for name in VIEWS:
        if ("v", name) not in lake.relations():
            continue
        if VIEWS[name].policy:
            lake.sql(f"refresh materialized view @.{name}")
        lake.sql(f"select * from @.{name}")
        query = checks.definition(lake, name)
        try:
            assert_same(lake, f"select * from @.{name}", query)
            assert lake.freshness(name) == "FRESH"
        except AssertionError as error:
            wrong.append(f"{name} is wrong at the end: {error}")
    lake.operation("sweep")
    return wrong + [f"left behind: {what}" for what in checks.leftovers(lake)]


def _progress(until: float, did: Counter[str], wrong: list[str]) -> None:
    left = max(0, until - time.monotonic())
    done = sum(count for what, count in did.items() if "check" not in what)
    print(
        f"\r{left:5.0f} s left, {done} statements, {did['KILL']} kills, {did['check']} checks, "
        f"{len(wrong)} wrong ",
        end="",
        file=sys.stderr,
        flush=True,
    )


def _report(lake: Warehouse, given: Any, did: Counter[str], wrong: list[str]) -> None:
    states = lake.spark(
        "select method, state, count(*) from @meta.mv_refresh_history group by 1, 2 order by 1, 2"
    )
    events = lake.value("select count(*) from @meta.mv_events")
    print(f"\n{given.minutes:g} minutes, seed {given.seed}")
    for what, count in sorted(did.items()):
        print(f"{count:8} {what}")
    print(f"refreshes in the history: {states}; events: {events}")
    print("\n".join(wrong) or "nothing was ever wrong, and nothing is left behind")


if __name__ == "__main__":
    sys.exit(main())
