"""How a wanted definition differs from the one that is stored, without asking Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from dbt.adapters.spark_mv.config.options import options_from
from dbt.adapters.spark_mv.sql.dialect import CreateView
from dbt.adapters.spark_mv.sql.names import Namespace
from dbt.adapters.spark_mv.views.definition import Definition, Layout, MaterializedView
from dbt.adapters.spark_mv.views.settings import spelt_as

# Of columns: their names and comments.
Comments = tuple[tuple[str, str | None], ...]
# Options that say how the storage table is made.
OF_STORAGE = ("tblproperties", "float_additive")
_BUILT_ASIDE = ("partition_by", "cluster_by", *OF_STORAGE)


@dataclass(frozen=True)
class Difference:
    """One thing that differs, and whether it takes another storage table."""

    name: str
    rebuilds: bool = False


DEFINITION = Difference("definition", rebuilds=True)


def changes_of(
    view: MaterializedView,
    wanted: CreateView,
    home: Namespace,
    settings: Mapping[str, str],
) -> tuple[Difference, ...]:
    """All that differs; `DEFINITION` is the query or its settings. Raises `InvalidOption`."""
    stored = view.definition
    settings = spelt_as(settings, stored.settings)
    same = replace(stored, query=wanted.query, home=home, settings=settings).hash
    found = [DEFINITION] if view.reduced or same != stored.hash else []
    names = _differing(options_from(wanted.options, str(view.name)), view.options)
    names += _differing(Layout(wanted.partition_by, wanted.cluster_by), view.layout)
    comments = _column_comments(stored)
    listed = wanted.columns or tuple((name, None) for name, _ in comments)
    names += _described_otherwise(view.comment, wanted.comment, comments, listed)
    return (*found, *(Difference(name, name in _BUILT_ASIDE) for name in names))


def _differing(one: Any, two: Any) -> list[str]:
    """Names of the fields in which two values of a dataclass differ."""
    names = [field.name for field in fields(one)]
    return [name for name in names if getattr(one, name) != getattr(two, name)]


def _column_comments(definition: Definition) -> Comments:
    return tuple((column.name, column.comment) for column in definition.columns)


def _described_otherwise(
    comment: str | None, other: str | None, columns: Comments, others: Comments
) -> list[str]:
    """Which of the comments of a view and of its columns differ, for people."""
    names = ["description"] if (comment or None) != (other or None) else []
    return names if columns == others else [*names, "column descriptions"]


def is_same_build(existing: MaterializedView, wanted: MaterializedView) -> bool:
    """Whether the rows of a view are stored as they would be for another one of its name."""
    return (
        not existing.reduced
        and existing.definition_hash == wanted.definition_hash
        and existing.layout == wanted.layout
        and all(
            vars(existing.options)[option] == vars(wanted.options)[option] for option in OF_STORAGE
        )
    )


def is_to_stay(existing: MaterializedView, wanted: MaterializedView, is_same: bool) -> bool:
    """Whether a view has more of its model than what would come in its place. One of a part of the
    rows may be of the same query (`is_same`) where nothing that it reads can be sampled."""
    if wanted.reduced:
        return not existing.reduced
    return wanted.deferred and not (is_same or existing.reduced or existing.deferred)


def altered_names(existing: MaterializedView, wanted: MaterializedView) -> tuple[str, ...]:
    """What differs of two views of the same rows, for people."""
    names = _differing(existing.options, wanted.options)
    columns = (_column_comments(view.definition) for view in (existing, wanted))
    names += _described_otherwise(existing.comment, wanted.comment, *columns)
    if existing.deferred != wanted.deferred:
        names.append("what it reads by --defer")
    return tuple(names) or ("methods of refresh",)
