"""Reads SQL into trees as Spark understands it, where sqlglot by itself does not."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt.adapters.spark_mv.sql.sqlglot_internals import (
    DialectType,
    Spark,
    SparkParser,
    SparkTokenizer,
    Token,
    TokenType,
)

# sqlglot would have PERCENTILE_APPROX of them, which has other values.
_LEFT_ALONE = ("PERCENTILE_CONT", "PERCENTILE_DISC")
# With a second argument that says whether they pass over NULL, which sqlglot knows only as TRUE.
_PASSING_OVER_NULL = ("FIRST_VALUE", "LAST_VALUE", "ANY_VALUE")
# Where a tree keeps the format that DATE_FORMAT was given.
WRITTEN_FORMAT = "written_format"
_UNITS_OF_DAYS = frozenset("YEAR YYYY YY QUARTER MONTH MM MON WEEK".split())
_UNITS = {
    "TRUNC": _UNITS_OF_DAYS,
    "DATE_TRUNC": _UNITS_OF_DAYS
    | frozenset("DAY DD HOUR MINUTE SECOND MILLISECOND MICROSECOND".split()),
}


def _minding_false(function: Callable[..., exp.Expr]) -> Callable[..., exp.Expr]:
    def made(arguments: list[exp.Expr]) -> exp.Expr:
        if len(arguments) == 2 and arguments[1] == exp.false():
            # Whoever calls counts them again.
            arguments.pop()
        return function(arguments)

    return made


def _left_alone(name: str) -> Callable[..., exp.Expr]:
    def made(arguments: list[exp.Expr]) -> exp.Expr:
        return exp.Anonymous(this=name, expressions=arguments)

    return made


def _of_unit(name: str, place: int) -> Callable[..., exp.Expr]:
    """The reader of a function that has a unit of time as its argument at `place`: sqlglot takes
    columns for units, and spells short names out that Spark does not know."""
    function, other = SparkParser.FUNCTIONS[name], _left_alone(name)

    def made(arguments: list[exp.Expr]) -> exp.Expr:
        unit = arguments[place] if len(arguments) == 2 else None
        is_known = isinstance(unit, exp.Literal) and unit.name.upper() in _UNITS[name]
        return function(arguments) if is_known else other(arguments)

    return made


def _formatted(arguments: list[exp.Expr], dialect: DialectType) -> exp.Expr:
    """DATE_FORMAT with the format as it is written: sqlglot spells `y` and others out."""
    made = SparkParser.FUNCTIONS["DATE_FORMAT"](arguments, dialect)
    written = arguments[1] if len(arguments) == 2 else None
    if isinstance(written, exp.Literal):
        made.meta[WRITTEN_FORMAT] = written.name
    return made


class _SparkSql(Spark):
    class Tokenizer(SparkTokenizer):
        pass

    class Parser(SparkParser):
        COLON_IS_VARIANT_EXTRACT = True
        FUNCTIONS = {
            name: _minding_false(function) if name in _PASSING_OVER_NULL else function
            for name, function in SparkParser.FUNCTIONS.items()
            if name not in _LEFT_ALONE
        }
        FUNCTIONS |= {"DATE_FORMAT": _formatted}
        FUNCTIONS |= {"TRUNC": _of_unit("TRUNC", 1), "DATE_TRUNC": _of_unit("DATE_TRUNC", 0)}

    def tokenize(self, sql: str, dialect: DialectType = None) -> list[Token]:
        """The tokens of a text, in which `window(` is a call and begins no clause."""
        tokens = super().tokenize(sql, dialect)
        for token, following in zip(tokens, tokens[1:], strict=False):
            called = following.token_type == TokenType.L_PAREN
            if token.token_type == TokenType.WINDOW and called:
                token.token_type = TokenType.VAR
        return tokens


def statements(sql: str) -> list[exp.Expr | None]:
    """The trees of the statements in a text; raises `SqlglotError` and what else sqlglot may."""
    return _SparkSql().parse(sql)
