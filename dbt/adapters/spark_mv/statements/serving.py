"""How reads of views are answered: by stored rows, or by queries that stand in their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from dbt.adapters.spark_mv.rewrite.reading.settings import of_meaning
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.observation import Observation
from dbt.adapters.spark_mv.views.expansion import views_of_spark
from dbt.adapters.spark_mv.views.volatile import volatile_functions

# The settings of a session that change what a query returns, asked for when they are needed.
Session = Callable[[], Mapping[str, str]]


class Serving(Enum):
    """How a read of a view is answered."""

    STORED = "stored rows"
    INLINE = "its query instead"

    @property
    def is_inline(self) -> bool:
        """Whether the view's query runs in place of a read of its rows."""
        return self is Serving.INLINE


@dataclass(frozen=True)
class Readable:
    """Views that a statement may read now: those whose query runs in place of a read of their rows,
    and the snapshots of storage tables at which views of one group have rows of one state."""

    inline: frozenset[TableName]
    snapshots: dict[TableName, str] = field(default_factory=dict)


def may_inline(observation: Observation, session: Session | None) -> bool:
    """Whether a view's query returns the rows of the view in this session."""
    if session is None or views_of_spark(observation.expansion.views):
        return False
    if any(map(volatile_functions, observation.current.texts)):  # other rows at each read
        return False
    return of_meaning(observation.view.definition.settings) == of_meaning(session())
