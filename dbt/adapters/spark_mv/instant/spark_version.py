"""The version of the Spark that pyspark would start, without starting it."""

from __future__ import annotations

import os
import zipfile
from importlib.util import find_spec
from pathlib import Path

from dbt.adapters.spark_mv.core.errors import NeedsSpark


def spark_home() -> Path:
    """The folder of the Spark that pyspark would start; raises `NeedsSpark`."""
    given = os.environ.get("SPARK_HOME")
    if given:
        return Path(given)
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise NeedsSpark("pyspark is not installed")
    return Path(found.origin).parent


def spark_version() -> str:
    """The version of that Spark, as in 4.1.4: its jar has it as properties."""
    try:
        (jar,) = (spark_home() / "jars").glob("spark-common-utils_*.jar")
        with zipfile.ZipFile(jar) as archive:
            text = archive.read("spark-version-info.properties").decode()
        found = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        return found["version"]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise NeedsSpark(f"the version of Spark cannot be read: {error}") from None
