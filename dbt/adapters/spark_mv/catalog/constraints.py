"""What holds for the rows of tables, and nobody enforces."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.spark_mv.sql.names import TableName

UNIQUE, NOT_NULL, REFERENCES = "UNIQUE", "NOT_NULL", "REFERENCES"
Place = tuple[TableName, str]


@dataclass(frozen=True)
class Constraint:
    """`kind` is UNIQUE (no two rows have one value in a column), NOT_NULL, or REFERENCES (each
    value that is not NULL is one of the column `to`). A column is a table and a name in lower
    case."""

    kind: str
    column: Place
    to: Place | None = None

    @property
    def tables(self) -> tuple[TableName, ...]:
        """The tables whose rows it is about."""
        return (self.column[0],) if self.to is None else (self.column[0], self.to[0])

    def __str__(self) -> str:
        (table, name) = self.column
        to = "" if self.to is None else f" {self.to[0]}.{self.to[1]}"
        return f"{table}.{name} {self.kind.replace('_', ' ')}{to}"
