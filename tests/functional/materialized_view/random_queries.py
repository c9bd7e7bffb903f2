"""A grammar of queries: draws SQL of every form that a fast refresh may have to understand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.functional.materialized_view.random_expressions import Expressions, Scope
from tests.functional.materialized_view.random_tables import PLAIN, Column, Table, quoted

_ALIASES = ("r", "q", "Left", "mixed Alias", "u v", "t0", "k", "s")


@dataclass(frozen=True)
class Query:
    sql: str
    columns: tuple[Column, ...]


class Grammar:
    """Draws queries over tables."""

    def __init__(self, chance: random.Random, tables: Sequence[Table]) -> None:
        self._chance, self._tables = chance, list(tables)
        self._expressions = Expressions(chance, self._subquery_of)
        self._aliases = 0

    def draw(self) -> str:
        """The text of a query."""
        found = self._query(2)
        if self._maybe(0.05):
            return f"{found.sql} order by 1"
        return found.sql

    def _maybe(self, probability: float) -> bool:
        return self._chance.random() < probability

    def _query(self, depth: int) -> Query:
        forms = {
            self._selection: 8,
            self._grouped: 6,
            self._windowed: 3,
        }
        if depth:
            forms |= {self._set_operation: 3, self._with: 2, self._distinct: 2, self._one_group: 1}
        (form,) = self._chance.choices(tuple(forms), tuple(forms.values()))
        return form(depth)

    # -- relations

    def _alias(self) -> str:
        self._aliases += 1
        if self._maybe(0.1):
            return quoted(f"{self._chance.choice(_ALIASES)}{self._aliases}")
        return f"r{self._aliases}"

    def _relation(self, depth: int) -> tuple[str, Scope]:
        """A relation under an alias, and its columns."""
        alias = self._alias()
        if depth and self._maybe(0.3):
            inner = self._query(depth - 1)
            text, columns = f"({inner.sql})", inner.columns
        elif self._maybe(0.04):
            items = ", ".join(f"({n}L, 'a', {n})" for n in range(self._chance.randint(1, 3)))
            text = f"(select * from values {items} as v(k, s, n))"
            columns = (Column("k", "bigint"), Column("s", "string"), Column("n", "int"))
        else:
            table = self._chance.choice(self._tables)
            text, columns = table.name, table.columns
            if table.name.startswith("@") and self._maybe(0.1):
                name = quoted(table.name.partition(".")[2])
                return text, [(f"{name}.{c.sql}", c) for c in columns]
        word = self._chance.choice(("", "as "))
        return f"{text} {word}{alias}", [(f"{alias}.{c.sql}", c) for c in columns]

    def _from(self, depth: int) -> tuple[str, Scope]:
        """A FROM clause with joins, and the columns in it."""
        text, scope = self._relation(depth)
        if self._maybe(0.5):
            if self._maybe(0.3):  # names without their relation
                scope = [(column.sql, column) for _, column in scope]
            return text + self._laterals(scope), scope
        for _ in range(self._chance.choice((1, 1, 1, 2))):
            other, more = self._relation(depth and depth - 1)
            if {name.split(".")[0] for name, _ in more} & {n.split(".")[0] for n, _ in scope}:
                break  # twice the same name without an alias
            text, scope = self._join(text, scope, other, more)
        return text + self._laterals(scope), scope

    def _join(self, text: str, scope: Scope, other: str, more: Scope) -> tuple[str, Scope]:
        kind = self._chance.choice(
            ("join", "inner join", "left join", "left join", "right join", "full join")
            + ("cross join", ",", "left semi join", "left anti join", "full outer join")
        )
        if kind in ("cross join", ","):
            separator = ", " if kind == "," and " join " not in text else " cross join "
            return f"{text}{separator}{other}", scope + more
        on = self._on(scope, more)
        if kind not in ("left semi join", "left anti join") and self._maybe(0.2):
            return self._using(text, scope, kind, other, more)
        both = scope if kind in ("left semi join", "left anti join") else scope + more
        return f"{text} {kind} {other} on {on}", both

    def _using(
        self, text: str, scope: Scope, kind: str, other: str, more: Scope
    ) -> tuple[str, Scope]:
        """A join on a column that both sides have once."""
        names = [column.name for _, column in scope]
        shared = [c for _, c in more if names.count(c.name) == 1 and c.type in PLAIN]
        if not shared:
            return f"{text} {kind} {other} on true", scope + more
        column = self._chance.choice(shared)
        rest = [found for found in scope + more if found[1].name != column.name]
        return f"{text} {kind} {other} using ({column.sql})", [*rest, (column.sql, column)]

    def _on(self, scope: Scope, more: Scope) -> str:
        parts = [
            self._expressions.pair(scope, more, self._chance.choice(("=", "=", "=", "<=>", "<")))
        ]
        if self._maybe(0.2):
            parts.append(self._expressions.pair(scope, more, "="))
        if self._maybe(0.3):
            parts.append(self._expressions.condition(scope + more, 1, subqueries=False))
        if self._maybe(0.05):
            return " or ".join(parts)
        return " and ".join(parts)

    def _laterals(self, scope: Scope) -> str:
        if not self._maybe(0.07):
            return ""
        alias = self._alias()
        name = f"e{self._aliases}"
        items = ", ".join(self._expressions.of_type("int", scope, 1) for _ in range(2))
        outer = self._chance.choice(("", "outer "))
        scope.append((f"{alias}.{name}", Column(name, "int")))
        return f" lateral view {outer}explode(array({items})) {alias} as {name}"

    def _where(self, scope: Scope) -> str:
        if self._maybe(0.5):
            return ""
        return f" where {self._expressions.condition(scope, 2)}"

    def _subquery_of(self, scope: Scope) -> str:
        """A condition with a subquery, correlated or not."""
        text, inner = self._relation(1 if self._maybe(0.3) else 0)
        parts = []
        if self._maybe(0.6):
            parts.append(
                self._expressions.pair(inner, scope, self._chance.choice(("=", "=", "<=>", ">")))
            )
        if self._maybe(0.5):
            parts.append(self._expressions.condition(inner, 1, subqueries=False))
        where = f" where {' and '.join(parts)}" if parts else ""
        no = self._chance.choice(("", "not "))
        if self._maybe(0.5):
            return f"{no}exists (select 1 from {text}{where})"
        column, of = self._chance.choice(inner)
        if of.type not in PLAIN:
            return f"{no}exists (select * from {text}{where})"
        sought = self._expressions.of_type(of.type, scope, 1)
        return f"{sought} {no}in (select {column} from {text}{where})"

    # -- queries

    def _outputs(self, expressions: Sequence[tuple[str, str]]) -> tuple[str, tuple[Column, ...]]:
        """A select list with names of its own, from texts and their types."""
        items, columns = [], []
        for number, (text, type_name) in enumerate(expressions):
            name = f"c{number}"
            if self._maybe(0.05):
                name = self._chance.choice(("Mixed ", "a b", "from", "é")) + str(number)
            columns.append(Column(name, type_name))
            items.append(f"{text} as {quoted(name)}")
        return ", ".join(items), tuple(columns)

    def _selection(self, depth: int) -> Query:
        text, scope = self._from(depth)
        where = self._where(scope)
        single = " join " not in text and ", " not in text and " lateral " not in text
        if single and self._maybe(0.1) and not text.startswith("("):
            return Query(f"select * from {text}{where}", tuple(column for _, column in scope))
        wanted = []
        for _ in range(self._chance.randint(1, 4)):
            if self._maybe(0.6):
                name, column = self._chance.choice(scope)
                wanted.append((name, column.type))
            else:
                wanted.append(self._expressions.any(scope, 2))
        listed, columns = self._outputs(wanted)
        if self._maybe(0.1) and columns[0].type in PLAIN and columns[0].name == "c0":
            listed += ", c0 is null as seen_before"
            columns = (*columns, Column("seen_before", "boolean"))
        if self._maybe(0.05):
            items = ", ".join(self._expressions.of_type("int", scope, 1) for _ in range(2))
            listed += (
                f", {self._chance.choice(('explode', 'explode_outer'))}(array({items})) as one"
            )
            columns = (*columns, Column("one", "int"))
        return Query(f"select {listed} from {text}{where}", columns)

    def _distinct(self, depth: int) -> Query:
        inner = self._chance.choice((self._selection, self._selection, self._grouped))(depth - 1)
        if any(column.type.startswith("map") for column in inner.columns):
            return inner
        return Query(inner.sql.replace("select", "select distinct", 1), inner.columns)

    def _with(self, depth: int) -> Query:
        """A query that reads a name of its own, likely more than once."""
        inner = self._query(depth - 1)
        self._aliases += 1
        name = f"w{self._aliases}"
        kept = self._tables
        self._tables = [*kept, *[Table(name, inner.columns)] * len(kept)]
        outer = self._query(depth - 1)
        self._tables = kept
        if outer.sql.startswith("with "):
            return outer
        return Query(f"with {name} as ({inner.sql}) {outer.sql}", outer.columns)

    def _set_operation(self, depth: int) -> Query:
        types = [self._chance.choice(PLAIN) for _ in range(self._chance.randint(1, 3))]
        sides: list[str] = []
        first: tuple[Column, ...] = ()
        for _ in range(self._chance.choice((2, 2, 3))):
            text, scope = self._from(depth - 1)
            listed, columns = self._outputs(
                [(self._expressions.of_type(name, scope, 1), name) for name in types]
            )
            sides.append(f"select {listed} from {text}{self._where(scope)}")
            first = first or columns
        sql = sides[0]
        for side in sides[1:]:
            word = self._chance.choice(
                ("union all", "union all", "union", "intersect", "intersect all")
                + ("except", "except all", "minus")
            )
            sql = f"{sql} {word} {side}"
        return Query(sql, first)

    def _keys(self, scope: Scope, most: int) -> list[tuple[str, str]]:
        keys: dict[str, str] = {}
        for _ in range(self._chance.randint(1, most)):
            if self._maybe(0.8):
                name, column = self._chance.choice(scope)
                text, type_name = name, column.type
            else:
                text, type_name = self._expressions.any(scope, 1)
            if not type_name.startswith("map") and not text.isdigit():  # a place, not a value
                keys[text] = type_name
        name, column = scope[0]
        return list(keys.items()) or [(f"({name} is null)", "boolean")]

    def _grouped(self, depth: int) -> Query:
        text, scope = self._from(depth)
        where = self._where(scope)
        keys = self._keys(scope, 2)
        calls = [self._expressions.aggregate(scope) for _ in range(self._chance.randint(0, 3))]
        shown = [key for key in keys if self._maybe(0.85)] + calls
        listed, columns = self._outputs(shown or [("count(*)", "bigint")])
        by = ", ".join(text for text, _ in keys)
        if shown[: len(keys)] == keys and self._maybe(0.1):
            by = ", ".join(str(number + 1) for number in range(len(keys)))
        having = ""
        if self._maybe(0.2):
            having = " having " + self._expressions.on_group(scope)
        return Query(f"select {listed} from {text}{where} group by {by}{having}", columns)

    def _one_group(self, depth: int) -> Query:
        text, scope = self._from(depth)
        calls = [self._expressions.aggregate(scope) for _ in range(self._chance.randint(1, 3))]
        listed, columns = self._outputs(calls)
        return Query(f"select {listed} from {text}{self._where(scope)}", columns)

    def _windowed(self, depth: int) -> Query:
        text, scope = self._from(depth)
        keys = [key for key, _ in self._keys(scope, 2)]
        order = [name for name, column in scope if not column.type.startswith("map")]
        if not order:
            return self._grouped(depth)
        shown = [(key, self._type(key, scope)) for key in (self._chance.choice(order), keys[0])]
        shown += [
            self._expressions.window(scope, keys, order)
            for _ in range(self._chance.choice((1, 1, 2)))
        ]
        listed, columns = self._outputs(shown)
        return Query(f"select {listed} from {text}{self._where(scope)}", columns)

    def _type(self, text: str, scope: Scope) -> str:
        return next((column.type for name, column in scope if name == text), "other")
