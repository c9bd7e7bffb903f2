"""Where a query stands in the text of a statement, and where its query begins.

sqlglot keeps the places of names only. So a span is found among the words, and counts if what
stands there reads as the same tree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlglot import exp

from dbt.adapters.spark_mv.sql.reads import parse
from dbt.adapters.spark_mv.sql.words import Word

_ENDS = frozenset({"UNION", "EXCEPT", "INTERSECT", "MINUS"})
_AFTER = frozenset({"ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "LIMIT", "OFFSET"})
_LIMITS = _AFTER | _ENDS
Span = tuple[int, int]


def span_of(sql: str, words: tuple[Word, ...], query: exp.Query) -> Span | None:
    """The characters of a SELECT or set operation in its statement, without a WITH before it; None
    if they are not found."""
    places = [place for node in query.find_all(exp.Identifier) if (place := _place(node))]
    wanted = query.copy()
    wanted.set("with_", None)
    inside = _outside_with(query, places)
    if not inside:
        return None
    first, last = min(inside), max(inside)
    is_set = isinstance(query, exp.SetOperation)
    marks = ("SELECT", "(") if is_set else ("SELECT",)
    begins = [n for n, word in enumerate(words) if word.upper in marks and word.start < first]
    for index in reversed(begins):
        for end in _ends(words, index, () if is_set else _ENDS):
            if end > last and parse(sql[words[index].start : end]) == wanted:
                return words[index].start, end
    return None


def _place(node: exp.Expr) -> int | None:
    found = node.meta.get("start")
    return found if isinstance(found, int) else None


def _outside_with(select: exp.Query, places: list[int]) -> list[int]:
    clause = select.args.get("with_")
    if clause is None:
        return places
    within = {_place(node) for node in clause.find_all(exp.Identifier)}
    return [place for place in places if place not in within]


def _ends(words: tuple[Word, ...], start: int, stops: Collection[str]) -> Iterator[int]:
    """Where a query may end that begins with this word, the farthest first; a set operation may
    end before another one, where a SELECT stops."""
    depth, last, found = 0, start, []
    for index in range(start, len(words)):
        word = words[index]
        plain = "" if word.quoted or word.string else word.text
        if plain == ")" and depth == 0:
            break
        limit = "" if words[index - 1].text == "*" else word.upper  # `* EXCEPT (x)` goes on
        if depth == 0 and limit in stops:
            break
        if depth == 0 and limit in _LIMITS:
            found.append(words[last].end)
        depth += {"(": 1, ")": -1}.get(plain, 0)
        last = index
    yield words[last].end
    yield from reversed(found)


def query_start(words: tuple[Word, ...], verb: str) -> int | None:
    """Where the query of a statement begins that stores its rows, or is no more than a query; None
    if that is not clear."""
    after_as = verb in ("CREATE", "REPLACE")
    depth, seen = 0, not after_as
    if verb == "INSERT" and any(word.upper == "REPLACE" for word in words):
        return None  # a condition stands before the query, which may have one in it
    for index, word in enumerate(words):
        plain = "" if word.quoted or word.string else word.text
        following = words[index + 1].upper if index + 1 < len(words) else ""
        if depth == 0 and after_as and word.upper == "AS":
            seen = True
        elif depth == 0 and seen and _begins(word, plain, following):
            return word.start
        depth += {"(": 1, ")": -1}.get(plain, 0)
    return None


def _begins(word: Word, plain: str, following: str) -> bool:
    if word.upper == "WITH":
        return following != "SCHEMA"
    return word.upper == "SELECT" or (plain == "(" and following in ("SELECT", "WITH", "("))
