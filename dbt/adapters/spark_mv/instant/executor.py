"""An executor without Spark: it has a catalog, and answers what is written in files."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from dbt.adapters.spark_mv.core.errors import NeedsSpark
from dbt.adapters.spark_mv.core.executor import CatalogClient, Executor, Row
from dbt.adapters.spark_mv.instant.column_types import spark_type
from dbt.adapters.spark_mv.instant.file_catalog import FileCatalog
from dbt.adapters.spark_mv.sql.names import listed_parts
from dbt.adapters.spark_mv.views.storage_sql import describe_query

_VERSION = "SELECT version()"
_NAME = r"`(?:[^`]|``)+`(?:\.`(?:[^`]|``)+`)+"
_COLUMNS = re.compile(re.escape(describe_query("SELECT * FROM ")) + f"({_NAME})")
_SHOWN = 80


class FileExecutor:
    """An `Executor` over a file catalog.

    Two statements are answered: the version of Spark, and the columns of a table. With them
    `explain` finds out whether what Spark said of a definition, when it was built, still holds.
    """

    def __init__(self, catalog: FileCatalog) -> None:
        self._catalog = catalog

    @property
    def catalog(self) -> CatalogClient | None:
        """The file catalog."""
        return self._catalog

    def query(self, sql: str) -> list[Row]:
        """The rows of one of these statements; raises `NeedsSpark` for any other."""
        if sql == _VERSION:
            return [(spark_version(),)]
        described = _COLUMNS.fullmatch(sql)
        if described is not None:
            fields = self._catalog.columns(listed_parts(described[1]))
            if fields is not None:
                return [(field["name"], spark_type(field["type"]), None) for field in fields]
        text = " ".join(sql.split())
        raise NeedsSpark(f"Spark has to be asked: {text[:_SHOWN]}")

    @contextmanager
    def isolated(self, settings: Mapping[str, str]) -> Iterator[Executor]:
        """Itself: no setting changes what files say."""
        yield self

    def interrupt(self) -> None:
        """Do nothing: nothing runs."""


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
    """What `version()` returns in that Spark: its jar has it as properties."""
    try:
        (jar,) = (spark_home() / "jars").glob("spark-common-utils_*.jar")
        with zipfile.ZipFile(jar) as archive:
            text = archive.read("spark-version-info.properties").decode()
        found = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        return f"{found['version']} {found['revision']}"
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise NeedsSpark(f"the version of Spark cannot be read: {error}") from None
