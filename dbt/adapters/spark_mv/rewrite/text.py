"""A block that is answered by a view, and its SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.spark_mv.catalog.constraints import Constraint
from dbt.adapters.spark_mv.rewrite.derive import table_alias
from dbt.adapters.spark_mv.rewrite.stored import STORED, StoredView
from dbt.adapters.spark_mv.rewrite.terms import AROUND, DIGEST, TABLE
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
class Rest:
    """Rows that a view leaves out, of base tables, with the columns of its storage table."""

    columns: tuple[tuple[str, exp.Expr], ...]
    sources: tuple[Missing, ...]
    conditions: tuple[exp.Expr, ...]
    keys: tuple[exp.Expr, ...]

    @property
    def trees(self) -> Iterator[exp.Expr]:
        """All trees in it."""
        yield from (tree for _, tree in self.columns)
        yield from (tree for one in self.sources for tree in one.on or ())
        yield from (*self.conditions, *self.keys)


@dataclass(frozen=True)
class Answer:
    """A block over the storage table of a view, to which the `missing` tables are joined; `keys` is
    None if there is nothing to group. The stored rows are united with the `rest`. It is right if
    what is `assumed` holds."""

    view: StoredView
    outputs: tuple[tuple[str, exp.Expr], ...]
    missing: tuple[Missing, ...]
    conditions: tuple[exp.Expr, ...]
    keys: tuple[exp.Expr, ...] | None
    having: tuple[exp.Expr, ...]
    order: tuple[exp.Expr, ...]
    limit: tuple[exp.Expr, ...]
    assumed: frozenset[Constraint] = frozenset()
    rest: Rest | None = None

    @property
    def tables(self) -> frozenset[TableName]:
        """The tables that it reads beside the storage table, also in subqueries."""
        places = (tree.find_all(exp.Table) for tree in self._trees())
        inner = (place.meta[TABLE] for found in places for place in found)
        sources = self.rest.sources if self.rest is not None else ()
        return frozenset([*(one.table for one in (*self.missing, *sources)), *inner])

    @property
    def subqueries(self) -> frozenset[str]:
        """By what the subqueries in it are known."""
        found = (place for tree in self._trees() for place in tree.find_all(exp.Select))
        return frozenset(place.meta[DIGEST] for place in found)

    @property
    def relations_around(self) -> frozenset[str]:
        """The names of relations, in lower case, of which columns of a query around are."""
        found = (place for tree in self._trees() for place in tree.find_all(exp.Column))
        return frozenset(place.meta[AROUND] for place in found if AROUND in place.meta)

    def with_subqueries(self, texts: Mapping[str, str]) -> Answer:
        """The answer with these texts for the subqueries that are known by the keys."""

        def written(tree: exp.Expr) -> exp.Expr:
            tree = tree.copy()
            for place in list(tree.find_all(exp.Select)):
                if place.meta[DIGEST] in texts:
                    place.replace(exp.Var(this=texts[place.meta[DIGEST]]))
            return tree

        return self.changed(written) if texts else self

    def _trees(self) -> Iterator[exp.Expr]:
        yield from (tree for _, tree in self.outputs)
        yield from (tree for one in self.missing for tree in one.on or ())
        yield from (*self.conditions, *(self.keys or ()), *self.having, *self.order)
        yield from self.rest.trees if self.rest is not None else ()

    def changed(self, change: Callable[[exp.Expr], exp.Expr]) -> Answer:
        """The answer with other trees."""

        def all_of(trees: Sequence[exp.Expr]) -> tuple[exp.Expr, ...]:
            return tuple(map(change, trees))

        def joined(tables: Sequence[Missing]) -> tuple[Missing, ...]:
            return tuple(
                one if one.on is None else replace(one, on=all_of(one.on)) for one in tables
            )

        def named(columns: Sequence[tuple[str, exp.Expr]]) -> tuple[tuple[str, exp.Expr], ...]:
            return tuple((name, change(tree)) for name, tree in columns)

        rest = self.rest and Rest(
            named(self.rest.columns),
            joined(self.rest.sources),
            all_of(self.rest.conditions),
            all_of(self.rest.keys),
        )
        return replace(
            self,
            outputs=named(self.outputs),
            missing=joined(self.missing),
            conditions=all_of(self.conditions),
            keys=None if self.keys is None else all_of(self.keys),
            having=all_of(self.having),
            order=all_of(self.order),
            rest=rest,
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
    lines.append(f"FROM {_stored(answer, relation)} AS {STORED}")
    lines += [_joined(one, relation(one.table)) for one in answer.missing]
    lines += _filtered(answer.conditions, answer.keys)
    if answer.having:
        lines.append(f"HAVING {_all(answer.having)}")
    if answer.order:
        lines.append(f"ORDER BY {', '.join(tree.sql('spark') for tree in answer.order)}")
    lines += [tree.sql("spark").strip() for tree in answer.limit]
    return "\n".join(lines)


def rest_text(answer: Answer, relation: Callable[[TableName], str]) -> str:
    """The SELECT of the rows that a view leaves out, and is united with."""
    rest = _at_versions(answer, relation).rest
    return _rest(rest, relation) if rest is not None else ""


def _rest(rest: Rest, relation: Callable[[TableName], str]) -> str:
    shown = (f"{tree.sql('spark')} AS {quote(name)}" for name, tree in rest.columns)
    first, *others = rest.sources
    lines = [f"SELECT {', '.join(shown)}"]
    lines.append(f"FROM {relation(first.table)} AS {table_alias(first.occurrence)}")
    lines += [_joined(one, relation(one.table)) for one in others]
    return "\n".join([*lines, *_filtered(rest.conditions, rest.keys)])


def _stored(answer: Answer, relation: Callable[[TableName], str]) -> str:
    storage, rest = relation(answer.view.storage), answer.rest
    if rest is None:
        return storage
    names = ", ".join(quote(name) for name, _ in rest.columns)
    return f"(SELECT {names} FROM {storage}\nUNION ALL\n{_rest(rest, relation)})"


def _filtered(conditions: Sequence[exp.Expr], keys: Sequence[exp.Expr] | None) -> Iterator[str]:
    if conditions:
        yield f"WHERE {_all(conditions)}"
    if keys:
        yield f"GROUP BY {', '.join(tree.sql('spark') for tree in keys)}"


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
