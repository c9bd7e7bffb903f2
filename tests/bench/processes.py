"""Commands in processes of their own, as a user starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from dbt.adapters.spark_mv.spark.local import jars, warehouse
from tests.bench.world import ROOT, World

_MOST_SECONDS, _TO_APPEAR = 300, 30
_LAST = 4000
# The target of this adapter, which needs no settings of Spark beside its profile.
OURS = "ours"


def dbt(folder: Path, target: str, *words: str) -> float:
    """Run one command for a project to its end; returns seconds of processor time, of the JVM too.
    An error is raised with what dbt printed.
    """
    output = folder / f"target_{target}"
    output.mkdir(exist_ok=True)
    command = [str(Path(sys.executable).with_name("dbt")), *words, "--target", target]
    command += ["--project-dir", str(folder), "--profiles-dir", str(folder)]
    command += ["--target-path", str(output)]
    # dbt-spark's session is one with Hive, which keeps a database in the current folder.
    return run(command, folder, output, with_conf=target != OURS)


def run(command: Sequence[str], folder: Path, cwd: Path, with_conf: bool = False) -> float:
    """Run one command to its end, in `cwd`, with the class archives beside `folder`, and its Spark
    settings if wanted; what it prints is in the file printed.txt there. Returns as `dbt`."""
    log = cwd / "printed.txt"
    # Not a pipe: a Java that has inherited it would keep it open for a moment after dbt has ended.
    with open(log, "wb") as printed:
        started = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, **_environment(folder, with_conf)},
            stdout=printed,
            stderr=subprocess.STDOUT,
        )
        used = _Used(started.pid)
        code = started.wait()
    if code:
        raise RuntimeError(f"{' '.join(command)} failed:\n{log.read_text()[-_LAST:]}")
    return used.seconds()


class _Used:
    """Processor time of a process and of all that it starts, as it was last seen."""

    _PAUSE = 0.05

    def __init__(self, pid: int) -> None:
        self._seen: dict[int, float] = {}
        self._root = psutil.Process(pid)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while self._look():
            time.sleep(self._PAUSE)

    def _look(self) -> bool:
        with suppress(psutil.Error):
            for process in (self._root, *self._root.children(recursive=True)):
                with suppress(psutil.Error):
                    times = process.cpu_times()
                    self._seen[process.pid] = times.user + times.system
            return bool(self._root.is_running() and self._root.status() != psutil.STATUS_ZOMBIE)
        return False

    def seconds(self) -> float:
        """The sum, when the process has ended."""
        self._thread.join()
        return sum(self._seen.values())


def write_spark_conf(world: World, folder: Path) -> None:
    """The settings of the bench's Spark, for the Spark that dbt-spark starts."""
    settings = warehouse.embedded_conf(world.credentials.path, dict(world.credentials.spark_conf))
    lines = [f"{name} {value}\n" for name, value in settings.items()]
    (folder / "conf").mkdir(exist_ok=True)
    (folder / "conf" / "spark-defaults.conf").write_text("".join(lines))


def _environment(folder: Path, with_conf: bool) -> dict[str, str]:
    conf = {"SPARK_CONF_DIR": str(folder / "conf")} if with_conf else {}
    # A cache of its own: only a few class archives are kept in one, and another Spark of this
    # machine would have that of the bench written again in the background of a measurement.
    return {
        **conf,
        "XDG_CACHE_HOME": str(_cache(folder)),
        "PYTHONPATH": str(ROOT),
        "DBT_SPARK_MV_JARS_DIR": str(jars.jar_paths()[0].parent),
    }


def _cache(folder: Path) -> Path:
    return folder.parent / "cache"


def wait_for_class_archive(folder: Path) -> None:
    """Until the Spark that writes it, in the background after a first command, has ended.

    None may have been started, as where memory is short; one that does not appear is not awaited.
    """
    began, cache = time.monotonic(), _cache(folder)
    while any(cache.rglob("*.lock")) or not any(cache.rglob("*.jsa")):
        waited = time.monotonic() - began
        if waited > (_MOST_SECONDS if any(cache.rglob("*.lock")) else _TO_APPEAR):
            return
        time.sleep(0.5)


def methods_of_run(folder: Path, target: str) -> dict[str, int]:
    """How many models the last run refreshed by which method."""
    results = json.loads((folder / f"target_{target}" / "run_results.json").read_text())["results"]
    return dict(Counter(str(result["adapter_response"].get("method")) for result in results))
