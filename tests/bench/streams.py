"""Changes to TPC-H that can be repeated from the same state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.bench.world import World

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

    def title(self, fraction: float) -> str:
        """What cells call a change of this part of the orders."""
        return f"{self.name} {100 * fraction:g}%"

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
