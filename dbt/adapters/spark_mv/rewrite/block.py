"""The normal form of a block: a SELECT of tables, joined, filtered, perhaps grouped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.facts import Facts, facts_of
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, column_term, mapped
from dbt.adapters.spark_mv.sql.names import TableName


@dataclass(frozen=True)
class Derived:
    """The rows of a query that stands in FROM, as if it were a table: a digest of all that decides
    them, and the tables that it reads."""

    key: str
    tables: frozenset[TableName] = field(compare=False)


Source = TableName | Derived
# In the place of a table of a view that was left out; its columns are columns of nothing.
LEFT_OUT = Derived("left out", frozenset())
# There are twice as many sets with each part of a CUBE.
_MOST_IN_SETS = 20


def base_tables(sources: Sequence[Source]) -> list[TableName]:
    """The tables that are read, also by queries in FROM."""
    found: dict[TableName, None] = {}
    for source in sources:
        tables = sorted(source.tables, key=str) if isinstance(source, Derived) else [source]
        found.update(dict.fromkeys(tables))
    return list(found)


# Before the name that a column may have, which only Spark knows.
UNKNOWN_NAME = "mv_unknown "


@dataclass(frozen=True)
class LeftJoin:
    """An occurrence that may have no partner for a row, and the conditions on partners: `on` are
    they in the order in which they are written."""

    occurrence: int
    on: tuple[Term, ...] = field(compare=False)
    conditions: frozenset[Term] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", frozenset(self.on))


@dataclass(frozen=True)
class Output:
    """A column that a block returns; without a name if its text gives it none. `maybe` is the name
    that it may have all the same, which only Spark knows."""

    name: str
    term: Term
    maybe: str = ""

    @property
    def outer_name(self) -> str:
        """What a query around it calls it by; not known if it begins with `UNKNOWN_NAME`."""
        return f"{UNKNOWN_NAME}{self.maybe}" if self.maybe else self.name

    @classmethod
    def called(cls, outer_name: str, term: Term) -> Output:
        """The output that a query around it calls so."""
        maybe = outer_name.removeprefix(UNKNOWN_NAME)
        return cls("", term, maybe) if maybe != outer_name else cls(outer_name, term)

    def may_be_called(self, name: str) -> bool:
        """Whether this is perhaps its name."""
        return bool(self.maybe) and self.maybe.lower() == name.lower()


@dataclass(frozen=True)
class Sorted:
    """One item of ORDER BY: the tree without its expression, which is a term, or the name or
    number of an output."""

    node: exp.Expr
    term: Term | None


@dataclass(frozen=True)
class Block:
    """The rows of the `tables` (each item is one occurrence) that meet all `conditions`.

    `keys` are those of GROUP BY, () for one group of all rows, None without groups; DISTINCT is a
    grouping by all outputs. `having` are conditions on groups, `sets` are the parts of GROUP BY if
    these are sets of keys, ROLLUP or CUBE. With `is_set` it is no matter how often a row is there.
    """

    tables: tuple[Source, ...]
    conditions: tuple[Term, ...]
    left_joins: tuple[LeftJoin, ...]
    outputs: tuple[Output, ...]
    keys: tuple[Term, ...] | None = None
    having: tuple[Term, ...] = ()
    order: tuple[Sorted, ...] = ()
    limit: tuple[exp.Expr, ...] = ()
    sets: tuple[Term, ...] = ()
    is_set: bool = False

    @cached_property
    def _facts(self) -> dict[str, Facts]:
        return {}

    def facts(self, zone: str) -> Facts:
        """What its conditions say, with moments of a time zone; found out once for all views."""
        if zone not in self._facts:
            self._facts[zone] = facts_of(self.conditions, zone)
        return self._facts[zone]

    @property
    def has_windows(self) -> bool:
        """Whether an output is a value of its place among other rows."""
        return any(output.term.has_windows for output in self.outputs)

    def terms(self) -> Iterator[Term]:
        """Every term of the block."""
        yield from self.conditions
        yield from self.having
        yield from self.keys or ()
        yield from self.sets
        yield from (output.term for output in self.outputs)
        for join in self.left_joins:
            yield from join.conditions

    def renumbered(self, occurrences: dict[int, int]) -> Block:
        """The block with other numbers for its occurrences; `tables` stay as they are."""

        def other(column: ColumnOf) -> Term:
            return column_term(replace(column, occurrence=occurrences[column.occurrence]))

        return self.changed(lambda term: mapped(term, other), occurrences)

    def place(self, column: ColumnOf) -> tuple[TableName, str]:
        """The table of a column, which is no query in FROM, and its name in lower case."""
        table = self.tables[column.occurrence]
        assert isinstance(table, TableName), table
        return table, column.name.lower()

    def changed(
        self, change: Callable[[Term], Term], occurrences: Mapping[int, int] | None = None
    ) -> Block:
        """The block with other terms, and perhaps other numbers for what is joined."""
        numbers = occurrences or {join.occurrence: join.occurrence for join in self.left_joins}
        joins = tuple(
            LeftJoin(numbers[join.occurrence], tuple(map(change, join.on)))
            for join in self.left_joins
        )
        return replace(
            self,
            conditions=tuple(map(change, self.conditions)),
            left_joins=joins,
            outputs=tuple(replace(one, term=change(one.term)) for one in self.outputs),
            keys=None if self.keys is None else tuple(map(change, self.keys)),
            having=tuple(map(change, self.having)),
            sets=tuple(map(change, self.sets)),
        )


def are_in_another_order(names: Sequence[str], others: Sequence[str]) -> bool:
    """Whether a column of the first has the name of another one of the others: whoever found out
    the two lists has read a query in different ways. Those without a name may be any."""
    pairs = [(name.lower(), other.lower()) for name, other in zip(names, others, strict=True)]
    known = {other for _, other in pairs}
    return any(name and name != other and name in known for name, other in pairs)


def sets_of_keys(parts: Sequence[Term]) -> list[frozenset[str]]:
    """The sets of keys of a GROUP BY, by the keys of their terms; none of too many."""
    if sum(len(list(part.walk())) for part in parts) > _MOST_IN_SETS:
        return []
    return [_union(chosen) for chosen in product(*map(_sets_of, parts))]


def _sets_of(part: Term) -> list[frozenset[str]]:
    """The sets of keys that a part of GROUP BY stands for."""
    inner = [_sets_of(arg) for arg in part.args]
    if isinstance(part.node, exp.GroupingSets):
        return [one for sets in inner for one in sets]
    if isinstance(part.node, exp.Tuple):
        return [_union(_union(sets) for sets in inner)]
    if not isinstance(part.node, (exp.Rollup, exp.Cube)):
        return [frozenset([part.key])]
    keys, counts = [_union(sets) for sets in inner], range(len(inner) + 1)
    if isinstance(part.node, exp.Rollup):
        return [_union(keys[:count]) for count in counts]
    return [_union(some) for count in counts for some in combinations(keys, count)]


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset(key for one in sets for key in one)
