"""Reads SQL into trees as Spark understands it, where sqlglot by itself does not."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.sql.respelling import Builder, Respelling
from dbt.adapters.spark_mv.sql.sqlglot_internals import Spark, SparkParser, SparkTokenizer

# sqlglot would have PERCENTILE_APPROX of them, which has other values.
_LEFT_ALONE = ("PERCENTILE_CONT", "PERCENTILE_DISC")
# Where a tree keeps the format that DATE_FORMAT was given.
WRITTEN_FORMAT = "written_format"
_UNITS_OF_DAYS = frozenset("YEAR YYYY YY QUARTER MONTH MM MON WEEK".split())
_UNITS = {
    "TRUNC": _UNITS_OF_DAYS,
    "DATE_TRUNC": _UNITS_OF_DAYS
    | frozenset("DAY DD HOUR MINUTE SECOND MILLISECOND MICROSECOND".split()),
}


def _left_alone(name: str) -> Builder:
    def made(arguments: list[exp.Expr]) -> exp.Expr:
        return exp.Anonymous(this=name, expressions=arguments)

    return made


def _of_unit(name: str, place: int) -> Builder:
    """The reader of a function that has a unit of time as its argument at `place`: sqlglot takes
    columns for units, and spells short names out that Spark does not know."""
    function, other = SparkParser.FUNCTIONS[name], _left_alone(name)

    def made(arguments: list[exp.Expr]) -> exp.Expr:
        unit = arguments[place] if len(arguments) == 2 else None
        is_known = isinstance(unit, exp.Literal) and unit.name.upper() in _UNITS[name]
        return function(arguments) if is_known else other(arguments)

    return made


def _formatted(arguments: list[exp.Expr]) -> exp.Expr:
    """DATE_FORMAT with the format as it is written: sqlglot spells `y` and others out."""
    made = SparkParser.FUNCTIONS["DATE_FORMAT"](arguments, _SparkSql())
    written = arguments[1] if len(arguments) == 2 else None
    if isinstance(written, exp.Literal):
        made.meta[WRITTEN_FORMAT] = written.name
    return made


_BUILDERS: dict[str, Builder] = {
    **{name: _left_alone(name) for name in _LEFT_ALONE},
    "DATE_FORMAT": _formatted,
    "TRUNC": _of_unit("TRUNC", 1),
    "DATE_TRUNC": _of_unit("DATE_TRUNC", 0),
}


class _SparkSql(Spark):
    Tokenizer = SparkTokenizer


def statements(sql: str) -> list[exp.Expr | None]:
    """The trees of the statements in a text; raises `SqlglotError` and what else sqlglot may."""
    spark, spelled = _SparkSql(), Respelling(_BUILDERS)
    trees = spark.parser().parse(spelled.tokens(spark.tokenize(sql)), sql)
    return [spelled.restored(tree) for tree in trees]
