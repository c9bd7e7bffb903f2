"""What is untrusted of a view, of the invalidations that no refresh covers. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.spark_mv.metadata.events import Event

Values = tuple[Any, ...]


@dataclass(frozen=True)
class Untrusted:
    """Invalidations by their `ids`, the newest of `at`, in epoch microseconds. `values` are those
    of the `columns` of unique_key, or of partition_by, that all of them name; empty if they do
    not."""

    ids: tuple[str, ...]
    at: int
    columns: tuple[str, ...] = ()
    values: tuple[Values, ...] = ()

    @property
    def covered(self) -> dict[str, Any]:
        """What an event says that answers them, or takes their place."""
        return {"covers": list(self.ids), "covers_us": self.at}


@dataclass(frozen=True)
class NamedRows:
    """The rows that an invalidation names: `what` they are in words, as they were `given`, and the
    values of `columns` that they have; no columns if it is not told by columns which they are."""

    what: str
    given: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    values: Sequence[Sequence[Any]] = ()


def untrusted(events: Collection[Event]) -> Untrusted | None:
    """All that these invalidations say; None if there are none."""
    if not events:
        return None
    ids = tuple(sorted(event.event_id for event in events))
    at = max(event.at for event in events)
    found = [_values_of(event) for event in events]
    columns = {names for names, _ in found}
    if len(columns) != 1 or () in columns:
        return Untrusted(ids, at)
    values = tuple(dict.fromkeys(one for _, values in found for one in values))
    return Untrusted(ids, at, columns.pop(), values)


def covering(events: Collection[Event]) -> dict[str, Any]:
    """What an event says that answers these invalidations, or takes their place."""
    found = untrusted(events)
    return {} if found is None else found.covered


def missed_answer(answered: Event | None, trusted_since: str | None) -> Event | None:
    """The newest refresh that answered an invalidation, if rows that are trusted since another one,
    by its id, are from before it."""
    return answered if answered is not None and answered.refresh_id != trusted_since else None


def replacing(events: Collection[Event], rows: NamedRows) -> dict[str, Any]:
    """What an invalidation of these rows says that takes the place of earlier ones: it has their
    values, too, and says no columns if not all of them are of these."""
    earlier, found = untrusted(events), dict[str, Any](rows.given)
    if rows.columns and (earlier is None or earlier.columns == rows.columns):
        before = earlier.values if earlier is not None else ()
        found["columns"] = [*rows.columns]
        found["untrusted"] = [list(one) for one in (*before, *rows.values)]
    return {**found, **covering(events)}


def _values_of(event: Event) -> tuple[tuple[str, ...], list[Values]]:
    """Columns and their values, both empty if an event says no, or cannot be read."""
    columns, values = event.payload.get("columns"), event.payload.get("untrusted")
    if not isinstance(columns, list) or not isinstance(values, list) or not columns or not values:
        return (), []
    if not all(_are_values(one, len(columns)) for one in values):
        return (), []
    return tuple(str(column) for column in columns), [tuple(one) for one in values]


def _are_values(found: Any, length: int) -> bool:
    scalars = (str, int, float, type(None))
    is_list = isinstance(found, list) and len(found) == length
    return is_list and all(isinstance(value, scalars) for value in found)
