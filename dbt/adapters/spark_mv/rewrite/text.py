"""A block that is answered by a view, and its SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.spark_mv.catalog.constraints import Constraint
from dbt.adapters.spark_mv.rewrite.derive import table_alias
from dbt.adapters.spark_mv.rewrite.stored import STORED, StoredView
from dbt.adapters.spark_mv.rewrite.terms import TABLE
from dbt.adapters.spark_mv.sql.names import TableName, quote

UNNAMED = "mv_output_"


@dataclass(frozen=True)
class Missing:
    """A table that the view lacks, by its occurrence; `on` are the conditions of a LEFT JOIN, None
    if it is joined by those of the block."""

    occurrence: int
    table: TableName
    on: tuple[exp.Expr, ...] | None


@dataclass(frozen=True)
class Answer:
    """A block over the storage table of a view, to which the `missing` tables are joined; `keys` is
    None if there is nothing to group. It is right if what is `assumed` holds."""

    view: StoredView
    outputs: tuple[tuple[str, exp.Expr], ...]
    missing: tuple[Missing, ...]
    conditions: tuple[exp.Expr, ...]
    keys: tuple[exp.Expr, ...] | None
    having: tuple[exp.Expr, ...]
    order: tuple[exp.Expr, ...]
    limit: tuple[exp.Expr, ...]
    assumed: frozenset[Constraint] = frozenset()

    @property
    def tables(self) -> frozenset[TableName]:
        """The tables that it reads beside the storage table, also in subqueries."""
        places = (tree.find_all(exp.Table) for tree in self._trees())
        inner = (place.meta[TABLE] for found in places for place in found)
        return frozenset([*(one.table for one in self.missing), *inner])

    def _trees(self) -> Iterator[exp.Expr]:
        yield from (tree for _, tree in self.outputs)
        yield from (tree for one in self.missing for tree in one.on or ())
        yield from (*self.conditions, *(self.keys or ()), *self.having, *self.order)

    def changed(self, change: Callable[[exp.Expr], exp.Expr]) -> Answer:
        """The answer with other trees."""

        def all_of(trees: Sequence[exp.Expr] | None) -> tuple[exp.Expr, ...] | None:
            return None if trees is None else tuple(map(change, trees))

        return replace(
            self,
            outputs=tuple((name, change(tree)) for name, tree in self.outputs),
            missing=tuple(replace(one, on=all_of(one.on)) for one in self.missing),
            conditions=tuple(map(change, self.conditions)),
            keys=all_of(self.keys),
            having=tuple(map(change, self.having)),
            order=tuple(map(change, self.order)),
        )


@dataclass(frozen=True)
class Column:
    """What an output is to be called, and its type if it has to be converted."""

    name: str
    type: str = ""


def block_text(
    answer: Answer, relation: Callable[[TableName], str], columns: Sequence[Column] = ()
) -> str:
    """The SELECT; `relation` writes a table at the version at which it is to be read, `columns` are
    the outputs, if they are known."""
    answer = _at_versions(answer, relation)
    lines = [f"SELECT {', '.join(_items(answer, columns))}"]
    lines.append(f"FROM {relation(answer.view.storage)} AS {STORED}")
    lines += [_joined(one, relation(one.table)) for one in answer.missing]
    if answer.conditions:
        lines.append(f"WHERE {_all(answer.conditions)}")
    if answer.keys:
        lines.append(f"GROUP BY {', '.join(tree.sql('spark') for tree in answer.keys)}")
    if answer.having:
        lines.append(f"HAVING {_all(answer.having)}")
    if answer.order:
        lines.append(f"ORDER BY {', '.join(tree.sql('spark') for tree in answer.order)}")
    lines += [tree.sql("spark").strip() for tree in answer.limit]
    return "\n".join(lines)


def _joined(missing: Missing, relation: str) -> str:
    table = f"{relation} AS {table_alias(missing.occurrence)}"
    if missing.on is None:
        return f"CROSS JOIN {table}"
    return f"LEFT JOIN {table} ON {_all(missing.on) or 'TRUE'}"


def _items(answer: Answer, columns: Sequence[Column]) -> list[str]:
    found = []
    for number, (name, tree) in enumerate(answer.outputs):
        known = columns[number] if columns else Column(name or f"{UNNAMED}{number}")
        shown = exp.cast(tree, known.type) if known.type else tree
        found.append(f"{shown.sql('spark')} AS {quote(known.name)}")
    return found


def _at_versions(answer: Answer, relation: Callable[[TableName], str]) -> Answer:
    """The answer with each table of a subquery as it is to be read."""

    def related(tree: exp.Expr) -> exp.Expr:
        tree = tree.copy()
        for place in tree.find_all(exp.Table):
            place.set("this", exp.Var(this=relation(place.meta[TABLE])))
        return tree

    return answer.changed(related)


def _all(conditions: Sequence[exp.Expr]) -> str:
    if len(conditions) == 1:
        return conditions[0].sql("spark")
    return " AND ".join(f"({tree.sql('spark')})" for tree in conditions)
