"""Which rules of the matching had a say in matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.aggregates.calls import StoredCalls
from dbt.adapters.spark_mv.rewrite.derive import Deriver
from dbt.adapters.spark_mv.rewrite.match import _Attempt
from dbt.adapters.spark_mv.rewrite.rows import RowsTest

_WATCHED: dict[str, tuple[Any, str]] = {
    "no rows": (RowsTest, "compensation"),
    "one constant": (Deriver, "_column"),
    "COUNT of no rows": (StoredCalls, "_none_is_zero"),
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
# Of these not every result is that of the rule.
_MEANT: dict[str, Callable[[Any], bool]] = {
    "no rows": lambda found: found == [exp.false()],
    "one constant": lambda found: isinstance(found, exp.Cast),
    "COUNT of no rows": lambda found: isinstance(found, exp.Coalesce),
}
RULES = tuple(_WATCHED)
_now: Counter[str] = Counter()


@contextmanager
def watched() -> Iterator[None]:
    """Watch the rules."""
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
    def called(*args: Any, **named: Any) -> Any:
        found = function(*args, **named)
        if isinstance(found, Iterator):
            found = list(found)
        if _MEANT.get(rule, bool)(found):
            _now[rule] += 1
        return found

    return called


@contextmanager
def of_a_match(into: Counter[str]) -> Iterator[None]:
    """Count the rules of one attempt, if it ends in a match."""
    _now.clear()
    yield
    into.update(dict.fromkeys(_now, 1))
