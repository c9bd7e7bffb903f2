"""The warehouse, session and core that the cells run on."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from dbt.adapters.spark_mv.credentials import SparkMVConnectionMethod, SparkMVCredentials
from dbt.adapters.spark_mv.glue.container import Container
from dbt.adapters.spark_mv.spark.session import SessionConnection, spark_session
from dbt.adapters.spark_mv.sql.names import Namespace, TableName
from dbt.adapters.spark_mv.views.settings import ALWAYS_KEPT

ROOT = Path(__file__).parents[2]
SCHEMA = "bench"


class BenchContext:
    """A statement's context, as a model of `dbt run` would have it."""

    trigger = "DBT_RUN"
    reader = ""
    gates_reads = True
    rewrites_reads = False
    needs_rewriting = False
    rebuilds = False
    replaces = None

    def __init__(self, session: Any) -> None:
        self._session = session

    def is_reduced(self) -> bool:
        return False

    def is_deferred(self, query: str) -> bool:
        return False

    def ask(self, sql: str) -> list[Any]:
        return list(self._session.sql(sql).collect())

    def plan(self, query: str) -> None:
        return None

    def namespace(self) -> Namespace:
        return Namespace("local", ())

    def settings(self) -> Mapping[str, str]:
        return {key: str(self._session.conf.get(key)) for key in ALWAYS_KEPT}

    def values_of(self, keys: Sequence[str]) -> list[str]:
        return [""] * len(keys)

    def declared_reads(self) -> Sequence[tuple[str, ...]]:
        return ()


class World:
    """One Spark session with the bench's tables, and the core over it; it starts as a user's if it
    has the class `archive`."""

    def __init__(self, folder: Path, memory: str = "3g", archive: bool = False) -> None:
        self.folder = folder
        self.credentials = SparkMVCredentials(
            method=SparkMVConnectionMethod.EMBEDDED,
            path=str(folder / "warehouse"),
            schema=SCHEMA,
            class_data_archive=archive,
            spark_conf={"spark.sql.shuffle.partitions": "4", "spark.driver.memory": memory},
        )
        self.session = spark_session(self.credentials)
        self.session.sql(f"create schema if not exists {SCHEMA}")
        self.core = self.new_core()
        self.context = BenchContext(self.session)

    def new_core(self, **profile: Any) -> Container:
        """What a command of dbt starts with: nothing known of any view; `profile` are keys of its
        profile."""
        credentials = replace(self.credentials, **profile)
        config = SimpleNamespace(credentials=credentials, args=SimpleNamespace(which="run"))
        handle = SessionConnection(self.session)
        return Container(config, lambda: handle, lambda: handle)

    def name(self, table: str) -> TableName:
        return TableName("local", (SCHEMA,), table)

    def sql(self, statement: str) -> list[Any]:
        """A statement straight to Spark."""
        return list(self.session.sql(statement).collect())

    def run(self, statement: str) -> Any:
        """A statement the way dbt sends it: through the pipeline."""
        return self.run_in(self.core, self.context, statement)

    def run_in(self, core: Container, context: Any, statement: str) -> Any:
        """The same as a statement of another command."""
        passage = core.pipeline.before(statement, context)
        if not hasattr(passage, "sql"):
            return passage
        try:
            return self.session.sql(passage.sql).collect()
        finally:
            core.pipeline.after(passage)

    def cpu_seconds(self) -> float:
        """Processor time of Spark and of this process so far; without /proc of this one only."""
        own = os.times()
        total = own.user + own.system
        with suppress(OSError):
            stat = Path(f"/proc/{self.session.sparkContext._gateway.proc.pid}/stat").read_text()
            user, system = stat.rpartition(")")[2].split()[11:13]
            total += (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
        return total

    def cinema(self, scale: int) -> str:
        """The cinema tables at a scale, as a schema; returns its name."""
        module = _load(ROOT / "integration_tests" / "generate_cinema.py")
        schema = f"cinema_x{scale}"
        existing = {row[0] for row in self.sql("show schemas")}
        if schema not in existing:
            for _ in module.generate(self.session, scale):
                pass
            self.sql(f"create schema {schema}")
            for table in module.ROWS:
                self.sql(f"alter table cinema.{table} rename to {schema}.{table}")
        return schema


def _load(path: Path) -> Any:
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
