"""Spark's classes as one file that the JVM maps instead of loading them: Spark starts much sooner.

The first Spark of a kind has no such file. When its dbt has ended, a short run of Spark in the
background writes one (see `class_archive_writer`), which dbt has announced; later ones use it. A
JVM that cannot use the file goes on without it, so nothing here can fail a run or hold one up.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from dbt_common.events.functions import fire_event
from dbt_common.events.types import Note

from dbt.adapters.spark_mv.spark.local import jars, java

OPTIONS = "spark.driver.extraJavaOptions"
SWITCH = "DBT_SPARK_MV_CLASS_DATA_ARCHIVE"
# The JVM complains on stdout about each class that it cannot archive.
SILENT = "-Xlog:disable -Xlog:all=error:stderr"
_KEPT = 3
_ANNOUNCED = (
    "When dbt has ended, a Spark in the background (at most 5 minutes, 2 GB) will make later "
    "starts faster, once; class_data_archive: false in the profile turns this off"
)
# It gives way to all others: on a busy machine that takes minutes.
MOST_SECONDS = 900
# What it takes twice over: the memory is somebody else's as soon as it is needed.
_LEAST_MEMORY = 4 << 30
_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")
# Limit and use of a container's memory, in the second and in the first version of control groups.
_OF_CONTAINERS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


def is_wanted(given: bool, conf: dict[str, str]) -> bool:
    """Whether profile, environment and Java options leave the archive to us."""
    mine = any(option in conf.get(OPTIONS, "") for option in ("-XX:SharedArchive", "-XX:Archive"))
    return given and not mine and os.environ.get(SWITCH, "1") != "0"


def archive_path(conf: dict[str, str]) -> Path:
    """The file for this Java, this pyspark and these options."""
    names = (OPTIONS, "spark.driver.extraClassPath", "spark.driver.memory")
    parts = [java.java_version(), java.check_pyspark()]
    parts += [os.environ.get("SPARK_HOME", java.__file__)]
    parts += [conf.get(name, "") for name in names]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return jars.cache_folder() / "class-archive" / f"{key}.jsa"


def use_class_archive(conf: dict[str, str]) -> None:
    """Make the JVM use the archive of its kind, or have one written when this process ends."""
    archive = archive_path(conf)
    if archive.is_file():
        add_option(conf, f"-XX:SharedArchiveFile={archive}")
    elif may_run_in_background() and not is_being_written(archive):
        fire_event(Note(msg=_ANNOUNCED))
        atexit.register(_write_in_background, dict(conf))


def lock_of(archive: Path) -> Path:
    """The file that is there while somebody writes an archive."""
    return archive.with_suffix(".lock")


def is_being_written(archive: Path) -> bool:
    """Whether somebody writes an archive, and has not died of it."""
    with contextlib.suppress(FileNotFoundError):
        return time.time() - lock_of(archive).stat().st_mtime <= MOST_SECONDS
    return False


def add_option(conf: dict[str, str], option: str) -> None:
    """Add one Java option, and silence about classes."""
    conf[OPTIONS] = f"{conf.get(OPTIONS, '')} {option} {SILENT}".strip()


def may_run_in_background() -> bool:
    """Whether something may be left running: not in CI, nor where memory is short."""
    if os.environ.get("CI", "").lower() in ("true", "1"):
        return False
    return available_memory() >= _LEAST_MEMORY


def available_memory() -> int:
    """Bytes that a process can have: of the machine, and of the container that it is in."""
    limits = [_available_here()]
    for most, used in _OF_CONTAINERS:
        with contextlib.suppress(OSError, ValueError):
            limit = int((_CGROUP / most).read_text())
            limits.append(limit - int((_CGROUP / used).read_text()))
    return min(limits)


def _available_here() -> int:
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = _MEMINFO.read_text().splitlines()
        found = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(found.split()[1]) << 10
    # Elsewhere than on Linux only the size of the memory is easily known.
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _write_in_background(conf: dict[str, str]) -> None:
    if not may_run_in_background():
        return
    with contextlib.suppress(OSError):
        writer = subprocess.Popen(
            [sys.executable, "-m", "dbt.adapters.spark_mv.spark.local.cds_writer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        assert writer.stdin is not None
        writer.stdin.write(json.dumps(conf).encode())
        writer.stdin.close()


def forget_old_archives(folder: Path) -> None:
    """Keep the newest archives: each is large, and an old pyspark's is never used again."""
    archives = sorted(folder.glob("*.jsa"), key=lambda path: path.stat().st_mtime)
    for old in archives[:-_KEPT]:
        old.unlink(missing_ok=True)
