"""Errors of this package as dbt shows errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_mv.core.errors import MaterializedViewError, StatementFailed


class MaterializedViewFailure(DbtRuntimeError):
    """Any error of this package, as dbt shows errors."""

    MESSAGE = "Materialized view error"

    @property
    def type(self) -> str:
        """The heading of the error."""
        return "Materialized View"


@contextmanager
def dbt_errors() -> Iterator[None]:
    """Turn errors of this package into dbt's."""
    try:
        yield
    except StatementFailed as error:
        # No layer below knew more of it: what Spark was asked for belongs to some view.
        way_out = error.way_out or "Spark or its catalog refused it; nothing more was done."
        raise MaterializedViewFailure(f"{error.problem}\n{way_out}") from None
    except MaterializedViewError as error:
        raise MaterializedViewFailure(str(error)) from None
