"""TPC-H tables at a scale, and the way back to the state that they had."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from dbt.adapters.spark_mv.spark.local import jars
from tests.bench.world import World

TABLES = ("lineitem", "orders", "customer", "nation")
ALL_TABLES = (*TABLES, "supplier", "part", "region")


def load(
    world: World,
    scale: float,
    folder: Path | None,
    tables: Sequence[str] = TABLES,
    prefix: str = "tpch",
) -> str:
    """The tables as Iceberg tables, in a schema; returns its name.

    `folder` holds their parquet files; without one they are generated once into the user's cache,
    and so are those that it lacks.
    """
    schema = f"{prefix}_sf{scale:g}".replace(".", "_")
    world.sql(f"create schema if not exists {schema}")
    for table in tables:
        file = folder / f"{table}.parquet" if folder is not None else None
        if file is None or not file.exists():
            file = _generated(scale, table)
        world.sql(
            f"create table if not exists {schema}.{table} using iceberg "
            f"as select * from parquet.`{file}`"
        )
    return schema


def _generated(scale: float, table: str) -> Path:
    """The parquet file of a table at a scale, which appears as a whole or not at all."""
    file = jars.cache_folder() / "tpch" / f"sf{scale:g}" / f"{table}.parquet"
    if file.exists():
        return file
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as partial:
        command = [
            str(Path(sys.executable).with_name("tpchgen-cli")),
            "parquet",
            f"--scale-factor={scale:g}",
            f"--tables={table}",
            f"--output-dir={partial}",
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        os.rename(Path(partial) / file.name, file)
    return file


class Checkpoint:
    """The snapshots that tables have now, and the way back to them.

    What was written since leaves the history of the tables, so a change that is applied again
    after it is the same change from the same state.
    """

    def __init__(self, world: World, tables: Iterable[str]) -> None:
        self._world = world
        self.snapshots = {table: self.current(table) for table in tables}

    def current(self, table: str) -> int:
        """The current snapshot of a table."""
        rows = self._world.sql(f"select snapshot_id from {table}.refs where name = 'main'")
        return int(rows[0][0])

    def restore(self) -> None:
        """Bring all tables back."""
        for table, snapshot in self.snapshots.items():
            if self.current(table) != snapshot:
                self._world.sql(
                    f"call local.system.set_current_snapshot(table => '{table}', "
                    f"snapshot_id => {snapshot})"
                )
