"""Points at which tests make this process die, stop or fail. Does nothing outside tests.

`DBT_SPARK_MV_FAILPOINTS="publish.before=kill;write.after=raise"` is honoured only together with
`DBT_SPARK_MV_TESTING=1`; alone it is refused with a warning.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from dbt.adapters.spark_mv.core.errors import StatementFailed

FAILPOINTS = "DBT_SPARK_MV_FAILPOINTS"
TESTING = "DBT_SPARK_MV_TESTING"
POINTS = (
    "lock.before",
    "lock.after",
    "started.after",
    "write.before",
    "write.one",
    "write.after",
    "publish.before",
    "publish.after",
    "recorded.after",
    "storage.before",
    "storage.after",
    "view.before",
    "view.after",
    "registered.after",
    "view_dropped.after",
    "storage_dropped.after",
    "swap.before",
    "backed_up.after",
    "swapped_in.after",
    "live.before",
    "restore.before",
    "restore.checked",
    "restore.after",
)

_active: dict[str, str] = {}


def arm(warn: Callable[[str], None]) -> None:
    """Read the environment; warn of failpoints that are refused because this is no test.

    Raises `ValueError` for a point that there is not: a test that names it would test nothing.
    """
    _active.clear()
    wanted = os.environ.get(FAILPOINTS, "")
    if not wanted:
        return
    if os.environ.get(TESTING) != "1":
        warn(f"{FAILPOINTS} is set and ignored: it makes refreshes fail, and is for tests only.")
        return
    warn(f"{FAILPOINTS} IS IN FORCE: this process will fail on purpose ({wanted}).")
    for part in wanted.split(";"):
        point, _, action = part.partition("=")
        if point not in POINTS or not action:
            raise ValueError(f"{FAILPOINTS} names no failpoint: {part!r}")
        _active[point] = action


def reached(point: str) -> None:
    """Do what the tests ask for at this point: nothing, unless they do."""
    action = _active.get(point)
    if action is None:
        return
    kind, _, argument = action.partition(":")
    if kind == "raise":
        raise StatementFailed(f"failpoint {point}")
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif kind == "kill_jvm":
        _active.pop(point)
        os.kill(int(Path(argument).read_text()), signal.SIGKILL)
    elif kind == "pause":
        _pause(Path(argument))


def _pause(folder: Path) -> None:
    """Leave the mark `reached` in a folder and wait until somebody puts `go` there."""
    (folder / "reached").touch()
    while not (folder / "go").exists():
        time.sleep(0.02)
