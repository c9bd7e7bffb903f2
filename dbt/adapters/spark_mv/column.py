"""Columns: dbt-spark's, which asks for the types of Postgres when it asks what a column holds."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.base.column import Column
from dbt.adapters.spark.column import SparkColumn

_WHOLE = frozenset({"tinyint", "smallint", "int", "integer", "bigint"})


@dataclass
class SparkMVColumn(SparkColumn):
    """A column of one of Spark's types."""

    def _kind(self) -> str:
        return str(self.dtype).split("(")[0].strip().lower()

    def is_string(self) -> bool:
        """Whether it holds text."""
        return self._kind() in ("string", "varchar", "char")

    def is_integer(self) -> bool:
        """Whether it holds whole numbers."""
        return self._kind() in _WHOLE

    def is_float(self) -> bool:
        """Whether it holds binary fractions."""
        return self._kind() in ("float", "double")

    def is_numeric(self) -> bool:
        """Whether it holds decimal fractions."""
        return self._kind() in ("decimal", "numeric")

    def can_expand_to(self, other_column: Column) -> bool:
        """Never: a string has no length to grow."""
        return False
