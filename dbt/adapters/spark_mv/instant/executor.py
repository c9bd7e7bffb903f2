"""An executor without Spark: it has a catalog, and answers what is written in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from dbt.adapters.spark_mv.core.errors import NeedsSpark
from dbt.adapters.spark_mv.core.executor import CatalogClient, Executor, Row
from dbt.adapters.spark_mv.instant.file_catalog import FileCatalog

_SHOWN = 80


class FileExecutor:
    """An `Executor` over a file catalog; it refuses every statement."""

    def __init__(self, catalog: FileCatalog) -> None:
        self._catalog = catalog

    @property
    def catalog(self) -> CatalogClient | None:
        """The file catalog."""
        return self._catalog

    def query(self, sql: str) -> list[Row]:
        """Nothing runs here: raises `NeedsSpark`."""
        text = " ".join(sql.split())
        raise NeedsSpark(f"Spark has to be asked: {text[:_SHOWN]}")

    @contextmanager
    def isolated(self, settings: Mapping[str, str]) -> Iterator[Executor]:
        """Itself: no setting changes what files say."""
        yield self

    def interrupt(self) -> None:
        """Do nothing: nothing runs."""
