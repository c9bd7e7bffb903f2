"""What is untrusted of a view, of the invalidations that no refresh covers. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from dbt.adapters.spark_mv.metadata.events import Event

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Untrusted:
    """Invalidations by their `ids`, the newest of `at`, in epoch microseconds. `keys` are the
    values of the `columns` of unique_key that all of them name; empty if they do not."""

    ids: tuple[str, ...]
    at: int
    columns: tuple[str, ...] = ()
    keys: tuple[Key, ...] = ()

    @property
    def covered(self) -> dict[str, Any]:
        """What an event says that answers them, or takes their place."""
        return {"covers": list(self.ids), "covers_us": self.at}


def untrusted(events: Collection[Event]) -> Untrusted | None:
    """All that these invalidations say; None if there are none."""
    if not events:
        return None
    ids = tuple(sorted(event.event_id for event in events))
    at = max(event.at for event in events)
    found = [_keys_of(event) for event in events]
    columns = {names for names, _ in found}
    if len(columns) != 1 or () in columns:
        return Untrusted(ids, at)
    keys = tuple(dict.fromkeys(key for _, keys in found for key in keys))
    return Untrusted(ids, at, columns.pop(), keys)


def covering(events: Collection[Event]) -> dict[str, Any]:
    """What an event says that answers these invalidations, or takes their place."""
    found = untrusted(events)
    return {} if found is None else found.covered


def missed_answer(answered: Event | None, trusted_since: str | None) -> Event | None:
    """The newest refresh that answered an invalidation, if rows that are trusted since another one,
    by its id, are from before it."""
    return answered if answered is not None and answered.refresh_id != trusted_since else None


def replacing(events: Collection[Event], rows: Mapping[str, Any]) -> dict[str, Any]:
    """What an invalidation of these rows says that takes the place of earlier ones: it has their
    keys, too, and says no columns if not all of them are of keys."""
    earlier, columns = untrusted(events), rows.get("columns")
    given = {name: value for name, value in rows.items() if name != "columns"}
    if columns and (earlier is None or list(earlier.columns) == columns):
        before = [list(key) for key in earlier.keys] if earlier is not None else []
        given |= {"columns": columns, "untrusted": [*before, *rows["keys"]]}
    return {**given, **covering(events)}


def _keys_of(event: Event) -> tuple[tuple[str, ...], list[Key]]:
    """Columns and their values, both empty if an event says no, or cannot be read."""
    columns, keys = event.payload.get("columns"), event.payload.get("untrusted")
    if not isinstance(columns, list) or not isinstance(keys, list) or not columns or not keys:
        return (), []
    if not all(_is_key(key, len(columns)) for key in keys):
        return (), []
    return tuple(str(column) for column in columns), [tuple(key) for key in keys]


def _is_key(key: Any, length: int) -> bool:
    scalars = (str, int, float, type(None))
    return isinstance(key, list) and len(key) == length and all(isinstance(v, scalars) for v in key)
