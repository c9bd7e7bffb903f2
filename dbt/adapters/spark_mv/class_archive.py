"""Spark's classes as one file that the JVM maps instead of loading them: Spark starts much sooner.

The first Spark of a kind has no such file. When its dbt has ended, a short run of Spark in the
background writes one (see `class_archive_writer`); later ones use it. A JVM that cannot use the
file goes on without it, so nothing here can fail a run or hold one up.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from dbt.adapters.spark_mv import jars, java_runtime

OPTIONS = "spark.driver.extraJavaOptions"
SWITCH = "DBT_SPARK_MV_CLASS_DATA_ARCHIVE"
# The JVM complains on stdout about each class that it cannot archive.
SILENT = "-Xlog:disable -Xlog:all=error:stderr"
_KEPT = 3


def is_wanted(given: bool, conf: dict[str, str]) -> bool:
    """Whether profile, environment and Java options leave the archive to us."""
    mine = any(option in conf.get(OPTIONS, "") for option in ("-XX:SharedArchive", "-XX:Archive"))
    return given and not mine and os.environ.get(SWITCH, "1") != "0"


def archive_path(conf: dict[str, str]) -> Path:
    """The file for this Java, this pyspark and these options."""
    names = (OPTIONS, "spark.driver.extraClassPath", "spark.driver.memory")
    parts = [java_runtime.java_version(), java_runtime.check_pyspark()]
    parts += [os.environ.get("SPARK_HOME", java_runtime.__file__)]
    parts += [conf.get(name, "") for name in names]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return jars.cache_folder() / "class-archive" / f"{key}.jsa"


def use_class_archive(conf: dict[str, str]) -> None:
    """Make the JVM use the archive of its kind, or have one written when this process ends."""
    archive = archive_path(conf)
    if archive.is_file():
        add_option(conf, f"-XX:SharedArchiveFile={archive}")
    else:
        atexit.register(_write_in_background, dict(conf))


def add_option(conf: dict[str, str], option: str) -> None:
    """Add one Java option, and silence about classes."""
    conf[OPTIONS] = f"{conf.get(OPTIONS, '')} {option} {SILENT}".strip()


def _write_in_background(conf: dict[str, str]) -> None:
    with contextlib.suppress(OSError):
        writer = subprocess.Popen(
            [sys.executable, "-m", "dbt.adapters.spark_mv.class_archive_writer"],
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
