"""Is there a Java and a pyspark that can run Spark 4.1? Asked before Spark fails obscurely."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from importlib import metadata

from dbt_common.exceptions import DbtRuntimeError

OLDEST_JAVA = 17
OLDEST_PYSPARK = (4, 1)


def check_runtime() -> None:
    """Raise one clear error unless pyspark and Java are there and new enough."""
    check_pyspark()
    java_version()


def check_pyspark() -> str:
    """The version of the installed pyspark."""
    way_out = "Install it with: pip install 'dbt-spark-mv[embedded]'"
    try:
        version = metadata.version("pyspark")
    except metadata.PackageNotFoundError:
        raise DbtRuntimeError(
            f"method embedded needs pyspark, which is missing.\n{way_out}"
        ) from None
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < OLDEST_PYSPARK:
        raise DbtRuntimeError(f"method embedded needs pyspark 4.1, found {version}.\n{way_out}")
    return version


@functools.cache
def java_version() -> str:
    """What `java -version` calls itself, if it is new enough."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    way_out = f"Install a Java {OLDEST_JAVA} runtime (or newer) and point JAVA_HOME to it."
    if not java:
        raise DbtRuntimeError(f"Spark needs Java, and no java was found on PATH.\n{way_out}")
    try:
        run = subprocess.run([java, "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise DbtRuntimeError(
            f"Spark needs Java, and {java} does not run: {error}.\n{way_out}"
        ) from None
    return _checked_version(java, run.stderr + run.stdout, way_out)


def _checked_version(java: str, text: str, way_out: str) -> str:
    found = re.search(r'version "(\d+)(?:\.(\d+))?[^"]*"', text)
    # Java 8 calls itself 1.8.
    major = int(found[2] or 0) if found and found[1] == "1" else int(found[1]) if found else 0
    if major < OLDEST_JAVA:
        raise DbtRuntimeError(
            f"Spark needs Java {OLDEST_JAVA}, and {java} is Java {major}.\n{way_out}"
        )
    return text.strip()
