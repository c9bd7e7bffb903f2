"""The expressions of random queries: values, conditions, aggregates, windows."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from tests.functional.materialized_view.random_tables import PLAIN, VALUES, Column, value

Scope = list[tuple[str, Column]]
_ADDED = ("bigint", "int", "decimal(10,2)", "double")
# Expressions of a type; {name} stands for one of another type.
_SPECIAL = {
    "bigint": ("({bigint} + {bigint})", "cast({int} as bigint)", "-({bigint})", "{bigint} % 2L"),
    "int": (
        "length({string})",
        "({int} - {int})",
        "year({date})",
        "extract(month from {timestamp})",
        "datediff({date}, {date})",
        "{int} div 2",
    ),
    "string": (
        "upper({string})",
        "{string} || {string}",
        "concat({string}, '-', {string})",
        "cast({int} as string)",
        "substring({string}, 1, 1)",
        "trim({string})",
        "date_format({date}, 'yyyy-MM')",
    ),
    "decimal(10,2)": ("abs({decimal})",),
    "double": ("{double} * 2", "cast({int} as double)", "{int} / 2"),
    "date": (
        "date_add({date}, 1)",
        "cast({timestamp} as date)",
        "{date} + interval 1 day",
        "last_day({date})",
    ),
    "timestamp": ("date_trunc('month', {timestamp})", "{timestamp} - interval '1' hour"),
    "boolean": ("({boolean})", "not {boolean}", "({boolean} or {int} > 1)"),
}


class Expressions:
    """Draws expressions over the columns of a scope; `subquery` a condition with a subquery."""

    def __init__(self, chance: random.Random, subquery: Callable[[Scope], str]) -> None:
        self._chance, self._subquery = chance, subquery

    def _maybe(self, probability: float) -> bool:
        return self._chance.random() < probability

    def any(self, scope: Scope, depth: int) -> tuple[str, str]:
        """An expression of some type, and the type."""
        if self._maybe(0.2):
            nested = self._nested(scope)
            if nested:
                return nested
        if self._maybe(0.15):
            return self.condition(scope, depth, subqueries=False), "boolean"
        type_name = self._chance.choice(PLAIN)
        return self.of_type(type_name, scope, depth), type_name

    def _nested(self, scope: Scope) -> tuple[str, str] | None:
        found: list[tuple[str, str]] = []
        for name, column in scope:
            if column.type.startswith("array"):
                found += [(f"size({name})", "int"), (f"try_element_at({name}, 1)", "int")]
                found += [(f"array_contains({name}, 1)", "boolean")]
                found += [(f"cardinality(filter({name}, x -> x > 1))", "int")]
            elif column.type.startswith("struct"):
                found += [(f"{name}.f", "int"), (f"{name}.g", "string")]
            elif column.type.startswith("map"):
                found += [(f"{name}['a']", "int"), (f"size(map_keys({name}))", "int")]
        return self._chance.choice(found) if found else None

    def of_type(self, type_name: str, scope: Scope, depth: int) -> str:
        """An expression of a type."""
        columns = [name for name, column in scope if column.type == type_name]
        if not depth or type_name not in PLAIN or self._maybe(0.4):
            if columns and self._maybe(0.85):
                return self._chance.choice(columns)
            return value(self._chance, type_name)
        general = (
            lambda: f"coalesce({self._two(type_name, scope, depth)})",
            lambda: (
                f"case when {self.condition(scope, depth - 1, subqueries=False)} then "
                f"{self.of_type(type_name, scope, depth - 1)} else "
                f"{self.of_type(type_name, scope, depth - 1)} end"
            ),
            lambda: f"nullif({self._two(type_name, scope, depth)})",
            lambda: (
                f"if({self.condition(scope, depth - 1, subqueries=False)}, "
                f"{self._two(type_name, scope, depth)})"
            ),
            lambda: f"greatest({self._two(type_name, scope, depth)})",
        )
        made = self._special(type_name, scope, depth) if self._maybe(0.5) else None
        return made or self._chance.choice(general)()

    def _two(self, type_name: str, scope: Scope, depth: int) -> str:
        one = self.of_type(type_name, scope, depth - 1)
        return f"{one}, {self.of_type(type_name, scope, depth - 1)}"

    def _special(self, type_name: str, scope: Scope, depth: int) -> str | None:
        forms = _SPECIAL.get(type_name)
        if forms is None:
            return None

        def drawn(found: re.Match[str]) -> str:
            name = "decimal(10,2)" if found.group(1) == "decimal" else found.group(1)
            return self.of_type(name, scope, depth - 1)

        return re.sub(r"\{(\w+)\}", drawn, self._chance.choice(forms))

    def pair(self, one: Scope, two: Scope, operator: str) -> str:
        """A comparison between two scopes."""
        pairs = [
            (a, b)
            for a, left in one
            for b, right in two
            if left.type == right.type and left.type in PLAIN
        ]
        if not pairs:
            name, column = self._chance.choice(one)
            if column.type not in PLAIN:
                return f"{name} is not null"
            return f"{name} {operator} {value(self._chance, column.type)}"
        left, right = self._chance.choice(pairs)
        return f"{left} {operator} {right}"

    def condition(self, scope: Scope, depth: int, subqueries: bool = True) -> str:
        """A condition; with subqueries only where it has to hold by itself."""
        if depth and self._maybe(0.4):
            one = self.condition(scope, depth - 1, False)
            two = self.condition(scope, depth - 1, False)
            if subqueries and self._maybe(0.4):
                return f"{self._subquery(scope)} and {one}"
            return self._chance.choice(
                (f"{one} and {two}", f"({one} or {two})", f"not ({one})", f"not ({one} or {two})")
            )
        if subqueries and self._maybe(0.3):
            return self._subquery(scope)
        name = self._chance.choice(
            [column.type for _, column in scope if column.type in PLAIN] or ["int"]
        )
        tested = self.of_type(name, scope, depth)
        literals = ", ".join(value(self._chance, name) for _ in range(2))
        low, high = (self._chance.choice(VALUES[name]) for _ in range(2))
        no = self._chance.choice(("", "not "))
        operator = self._chance.choice(("=", "<>", "<", ">=", "<=>", "!="))
        other = self.of_type(name, scope, 0)
        forms = [
            f"{tested} {operator} {other}",
            f"{tested} {operator} {other}",
            f"{tested} {no}in ({literals})",
            f"{tested} {no}between {low} and {high}",
            f"{tested} is {no}null",
            f"{tested} is {no}distinct from {other}",
        ]
        if name == "string":
            forms += [f"{tested} {no}like 'a%'", f"{tested} rlike '^[ab]$'"]
        if name == "boolean":
            forms += [tested, f"not {tested}", f"{tested} is true"]
        return self._chance.choice(forms)

    def aggregate(self, scope: Scope) -> tuple[str, str]:
        """A call of an aggregate function, or an expression of some, with its type."""
        type_name = self._chance.choice(PLAIN)
        text = self.of_type(type_name, scope, 1)
        number = self._chance.choice(_ADDED)
        added = self.of_type(number, scope, 1)
        total = {"double": "double", "decimal(10,2)": "decimal(20,2)"}.get(number, "bigint")
        where = self.condition(scope, 0, subqueries=False)
        forms = [
            ("count(*)", "bigint"),
            (f"count({text})", "bigint"),
            (f"sum({added})", total),
            (f"sum({added})", total),
            (f"avg({added})", "other"),
            (f"min({text})", type_name),
            (f"max({text})", type_name),
            (f"count(distinct {text})", "bigint"),
            (f"sum(distinct {added})", total),
            (f"sum({added}) / count(*)", "other"),
            (f"coalesce(sum({added}), 0)", total),
            (f"max({text}) is null", "boolean"),
            (f"count(*) + count({text})", "bigint"),
            (f"sum(case when {where} then 1 else 0 end)", "bigint"),
            (f"count(*) filter (where {where})", "bigint"),
            (f"count_if({where})", "bigint"),
            (f"bool_or({where})", "boolean"),
            (f"sort_array(collect_set({text}))", f"array<{type_name}>"),
            ("sum(1)", "bigint"),
            ("count(1)", "bigint"),
            (f"count({text}, {added})", "bigint"),
            (f"count(distinct {text}, {added})", "bigint"),
            (f"mean({added})", "other"),
            (f"try_sum({added})", "other"),
            (f"some({where})", "boolean"),
            (f"max_by({text}, {added}) is null", "boolean"),
            (f"stddev_pop({added}) > 1", "boolean"),
            (f"sum({added}) filter (where {where})", total),
        ]
        return self._chance.choice(forms)

    def on_group(self, scope: Scope) -> str:
        """A condition of HAVING."""
        name = self._chance.choice(PLAIN)
        text = self.of_type(name, scope, 0)
        return self._chance.choice(
            (
                "count(*) > 1",
                f"count(distinct {text}) < 2",
                f"min({text}) is not null",
                f"max({text}) = {self._chance.choice(VALUES[name])}",
                f"count({text}) = count(*) or count(*) > 2",
            )
        )

    def window(self, scope: Scope, keys: Sequence[str], order: Sequence[str]) -> tuple[str, str]:
        """A window function over a partition, in a total order."""
        by = f"partition by {', '.join(keys)}"
        names = self._chance.sample(order, len(order))
        ordered = [name + self._chance.choice(("", " desc", " nulls last")) for name in names]
        total = f"{by} order by {', '.join(ordered)}"
        type_name = self._chance.choice(PLAIN)
        text = self.of_type(type_name, scope, 1)
        number = self.of_type("int", scope, 1)
        frame = "rows between 1 preceding and current row"
        forms = [
            (f"row_number() over ({total})", "int"),
            (f"rank() over ({by} order by {ordered[0]})", "int"),
            (f"dense_rank() over ({total})", "int"),
            (f"lag({names[0]}) over ({total})", "other"),
            (f"lead({names[-1]}, 1) over ({total})", "other"),
            (f"count(*) over ({by})", "bigint"),
            (f"sum({number}) over ({by})", "bigint"),
            (f"max({text}) over ({by})", type_name),
            (f"sum({number}) over ({by} order by {ordered[0]})", "bigint"),
            (f"first_value({names[0]}) over ({total})", "other"),
            (f"count({text}) over ({total} {frame})", "bigint"),
            (f"ntile(2) over ({total})", "int"),
        ]
        return self._chance.choice(forms)
