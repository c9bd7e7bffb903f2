"""Which rules of the matching had a say in matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from dbt.adapters.spark_mv.rewrite.calls import StoredCalls
from dbt.adapters.spark_mv.rewrite.derive import Deriver
from dbt.adapters.spark_mv.rewrite.match import _Attempt
from dbt.adapters.spark_mv.rewrite.rows import RowsTest

_WATCHED: dict[str, tuple[Any, str]] = {
    "equality added": (RowsTest, "_equalities"),
    "range added": (RowsTest, "_limited"),
    "residual added": (RowsTest, "_residuals"),
    "IS NOT NULL added": (RowsTest, "_not_null"),
    "range on a unit": (Deriver, "_limited_by_unit"),
    "finer unit": (Deriver, "_from_finer_unit"),
    "call of keys": (StoredCalls, "_of_keys"),
    "stored call": (StoredCalls, "_stored"),
    "call of parts": (StoredCalls, "_of_parts"),
    "call of some rows": (StoredCalls, "_conditional"),
    "equal groups": (_Attempt, "_of_equal_groups"),
    "finer groups": (_Attempt, "_of_finer_groups"),
}
RULES = (*_WATCHED, "one constant", "joined table", "no rows", "COUNT of no rows")
_now: Counter[str] = Counter()


@contextmanager
def counted(into: Counter[str]) -> Iterator[None]:
    """Watch the rules."""
    with _all_watched():
        yield


@contextmanager
def _all_watched() -> Iterator[None]:
    patches = [
        mock.patch.object(owner, name, _watching(rule, getattr(owner, name)))
        for rule, (owner, name) in _WATCHED.items()
    ]
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in patches:
            patch.stop()


def _watching(rule: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def watched(*args: Any, **named: Any) -> Any:
        found = function(*args, **named)
        if isinstance(found, Iterator):
            found = list(found)
        if found:
            _now[rule] += 1
        return found

    return watched


@contextmanager
def of_a_match(into: Counter[str]) -> Iterator[None]:
    """Count the rules of one attempt, if it ends in a match."""
    _now.clear()
    yield
    into.update(dict.fromkeys(_now, 1))
