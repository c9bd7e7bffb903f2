"""The clock in a query's text: the calls that read it, and the text of the query at one instant.

Spark has many spellings of it. `canonical` makes calls of those that Spark replaces as it reads a
text, such as DATE'today'; `clock_calls` finds all calls, and `at_moment` writes literals in their
places. Everything goes by the words of a text, so that the rest stays as it was written.

Source: Spark SQL's documentation of datetime functions and of the strings 'now', 'today' ..; each
was run on Spark 4.1.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache

from sqlglot import exp

from dbt.adapters.spark_mv.sql.reads import parse
from dbt.adapters.spark_mv.sql.splice import Edit, edited
from dbt.adapters.spark_mv.sql.words import Word, words_of

# What the clock says, by the name of the column that stands for it where a query is analysed.
NOW, LOCAL, TODAY = "mv_clock_now", "mv_clock_local", "mv_clock_today"
UNIX, TIME = "mv_clock_unix", "mv_clock_time"
PLACEHOLDERS = (NOW, LOCAL, TODAY, UNIX, TIME)

_SHOWN = {
    NOW: "current_timestamp()",
    LOCAL: "localtimestamp()",
    TODAY: "current_date()",
    UNIX: "unix_timestamp()",
    TIME: "current_time()",
}
_PLACED = re.compile(rf"\b({'|'.join(PLACEHOLDERS)})\b(?:\(\))?", re.IGNORECASE)
_CALLS = {
    "NOW": NOW,
    "CURRENT_TIMESTAMP": NOW,
    "LOCALTIMESTAMP": LOCAL,
    "CURRENT_DATE": TODAY,
    "CURDATE": TODAY,
    "UNIX_TIMESTAMP": UNIX,
    "CURRENT_TIME": TIME,
}
# These are calls without parentheses, too, unless a column has their name.
_BARE = frozenset({"CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME"})
_MOMENTS = ("now", "today", "tomorrow", "yesterday")
# Such a word may be put together of so many texts before it is cast.
_PIECES = 4
_CAST_IN_PLAN = re.compile(
    rf"cast\(\s*(?:{'|'.join(_MOMENTS)})\s+as (?:date|timestamp|time)", re.IGNORECASE
)
# Behind all of them but 'now' there may be a zone.
_TEXTS = re.compile(rf"(?:{'|'.join(_MOMENTS)})(?:\s+\S+)?$", re.IGNORECASE)
_OPTIMIZED = "== Optimized Logical Plan =="
_DATES = frozenset({"DATE", "TO_DATE"})
_TIMESTAMPS = frozenset({"TIMESTAMP", "TO_TIMESTAMP", "TRY_TO_TIMESTAMP", "TIMESTAMP_LTZ"})
_CASTS = frozenset({"CAST", "TRY_CAST"})
_LOCAL_TYPE = "TIMESTAMP_NTZ"
_KNOWN_QUERIES = 4096
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class ClockCall:
    """A call that reads the clock: its place in the text, and what it reads (`NOW` ..).

    `bare` calls have no parentheses: a column of that name would come first.
    """

    start: int
    end: int
    reads: str
    bare: bool = False


@dataclass(frozen=True)
class Moment:
    """An instant in epoch microseconds, in the time zone of a view."""

    us: int
    zone: tzinfo

    @property
    def local(self) -> datetime:
        """What the clock on the wall shows."""
        return (_EPOCH + timedelta(microseconds=self.us)).astimezone(self.zone).replace(tzinfo=None)

    def literal(self, reads: str) -> str:
        """The literal of what the clock says, of the type that Spark's function has."""
        wall = self.local.isoformat(sep=" ", timespec="microseconds")
        if reads == NOW:
            instant = (_EPOCH + timedelta(microseconds=self.us)).replace(tzinfo=None)
            # In the hour that a zone shows twice the wall does not say which instant it is.
            return f"TIMESTAMP_LTZ'{instant.isoformat(sep=' ', timespec='microseconds')}Z'"
        if reads == LOCAL:
            return f"TIMESTAMP_NTZ'{wall}'"
        if reads == TODAY:
            return f"DATE'{wall[:10]}'"
        return f"{self.us // 1_000_000}L" if reads == UNIX else f"TIME'{wall[11:]}'"


@lru_cache(_KNOWN_QUERIES)
def reads_clock(sql: str) -> bool:
    """Whether a query may have other rows at another instant because it reads the clock."""
    return bool(clock_calls(canonical(sql)) or moment_texts(sql))


@lru_cache(_KNOWN_QUERIES)
def clock_calls(sql: str) -> tuple[ClockCall, ...]:
    """The calls that read the clock, in the order of the text; `unreadable_calls` are left out."""
    return tuple(call for call in _calls(sql) if call.reads)


def clock_names(sql: str) -> tuple[str, ...]:
    """What of a query reads the clock, as it is written."""
    names = (re.match(r"\w+", sql[call.start :]) for call in _calls(sql))
    cast = (
        ()
        if canonical(sql) == sql
        else tuple(repr(word.text.strip()) for word in words_of(sql) if _moment(word))
    )
    called = [name.group().lower() for name in names if name is not None]
    return tuple(dict.fromkeys([*called, *cast, *moment_texts(sql)]))


def unreadable_calls(sql: str) -> bool:
    """Whether a call reads the clock in a way that no literal stands for: with an argument, or
    without parentheses where something else in the text has its name."""
    words = words_of(sql)
    bare = {sql[call.start : call.end].upper() for call in _calls(sql) if call.bare}
    others = {
        word.text.upper()
        for index, word in enumerate(words)
        if not word.string and not _is_call(words, index) and word.text.upper() in bare
    }
    tree = parse(sql) if bare else None
    named = tree is not None and any(
        identifier.name.upper() in bare for identifier in tree.find_all(exp.Identifier)
    )
    return bool(others) or named or any(not call.reads for call in _calls(sql))


def bare_names(sql: str) -> frozenset[str]:
    """The names, in lower case, of calls without parentheses."""
    return frozenset(sql[call.start : call.end].lower() for call in _calls(sql) if call.bare)


def _calls(sql: str) -> Iterator[ClockCall]:
    words = words_of(sql)
    for index, word in enumerate(words):
        if not _is_call(words, index):
            continue
        reads = _CALLS[word.text.upper()]
        after = [following.text for following in words[index + 1 : index + 3]]
        if after == ["(", ")"]:
            yield ClockCall(word.start, words[index + 2].end, reads)
        elif after[:1] != ["("]:
            yield ClockCall(word.start, word.end, reads, bare=True)
        elif word.text.upper() == "CURRENT_TIME":
            yield ClockCall(word.start, word.end, "")


def _is_call(words: tuple[Word, ...], index: int) -> bool:
    word = words[index]
    called = index + 1 < len(words) and words[index + 1].text == "("
    # A function may be called by its name in backticks.
    if word.string or (word.quoted and not called) or word.text.upper() not in _CALLS:
        return False
    before = words[index - 1] if index else None
    if before is not None and before.text == "." and not before.quoted:
        return False
    if called:
        return True
    # Behind AS, a name or a value it is a name.
    is_name = before is not None and (
        before.upper == "AS"
        or before.quoted
        or before.string
        or before.variable
        or before.text == ")"
    )
    return word.upper in _BARE and not is_name


def placed(sql: str, text_of: Callable[[str], str]) -> str:
    """`sql` with the text that `text_of` gives for what each call of the clock reads."""
    calls = clock_calls(sql)
    return edited(sql, [Edit(call.start, call.end, text_of(call.reads)) for call in calls])


def at_moment(sql: str, moment: Moment) -> str:
    """A canonical text as it is evaluated at one moment."""
    return placed(sql, moment.literal)


def filled(sql: str, moment: Moment) -> str:
    """`sql` with the literals of a moment in place of the placeholders."""
    edits = [
        Edit(word.start, word.end, moment.literal(word.text))
        for word in words_of(sql)
        if word.text in PLACEHOLDERS and not word.string
    ]
    return edited(sql, edits)


def shown(sql: str) -> str:
    """A text with placeholders as the author of a query would write it."""
    return _PLACED.sub(lambda found: _SHOWN[found[1].lower()], sql)


@lru_cache(_KNOWN_QUERIES)
def canonical(sql: str) -> str:
    """`sql` with calls in place of casts of texts such as 'today', where they are seen to be cast.

    >>> canonical("select DATE'today', cast('now' as timestamp), 'today'")
    "select current_date(), CAST(current_timestamp() AS TIMESTAMP), 'today'"
    """
    words = words_of(sql)
    edits = [edit for index in range(len(words)) if (edit := _moment_cast(words, index))]
    return edited(sql, edits)


def _moment_cast(words: tuple[Word, ...], index: int) -> Edit | None:
    """The edit of the cast of a moment's text that begins with a word."""
    word, rest = words[index], words[index + 1 : index + 6]
    kind = word.upper
    if kind in _DATES | _TIMESTAMPS | {_LOCAL_TYPE} and rest and _moment(rest[0]):
        return Edit(word.start, rest[0].end, _called(_moment(rest[0]), kind))
    if kind in _DATES | _TIMESTAMPS and [w.text for w in rest[:3:2]] == ["(", ")"]:
        if _moment(rest[1]):
            return Edit(word.start, rest[2].end, _called(_moment(rest[1]), kind))
    if kind in _CASTS and len(rest) == 5 and (rest[0].text, rest[2].upper) == ("(", "AS"):
        to = rest[3].upper
        if _moment(rest[1]) and rest[4].text == ")" and to in _DATES | _TIMESTAMPS | {_LOCAL_TYPE}:
            return Edit(word.start, rest[4].end, _called(_moment(rest[1]), to))
    return None


def _moment(word: Word) -> str:
    text = word.text.strip().lower()
    return text if word.string and text in _MOMENTS else ""


def _called(moment: str, kind: str) -> str:
    days = {"tomorrow": "date_add(current_date(), 1)", "yesterday": "date_sub(current_date(), 1)"}
    day = days.get(moment, "current_date()")
    if kind in _DATES:
        return day
    to = _LOCAL_TYPE if kind == _LOCAL_TYPE else "TIMESTAMP"
    if moment != "now":
        return f"CAST({day} AS {to})"
    return "localtimestamp()" if kind == _LOCAL_TYPE else f"CAST(current_timestamp() AS {to})"


@lru_cache(_KNOWN_QUERIES)
def moment_texts(sql: str) -> tuple[str, ...]:
    """Texts of a query that stand for a moment if Spark casts them, or might if they are put
    together, and that `canonical` leaves."""
    texts = [word.text for word in words_of(canonical(sql)) if word.string]
    joined = (
        "".join(texts[start : start + size])
        for size in range(1, _PIECES + 1)
        for start in range(len(texts) - size + 1)
    )
    return tuple(dict.fromkeys(repr(text) for text in map(str.strip, joined) if _TEXTS.match(text)))


def keeps_moments(queries: Iterable[str], plan: str) -> bool:
    """Whether Spark, by its plans of a query, makes no date or time of any text of `moment_texts`;
    `queries` are that query and those of the views that it reads.

    What it casts it evaluates while it optimizes, so the text is gone then. Functions that it
    replaces by others show no cast before that.
    """
    analysed, _, rest = plan.partition("== Analyzed Logical Plan ==")[2].partition(_OPTIMIZED)
    optimized = rest.partition("== Physical Plan ==")[0]
    texts: list[str] = []
    moments: set[str] = set()
    for query in queries:
        texts += [word.text.strip() for word in words_of(canonical(query)) if word.string]
        moments.update(ast.literal_eval(text) for text in moment_texts(query))
    return not _CAST_IN_PLAN.search(analysed) and all(
        len(re.findall(rf"(?<![\w.`]){re.escape(text)}(?![\w#])", optimized))
        >= max(texts.count(text), 1)
        for text in moments
    )
