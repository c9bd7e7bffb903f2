"""Says that stored rows may be wrong although no version shows it; computes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt.adapters.spark_mv.core.errors import InvalidArgument
from dbt.adapters.spark_mv.metadata.projection import ViewState
from dbt.adapters.spark_mv.operations.cancellation import requester
from dbt.adapters.spark_mv.operations.choice import Choice, each
from dbt.adapters.spark_mv.operations.report import Report
from dbt.adapters.spark_mv.refresh.key_refresh import MOST_KEYS, KeyRefresher
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.words import words_of
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.registry import load_view

_COLUMNS = ("invalidated",)


def invalidate(
    services: Services, choice: Choice, view: Any, keys: Any, partitions: Any, everything: bool
) -> Report:
    """Record one event for each view. Raises `InvalidArgument` if arguments contradict each other,
    or for keys or partitions that a view does not have; nothing is recorded then."""
    _refuse_contradiction(view, keys, partitions, everything)
    if keys is None and partitions is None:
        chosen = choice.views(None, True) if everything else choice.named(view)
        return each(chosen, lambda state: [(_record(services, state, "all rows"),)], _COLUMNS)
    state = choice.selection().one(view)
    found = load_view(services.resolver, state.name)
    rows: dict[str, list[Any]]
    if keys is not None:
        rows = {"keys": list(KeyRefresher(services).checked(found, _listed(keys)))}
        what = _counted(len(rows["keys"]), "key")
    else:
        rows = {"partitions": list(_partitions(found, _listed(partitions)))}
        what = _counted(len(rows["partitions"]), "partition")
    return each([state], lambda one: [(_record(services, one, what, **rows),)], _COLUMNS)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _record(services: Services, state: ViewState, what: str, **rows: Any) -> str:
    services.log.view(state.name)
    services.history.invalidated(state.id, state.name, requester(), what, **rows)
    return what


def _refuse_contradiction(view: Any, keys: Any, partitions: Any, everything: bool) -> None:
    if everything and (view is not None or keys is not None or partitions is not None):
        raise InvalidArgument(
            "invalidate: all is every view, and view, keys and partitions are of some.",
            "Leave out all, or everything but all.",
        )
    if keys is not None and partitions is not None:
        raise InvalidArgument(
            "invalidate: keys and partitions cannot be combined.",
            "Invalidate the one, then the other.",
        )
    if (keys is not None or partitions is not None) and not isinstance(view, str):
        raise InvalidArgument(
            "invalidate: keys and partitions are those of one view.",
            "Name it: --args '{view: name, keys: [1]}'.",
        )


def _listed(given: Any) -> Sequence[Any]:
    return given if isinstance(given, (list, tuple)) else [given]


def _partitions(view: MaterializedView, given: Sequence[Any]) -> list[dict[str, Any]]:
    """By the words of partition_by, in its order."""
    names = ["".join(word.text for word in words_of(term)) for term in view.layout.partition_by]
    if not names:
        raise InvalidArgument(
            f"{view.name} has no partitions.",
            "Set partition_by, or leave out `partitions` for the whole view.",
        )
    if not 1 <= len(given) <= MOST_KEYS:
        raise InvalidArgument(
            f"{view.name}: {len(given):,} partitions cannot be given.",
            f"Give 1 to {MOST_KEYS:,}, or none for the whole view.",
        )
    found = [_partition(one, names) for one in given]
    wrong = [one for one, values in zip(given, found, strict=True) if values is None]
    if wrong:
        raise InvalidArgument(
            f"{view.name}: {wrong[0]!r} is no partition: partition_by is {', '.join(names)}.",
            "Give a value, or of several columns a list of them, or a mapping.",
        )
    return [values for values in found if values is not None]


def _partition(given: Any, names: list[str]) -> dict[str, Any] | None:
    if isinstance(given, dict):
        values = {_normal(name): value for name, value in given.items()}
        wanted = [_normal(name) for name in names]
        if sorted(values) != sorted(wanted) or len(values) != len(given):
            return None
        ordered = [values[name] for name in wanted]
    else:
        ordered = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(ordered) != len(names) or any(isinstance(v, (dict, list, tuple)) for v in ordered):
        return None
    return dict(zip(names, ordered, strict=True))


def _normal(name: Any) -> str:
    return str(name).replace(" ", "").lower()
