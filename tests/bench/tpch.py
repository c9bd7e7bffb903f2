"""TPC-H tables at a scale, and changes to them that can be repeated from the same state."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dbt.adapters.spark_mv.spark.local import jars
from tests.bench.world import World

TABLES = ("lineitem", "orders", "customer", "nation")
# The keys of TPC-H end far below, so orders moved by this are new ones.
_MOVED = 1_000_000_000_000
_PARTS = 10_000


@dataclass(frozen=True)
class Stream:
    """A kind of change; its statements name the schema and a slice of the order keys.

    `changed` counts the rows that one such change adds, takes away or alters.
    """

    name: str
    statements: tuple[str, ...]
    tables: tuple[str, ...] = ("orders", "lineitem")

    def apply(self, world: World, schema: str, fraction: float) -> None:
        for statement in self.statements:
            world.sql(statement.format(s=schema, **_slices(fraction)))

    def changed(self, world: World, schema: str, fraction: float) -> int:
        """Rows in the slice, of all tables that the change touches."""
        slices = _slices(fraction)
        counts = [
            world.sql(f"select count(*) from {schema}.{table} where {slices[table[0]]}")[0][0]
            for table in self.tables
        ]
        return sum(counts)


def _slices(fraction: float) -> dict[str, str]:
    """A condition on the tables of orders (o) and of lines (l), true for this part of the keys."""
    last = max(1, round(fraction * _PARTS))
    return {table: f"pmod(xxhash64({table}_orderkey), {_PARTS}) < {last}" for table in ("o", "l")}


INSERT = Stream(
    "insert",
    (
        f"insert into {{s}}.orders select o_orderkey + {_MOVED}, * except (o_orderkey) "
        "from {s}.orders where {o}",
        f"insert into {{s}}.lineitem select l_orderkey + {_MOVED}, * except (l_orderkey) "
        "from {s}.lineitem where {l}",
    ),
)
DELETE = Stream(
    "delete", ("delete from {s}.lineitem where {l}", "delete from {s}.orders where {o}")
)
UPDATE = Stream(
    "update",
    ("update {s}.lineitem set l_extendedprice = l_extendedprice + 1 where {l}",),
    ("lineitem",),
)
LATE = Stream(
    "late lines",
    (
        "insert into {s}.lineitem select l_orderkey, l_partkey, l_suppkey, l_linenumber + 7, "
        "* except (l_orderkey, l_partkey, l_suppkey, l_linenumber) from {s}.lineitem where {l}",
    ),
    ("lineitem",),
)


def load(world: World, scale: float, folder: Path | None) -> str:
    """The tables as Iceberg tables, in a schema; returns its name.

    `folder` holds their parquet files; without one they are generated once into the user's cache.
    """
    schema = f"tpch_sf{scale:g}".replace(".", "_")
    files = folder or _generated(scale)
    world.sql(f"create schema if not exists {schema}")
    for table in TABLES:
        world.sql(
            f"create table if not exists {schema}.{table} using iceberg "
            f"as select * from parquet.`{files / table}.parquet`"
        )
    return schema


def _generated(scale: float) -> Path:
    """The folder of the parquet files of a scale, which appears as a whole or not at all."""
    folder = jars.cache_folder() / "tpch" / f"sf{scale:g}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as partial:
        command = [
            str(Path(sys.executable).with_name("tpchgen-cli")),
            "parquet",
            f"--scale-factor={scale:g}",
            f"--tables={','.join(TABLES)}",
            f"--output-dir={partial}/data",
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        os.rename(f"{partial}/data", folder)
    return folder


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
