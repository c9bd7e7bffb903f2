"""dbt's change sets, made of the differences that `views.changes` finds.

dbt has a class for either side of a comparison, too. Here both are values of this package: what is
wanted is a statement, what there is describes itself in the properties of its view.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dbt.adapters.relation_configs import RelationConfigChange, RelationConfigChangeAction

from dbt.adapters.spark_mv.views.changes import DEFINITION, Difference


@dataclass(frozen=True, eq=True, unsafe_hash=True)
class MaterializedViewConfigChange(RelationConfigChange):
    """One thing in which a model differs from its materialized view."""

    context: Difference

    @property
    def requires_full_refresh(self) -> bool:
        """Whether it takes another storage table."""
        return self.context.rebuilds


@dataclass(frozen=True)
class MaterializedViewConfigChangeCollection:
    """All in which a model differs from its materialized view."""

    changes: tuple[MaterializedViewConfigChange, ...] = ()

    @classmethod
    def of(cls, differences: Iterable[Difference]) -> MaterializedViewConfigChangeCollection:
        """The change set of what differs; what is built anew is created, all else altered."""
        action = RelationConfigChangeAction
        return cls(
            tuple(
                MaterializedViewConfigChange(action.create if one.rebuilds else action.alter, one)
                for one in differences
            )
        )

    @property
    def has_changes(self) -> bool:
        """Whether anything differs."""
        return bool(self.changes)

    @property
    def requires_full_refresh(self) -> bool:
        """Whether anything takes another storage table."""
        return any(change.requires_full_refresh for change in self.changes)

    @property
    def has_other_definition(self) -> bool:
        """Whether the rows would be others: then `on_configuration_change` has no say."""
        return any(change.context == DEFINITION for change in self.changes)

    @property
    def names(self) -> list[str]:
        """What differs, for people."""
        return [change.context.name for change in self.changes]
