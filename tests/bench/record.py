"""bench.jsonl: for each run a line about the run, and one for each of its cells after it."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from tests.bench.cell import Cell

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "docs" / "bench.jsonl"


@dataclass(frozen=True)
class Run:
    """What a run measured, and on what."""

    header: Mapping[str, Any]
    cells: tuple[Cell, ...]

    @property
    def tier(self) -> str:
        """The name of its tier."""
        return str(self.header["tier"])


def header(tier: str, scale: float, rounds: int, groups: Sequence[str]) -> dict[str, Any]:
    """What is to be known of a run that starts now, without names of the machine."""
    return {
        "tier": tier,
        "scale": scale,
        "rounds": rounds,
        "groups": list(groups),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "machine": _machine(),
        "versions": _versions(),
        "load_at_start": round(os.getloadavg()[0], 1),
    }


def write(path: Path, about: Mapping[str, Any], cells: Sequence[Cell]) -> None:
    """Write a file of one run."""
    lines = [{"run": dict(about)}, *({"cell": cell.to_json()} for cell in cells)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def read(path: Path) -> list[Run]:
    """The runs of a file, of which several may have been appended; none if there is no file."""
    runs: list[tuple[dict[str, Any], list[Cell]]] = []
    for text in path.read_text().splitlines() if path.is_file() else ():
        line = json.loads(text)
        if "run" in line:
            runs.append((line["run"], []))
        else:
            runs[-1][1].append(Cell.from_json(line["cell"]))
    return [Run(about, tuple(cells)) for about, cells in runs]


def _machine() -> dict[str, Any]:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(memory / (1 << 30)),
        "cpu": _processor(),
        "os": _system(),
    }


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _system() -> str:
    with suppress(OSError):
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    return f"{platform.system()} {platform.release()}"


def _versions() -> dict[str, str]:
    from dbt.adapters.spark_mv.spark.local import jars, java

    packages = ("dbt-core", "dbt-spark", "sqlglot", "dbt-spark-mv")
    (iceberg,) = (jar.version for jar in jars.JARS if jar.artifact.startswith("iceberg"))
    return {
        "python": platform.python_version(),
        "java": _quoted(java.java_version()),
        "spark": metadata.version("pyspark"),
        "iceberg": iceberg,
        **{package: metadata.version(package) for package in packages},
        "commit": _commit(),
    }


def _quoted(text: str) -> str:
    """The version in what `java -version` prints, which is between quotes."""
    return text.split('"')[1]


def _commit() -> str:
    """The commit, with `+` if files differ from it."""
    with suppress(OSError, subprocess.CalledProcessError):
        return _git("rev-parse", "--short", "HEAD") + "+" * bool(_git("status", "--porcelain"))
    return "unknown"


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()
