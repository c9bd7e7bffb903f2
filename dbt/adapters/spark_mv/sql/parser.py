"""Reads SQL into trees as Spark understands it, where sqlglot by itself does not."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt.adapters.spark_mv.sql.sqlglot_internals import (
    DialectType,
    Spark,
    SparkParser,
    Token,
    TokenType,
)

# sqlglot would have PERCENTILE_APPROX of them, which has other values.
_LEFT_ALONE = ("PERCENTILE_CONT", "PERCENTILE_DISC")
# With a second argument that says whether they pass over NULL, which sqlglot knows only as TRUE.
_PASSING_OVER_NULL = ("FIRST_VALUE", "LAST_VALUE", "ANY_VALUE")


def _minding_false(function: Callable[..., exp.Expr]) -> Callable[..., exp.Expr]:
    def made(arguments: list[exp.Expr]) -> exp.Expr:
        if len(arguments) == 2 and arguments[1] == exp.false():
            # Whoever calls counts them again.
            arguments.pop()
        return function(arguments)

    return made


class _SparkSql(Spark):
    class Parser(SparkParser):
        COLON_IS_VARIANT_EXTRACT = True
        FUNCTIONS = {
            name: _minding_false(function) if name in _PASSING_OVER_NULL else function
            for name, function in SparkParser.FUNCTIONS.items()
            if name not in _LEFT_ALONE
        }

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
