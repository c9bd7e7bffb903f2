"""An analysis of a definition: its program, and what the tables of that stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dbt.adapters.spark_mv.catalog.versions import Version
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.expiry.crossings import Clock
from dbt.adapters.spark_mv.ivm.algebra.terms import CHANGES, OLD, TABLE
from dbt.adapters.spark_mv.ivm.program import Program
from dbt.adapters.spark_mv.ivm.rewrite.output_names import plainly_named
from dbt.adapters.spark_mv.sql.names import TableName, quote
from dbt.adapters.spark_mv.views.clock import shown as as_called

_SHOWN = re.compile(rf"`?\b(?:{TABLE}|{OLD}|{CHANGES})(\d+)\b`?(?: AS (`(?:[^`]|``)+`))?")
_UNGROUPED = ("map<", "variant")


@dataclass(frozen=True)
class Analysis:
    """A program, and what its tables `mv_table_<n>` stand for, with those columns that it reads,
    and their types.

    Some of the columns are comparisons with the `clock`, which the tables do not have. At a version
    that lacks columns the query means the same if the `needed` ones are there; None if it might
    not."""

    program: Program
    tables: Mapping[str, TableName]
    columns: Mapping[str, tuple[str, ...]]
    types: Mapping[str, tuple[str, ...]]
    clock: Clock = Clock()
    needed: Mapping[str, frozenset[str]] | None = None

    def placeholder(self, table: TableName) -> str:
        """The name of a table in the program."""
        return next(name for name, found in self.tables.items() if found == table)

    @property
    def used(self) -> dict[str, frozenset[str]]:
        """The columns that are read of the tables, also by comparisons with the clock."""
        return {
            name: frozenset({*columns, *self.clock.reads(name)} - {*self.clock.of(name)})
            for name, columns in self.columns.items()
        }

    def readable(self, reason: Reason) -> Reason:
        """A reason with the names that the view's owner gave to tables."""
        return readable(reason, self.tables, self.clock)

    def can_group(self, name: str) -> bool:
        """Whether rows of a table can be grouped: Spark 4.1 makes 0 of a NULL in a map by that."""
        return not any(word in kind for kind in self.types[name] for word in _UNGROUPED)

    def rows(self, name: str, version: Version | None, us: int) -> str:
        """A query of the rows of a table of the program, at a version or as it is, and as they
        compare with the clock at an instant in epoch microseconds."""
        return rows_at(self.tables[name], version, self.columns[name], self.clock.at(name, us))

    def current(
        self,
        versions: Mapping[TableName, Version],
        us: int,
        unpinned: tuple[TableName, ...] = (),
    ) -> dict[str, str]:
        """For each table of the program the query of its rows at these versions, and at an
        instant in epoch microseconds."""
        return {
            name: self.rows(name, None if table in unpinned else versions[table], us)
            for name, table in self.tables.items()
        }

    def stored_query(
        self, versions: Mapping[TableName, Version], us: int, unpinned: tuple[TableName, ...]
    ) -> str:
        """The query of everything that is stored, at these versions and this instant."""
        body = plainly_named(self.program.stored_query()).sql("spark")
        return with_queries(self.current(versions, us, unpinned), body)


def rows_at(
    table: TableName,
    version: Version | None,
    columns: tuple[str, ...],
    clock: Mapping[str, str] | None = None,
) -> str:
    """A query of these columns of a table at a version, or as it is; `clock` has the SQL of those
    that it does not have."""
    computed = clock or {}
    listed = ", ".join(
        f"{computed[column]} AS {quote(column)}" if column in computed else quote(column)
        for column in columns
    )
    pin = f" VERSION AS OF {version.snapshot_id}" if version else ""
    return f"SELECT {listed} FROM {table.sql}{pin}"


def with_queries(queries: Mapping[str, str], body: str) -> str:
    """`body` with those of the queries in front that it reads, or that they read in turn."""
    wanted: list[str] = []
    texts = [body]
    while texts:
        text = texts.pop()
        for name in queries:
            if name not in wanted and re.search(rf"\b{name}\b", text):
                wanted.append(name)
                texts.append(queries[name])
    parts = ",\n".join(f"{name} AS ({queries[name]})" for name in queries if name in wanted)
    return f"WITH {parts}\n{body}" if parts else body


def readable(reason: Reason, tables: Mapping[str, TableName], clock: Clock) -> Reason:
    """A reason with the names that the view's owner gave to tables."""

    def shown(found: re.Match[str]) -> str:
        name, alias = tables[f"{TABLE}{found.group(1)}"].name, found.group(2)
        called = name if name.isidentifier() else quote(name)
        return called if alias in (None, quote(name)) else f"{called} AS {alias}"

    text, clause = (
        clock.readable(as_called(_SHOWN.sub(shown, part))) for part in (reason.text, reason.clause)
    )
    return replace(reason, text=text, clause=clause)
