"""Statements that ask Spark for values of rows near the clock, and what their answers mean. Pure.

Each is about the rows of one selection, for which a query calls values `mv_value_0` ..
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlglot import exp

from dbt.adapters.spark_mv.expiry.arithmetic import (
    DAY,
    QUARTER,
    SECOND,
    Bounds,
    Line,
    day_of,
    first_instant,
    first_outside,
)
from dbt.adapters.spark_mv.expiry.kinds import Seconds, by_date
from dbt.adapters.spark_mv.expiry.rows import VALUE, NotDerived, printed
from dbt.adapters.spark_mv.expiry.terms import Atom, Value
from dbt.adapters.spark_mv.views.clock import LOCAL, NOW, TODAY, Moment, filled

Row = Sequence[Any]
# So many days, or hours, are looked at; a view that nothing changes until then is looked at again.
_DAYS, _HOURS = 400, 48
# A time with a jump may fall back by so much, at the end of a month or where clocks are changed.
_FALLS = 3 * DAY
_EPOCH = datetime(1970, 1, 1)
_FAR = 10**18
# How values compare with the clock that are the nearest below it, and above, on which a comparison
# may end: those that are equal are on the side on which they have the result of that side.
_BESIDE = {
    ">": ("<=", ">"),
    "<=": ("<=", ">"),
    ">=": ("<", ">="),
    "<": ("<", ">="),
    "=": ("<", ">"),
}
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_WALL = ("timestamp_ntz", "date", "string")


@dataclass(frozen=True)
class Nearest:
    """The values of rows next to the clock, for comparisons with times that move with it."""

    rows: str
    atoms: tuple[tuple[Atom, Line | Seconds], ...]

    def sql(self, moment: Moment) -> str:
        """One row, of four columns for each comparison: the type of the value, the nearest below,
        the nearest above, and how many are equal."""
        measures, near = [], []
        for number, (atom, kind) in enumerate(self.atoms):
            value, now = _value(f"{VALUE}{number}", kind), _literal(kind, moment)
            low, high = _BESIDE[atom.op]
            measures += [
                f"max(typeof({VALUE}{number}))",
                _shown(f"max(CASE WHEN {value} {low} {now} THEN {value} END)", kind),
                _shown(f"min(CASE WHEN {value} {high} {now} THEN {value} END)", kind),
                f"count(CASE WHEN {value} = {now} THEN 1 END)",
            ]
            near.append(f"{value} >= {_literal(kind, moment, _fall(kind, moment))}")
        rows = filled(self.rows, moment)
        return (
            f"SELECT {', '.join(measures)} FROM (\n{rows}\n) AS mv_rows WHERE {' OR '.join(near)}"
        )

    def instants(self, row: Row, moment: Moment) -> list[tuple[int | None, Atom | Value]]:
        """The first instant at which each comparison has another result, with the comparison."""
        return [
            (_crossing(atom, kind, row[4 * number : 4 * number + 4], moment), atom)
            for number, (atom, kind) in enumerate(self.atoms)
        ]


@dataclass(frozen=True)
class Stepwise:
    """The first day, or hour, at which comparisons and values by days, or hours, are others."""

    rows: str | None
    terms: tuple[Atom | Value, ...]
    by: str

    def sql(self, moment: Moment) -> str:
        """One row, of three columns for each term: the first step at which it is another, and the
        types of the values of rows and of the clock."""
        now = TODAY if self.by == "day" else NOW
        number = "unix_date" if self.by == "day" else "unix_micros"
        answers: list[str] = []
        for index, term in enumerate(self.terms):
            other = f"NOT coalesce({self._same(index, term, moment)}, false)"
            answers.append(f"{number}(min({now}) FILTER (WHERE {other}))")
            clock = filled(_printed(by_date(term.clock)), moment)
            type_name = f"any_value(mv_type_{index})" if isinstance(term, Atom) else "NULL"
            answers += [type_name, f"typeof({clock})"]
        steps = f"({_days(moment) if self.by == 'day' else _hours(moment)}) AS mv_steps"
        bounds = f" CROSS JOIN ({self._bounds(moment)}) AS mv_bounds" if self.rows else ""
        return f"SELECT {', '.join(answers)} FROM {steps}{bounds}"

    def _bounds(self, moment: Moment) -> str:
        assert self.rows is not None
        columns = []
        for number, term in enumerate(self.terms):
            assert isinstance(term, Atom)
            value, now = f"{VALUE}{number}", filled(_printed(by_date(term.clock)), moment)
            low, high = _BESIDE[term.op]
            columns += [
                f"max(CASE WHEN {value} {low} {now} THEN {value} END) AS mv_low_{number}",
                f"min(CASE WHEN {value} {high} {now} THEN {value} END) AS mv_high_{number}",
                f"count(CASE WHEN {value} = {now} THEN 1 END) AS mv_equal_{number}",
                f"max(typeof({value})) AS mv_type_{number}",
            ]
        return f"SELECT {', '.join(columns)} FROM (\n{filled(self.rows, moment)}\n) AS mv_rows"

    def _same(self, number: int, term: Atom | Value, moment: Moment) -> str:
        clock = _printed(by_date(term.clock))
        same = f"{clock} <=> {filled(clock, moment)}"
        if isinstance(term, Value):
            return same
        low, high = ("<=", "<") if term.op in (">", "<=") else ("<", "<=")
        if term.op == "=":
            low, high = "<", "<"
        between = (
            f"(mv_low_{number} IS NULL OR mv_low_{number} {low} {clock}) AND "
            f"(mv_high_{number} IS NULL OR {clock} {high} mv_high_{number})"
        )
        return f"({same} OR (mv_equal_{number} = 0 AND {between}))" if term.op == "=" else between

    def instants(self, row: Row, moment: Moment) -> list[tuple[int | None, Atom | Value]]:
        """The first instant at which each term may be another, with the term."""
        until = _day if self.by == "day" else _hour
        for number in range(len(self.terms)):
            value, clock = row[3 * number + 1], row[3 * number + 2]
            # Texts are put in order as texts, and compared as what they are cast to.
            if value == "string" != clock:
                raise NotDerived(f"a text is compared with {clock}")
        return [(until(row[3 * n], moment), term) for n, term in enumerate(self.terms)]


def _day(first: int | None, moment: Moment) -> int:
    """The instant at which a day begins that is the first to differ."""
    day = day_of(moment.us, moment.zone) + timedelta(days=_DAYS + 1)
    if first is not None:
        day = _EPOCH.date() + timedelta(days=int(first))
    return first_instant(day, moment.zone)


def _hour(first: int | None, moment: Moment) -> int:
    return _first_hour(moment) + _HOURS * 4 * QUARTER if first is None else int(first)


def _crossing(atom: Atom, kind: Line | Seconds, answer: Row, moment: Moment) -> int | None:
    type_name, low, high, equal = answer
    if type_name is None:
        return None
    if isinstance(kind, Seconds):
        return _crossing_seconds(atom, kind, answer, moment)
    if kind.local and type_name not in _WALL:
        raise NotDerived(f"{type_name} is compared with a time without a zone")
    if atom.op == "=" and equal:
        return moment.us + 1
    bounds = Bounds(
        _micros(low, kind),
        _micros(high, kind),
        low_in=atom.op in (">", "<="),
        high_in=atom.op in (">=", "<"),
    )
    return first_outside(kind, bounds, moment.us, moment.zone)


def _crossing_seconds(atom: Atom, kind: Seconds, answer: Row, moment: Moment) -> int | None:
    type_name, _, high, equal = answer
    if type_name not in _WHOLE:
        raise NotDerived(f"{type_name} is compared with seconds")
    if atom.op == "=" and equal:
        return (moment.us // SECOND + 1) * SECOND
    if high is None:
        return None
    # At seconds that are equal `>=` and `<` are as they were.
    ends = int(high) + (1 if atom.op in (">=", "<") else 0)
    return (ends - kind.ahead) * SECOND


def _micros(value: Any, kind: Line) -> int | None:
    if value is None:
        return None
    if not kind.local:
        return int(value)
    if str(value).startswith("+"):  # years of five digits
        return _FAR
    return (datetime.fromisoformat(_padded(str(value))) - _EPOCH) // timedelta(microseconds=1)


def _padded(text: str) -> str:
    """A text of Spark's, with all six digits of a second that has any."""
    whole, _, part = text.partition(".")
    return f"{whole}.{part:0<6}" if part else whole


def _value(name: str, kind: Line | Seconds) -> str:
    if isinstance(kind, Seconds):
        return name
    return f"CAST({name} AS {'TIMESTAMP_NTZ' if kind.local else 'TIMESTAMP_LTZ'})"


def _literal(kind: Line | Seconds, moment: Moment, less: int = 0) -> str:
    if isinstance(kind, Seconds):
        return f"{moment.us // SECOND + kind.ahead - less}L"
    at = kind.at(moment.us, moment.zone) - less
    if not kind.local:
        return Moment(at, moment.zone).literal(NOW)
    wall = (_EPOCH + timedelta(microseconds=at)).isoformat(sep=" ", timespec="microseconds")
    return f"TIMESTAMP_NTZ'{wall}'"


def _fall(kind: Line | Seconds, moment: Moment) -> int:
    """How far below the clock values of rows count."""
    return 0 if isinstance(kind, Seconds) or kind.is_even(moment.zone) else _FALLS


def _shown(value: str, kind: Line | Seconds) -> str:
    if isinstance(kind, Seconds):
        return value
    return f"CAST({value} AS STRING)" if kind.local else f"unix_micros({value})"


def _days(moment: Moment) -> str:
    today = day_of(moment.us, moment.zone)
    first, last = today + timedelta(days=1), today + timedelta(days=_DAYS)
    return f"SELECT explode(sequence(DATE'{first}', DATE'{last}')) AS {TODAY}"


def _hours(moment: Moment) -> str:
    first = _first_hour(moment)
    last = first + (_HOURS * 4 - 1) * QUARTER
    return (
        f"SELECT {NOW}, CAST({NOW} AS DATE) AS {TODAY}, CAST({NOW} AS TIMESTAMP_NTZ) AS {LOCAL} "
        f"FROM (SELECT timestamp_micros(us) AS {NOW} "
        f"FROM (SELECT explode(sequence({first}L, {last}L, {QUARTER}L)) AS us) AS mv_us) AS mv_now"
    )


def _first_hour(moment: Moment) -> int:
    return (moment.us // QUARTER + 1) * QUARTER


def _printed(clock: exp.Expr) -> str:
    return f"({printed(clock.unnest())})"
