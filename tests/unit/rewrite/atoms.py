"""Conditions and values of random queries, over the columns of two small tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

COLUMNS: dict[str, dict[str, str]] = {
    "r": {
        "id": "int",
        "a": "int",
        "b": "int",
        "k": "bigint",
        "m": "decimal(10,2)",
        "d": "date",
        "g": "string",
        "h": "string",
        "x": "double",
    },
    "s": {"id": "int", "a": "int", "c": "int", "g": "string", "d": "date", "m": "decimal(10,2)"},
    # Of types that only some cases are about.
    "z": {
        "id": "int",
        "t": "timestamp",
        "c": "char(3)",
        "l": "string collate utf8_lcase",
        "w": "decimal(38,0)",
    },
    # Of a shop, for views and queries as they are written there.
    "orders": {
        "order_id": "int",
        "customer_id": "int",
        "store_id": "int",
        "status": "string",
        "amount": "decimal(10,2)",
        "tax": "decimal(4,2)",
        "order_date": "date",
        "ordered_at": "timestamp",
        "is_gift": "boolean",
    },
    "items": {
        "order_id": "int",
        "product_id": "int",
        "quantity": "int",
        "price": "decimal(10,2)",
        "discount": "decimal(4,2)",
        "ship_date": "date",
        "return_flag": "string",
    },
    "customers": {
        "customer_id": "int",
        "name": "string",
        "country": "string",
        "segment": "string",
        "signup_date": "date",
    },
}
# Tables that are joined to others: `k` is unique but in the last, and has all values in the first.
DIMENSIONS = ("whole_dim", "part_dim", "many_dim")
COLUMNS |= {name: {"k": "int", "q": "int", "w": "string"} for name in DIMENSIONS}
# With structures, one in another.
DEVICE = "struct<os:struct<name:string,Major:int>,id:int,seen:date>"
NESTED = "events"
COLUMNS[NESTED] = {"id": "int", "device": DEVICE, "os": "int"}
LITERALS: dict[str, tuple[str, ...]] = {
    "int": ("0", "1", "2", "3"),
    "bigint": ("0", "1", "2", "3"),
    "decimal(10,2)": ("0.5", "1", "1.50", "2.25", "1.499"),
    "string": ("'x'", "'y'", "'xy'"),
    "double": ("0.0", "0.5", "-1.5"),
    "date": (
        "'2024-01-01'",
        "DATE '2024-01-31'",
        "'2024-02-29'",
        "DATE '2024-03-01'",
        "'2024-03-31'",
        "'2024-04-01'",
        "'2023-12-31'",
    ),
}
COMPARISONS = ("<", "<=", "=", ">=", ">")
UNITS = ("MONTH", "QUARTER", "YEAR", "WEEK", "DAY")

# Conditions on a column and three constants.
_FORMS = (
    "{0} IN ({1}, {2})",
    "{0} IN ({1})",
    "{0} IN ({1}, {2}, {3})",
    "{0} IN ({1}, NULL)",
    "{0} NOT IN ({1}, {2})",
    "{0} NOT IN ({1}, NULL)",
    "({0} = {1} OR {0} = {2})",
    "{0} BETWEEN {1} AND {2}",
    "NOT {0} BETWEEN {1} AND {2}",
    "{0} <> {1}",
    "NOT ({0} < {1})",
    "NOT ({0} = {1})",
    "{0} IS NULL",
    "{0} IS NOT NULL",
    "{0} IS DISTINCT FROM {1}",
    "{0} <=> {1}",
    "{0} = {0}",
    "COALESCE({0}, {1}) > {2}",
    "CASE WHEN {0} < {1} THEN {0} = {2} ELSE {0} IS NULL END",
    "NULLIF({0}, {1}) IS NULL",
    "(({0} > {1} AND {0} < {2}) OR {0} IS NULL)",
    "NOT (({0} > {1} OR {0} <= {2}) AND {0} <> {3})",
)
_FORMS_OF = {
    "int": (
        "{0} > 0.5",
        "{0} <= 1.5",
        "{0} = 1.0",
        "{0} + 1 > {1}",
        "{0} % 2 = {1}",
        "{0} - (1 - {0}) > {1}",
    ),
    "date": (
        "YEAR({0}) = 2024",
        "DATE_TRUNC('MONTH', {0}) = DATE '2024-02-01'",
        "MONTH({0}) < 3",
        "{0} BETWEEN '2024-01-01' AND '2024-03-31'",
    ),
    "string": ("{0} LIKE 'x%'", "{0} NOT LIKE '%y'", "UPPER({0}) = 'X'"),
    "double": ("1 / {0} > 0", "CAST({0} AS STRING) = '0.0'"),
}


@dataclass(frozen=True)
class Atom:
    """A condition; of a comparison the parts are known, so that it can be made wider."""

    text: str
    aliases: tuple[str, ...]
    column: str = ""
    operator: str = ""
    literal: str = ""
    type: str = ""

    def changed(self, random: Random) -> Atom:
        """A comparison with another operator or constant; other conditions as they are."""
        if not self.operator:
            return self
        operator, literal = self.operator, self.literal
        if random.random() < 0.6:
            other = {
                "<": "<=",
                "<=": "<",
                ">": ">=",
                ">=": ">",
                "=": random.choice("<=,>=".split(",")),
            }
            operator = other[operator]
        else:
            literal = random.choice(LITERALS[self.type])
        return compared(self.column, operator, literal, self.type)


def compared(column: str, operator: str, literal: str, type_name: str) -> Atom:
    """A comparison of a column with a constant."""
    text = f"{column} {operator} {literal}"
    return Atom(text, (column.split(".")[0],), column, operator, literal, type_name)


def any_column(random: Random, tables: dict[str, str], *types: str) -> tuple[str, str]:
    """A column of some alias, and its type."""
    found = [
        (f"{alias}.{name}", kind)
        for alias, table in tables.items()
        for name, kind in COLUMNS[table].items()
        if name != "id" and (not types or kind in types)
    ]
    return random.choice(found)


def atom(random: Random, tables: dict[str, str]) -> Atom:
    """A condition on rows, in four of five cases of one column."""
    if random.random() < 0.5:
        column, kind = any_column(random, tables)
        return compared(column, random.choice(COMPARISONS), random.choice(LITERALS[kind]), kind)
    if random.random() < 0.25:
        return _of_two(random, tables)
    column, kind = any_column(random, tables)
    values = [random.choice(LITERALS[kind]) for _ in range(3)]
    texts = [*_FORMS, *_FORMS_OF.get(kind, ())]
    return Atom(random.choice(texts).format(column, *values), (column.split(".")[0],))


def _of_two(random: Random, tables: dict[str, str]) -> Atom:
    kind = random.choice(("int", "int", "int", "string", "date", "decimal(10,2)"))
    one, _ = any_column(random, tables, kind)
    two, _ = any_column(random, tables, kind)
    forms = ["{0} = {1}"] * 6 + ["{0} <=> {1}", "{0} < {1}", "{1} >= {0}", "{0} <> {1}"]
    forms += ["({0} = {1} OR {0} IS NULL)", "NOT ({0} = {1})", "COALESCE({0}, {1}) = {1}"]
    text = random.choice(forms).format(one, two)
    return Atom(text, tuple({one.split(".")[0], two.split(".")[0]}))


def nested(random: Random, tables: dict[str, str], depth: int = 2) -> Atom:
    """Conditions in AND, OR, NOT and CASE."""
    if depth == 0 or random.random() < 0.7:
        return atom(random, tables)
    one, two = nested(random, tables, depth - 1), nested(random, tables, depth - 1)
    forms = ("({0} OR {1})", "({0} AND {1})", "NOT ({0} OR {1})", "NOT ({0} AND {1})")
    forms += ("CASE WHEN {0} THEN {1} ELSE FALSE END", "({0} AND ({1} OR {0}))")
    return Atom(random.choice(forms).format(one.text, two.text), (*one.aliases, *two.aliases))


@dataclass(frozen=True)
class Item:
    """A value that is selected: its text, its type in Spark, and what it is."""

    text: str
    type: str
    is_call: bool = False
    alias: str = ""

    def named(self, alias: str) -> Item:
        """The value under a name."""
        return replace(self, alias=alias)


def value(random: Random, tables: dict[str, str]) -> Item:
    """A value of a row: mostly a column, or a function of one."""
    column, kind = any_column(random, tables)
    if random.random() < 0.6:
        return Item(column, kind)
    if kind == "date":
        unit = random.choice(UNITS)
        part = random.choice(("YEAR", "MONTH", "QUARTER", "DAYOFMONTH", "WEEKOFYEAR"))
        trunc = Item(f"DATE_TRUNC('{unit}', {column})", "timestamp")
        return random.choice((trunc, trunc, Item(f"{part}({column})", "int")))
    if kind == "string":
        return Item(random.choice((f"UPPER({column})", f"COALESCE({column}, 'z')")), "string")
    if kind == "int":
        other, _ = any_column(random, tables, "int")
        texts = (f"{column} + {other}", f"{column} - ({other} - 1)", f"COALESCE({column}, 1)")
        return Item(random.choice((*texts, f"CASE WHEN {column} > 1 THEN {column} END")), "int")
    if kind == "double":
        return Item(f"CAST({column} AS STRING)", "string")
    return Item(column, kind)


SUMS = {"int": "bigint", "bigint": "bigint", "decimal(10,2)": "decimal(20,2)", "double": "double"}
AVERAGES = {"int": "double", "bigint": "double", "decimal(10,2)": "decimal(14,6)"}


def call(random: Random, tables: dict[str, str]) -> Item:
    """A call of an aggregate function."""
    name = random.choice(("ROWS", "COUNT", "SUM", "SUM", "AVG", "MIN", "MAX", "DISTINCT", "IF"))
    if name == "ROWS":
        return Item(random.choice(("COUNT(*)", "COUNT(1)")), "bigint", True)
    types = ("int", "bigint", "decimal(10,2)") if name in ("SUM", "AVG") else ()
    column, kind = any_column(random, tables, *types)
    argument = column
    if random.random() < 0.25:
        condition = atom(random, tables).text
        if name == "IF" or random.random() < 0.3:
            return Item(f"COUNT_IF({condition})", "bigint", True)
        if random.random() < 0.5:
            argument = f"CASE WHEN {condition} THEN {column} END"
        else:
            return Item(
                f"{_called(name, column)} FILTER (WHERE {condition})", _type(name, kind), True
            )
    return Item(_called(name, argument), _type(name, kind), True)


def _called(name: str, argument: str) -> str:
    if name in ("DISTINCT", "IF"):
        return f"COUNT(DISTINCT {argument})"
    return f"{name}({argument})"


def _type(name: str, kind: str) -> str:
    if name in ("MIN", "MAX"):
        return kind
    return {"SUM": SUMS, "AVG": AVERAGES}.get(name, {}).get(kind, "bigint")
