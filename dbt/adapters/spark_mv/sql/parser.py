"""Reads SQL into trees as Spark understands it, where sqlglot by itself does not.

Tokens that sqlglot would misread are spelled in another way until they are in a tree. A parser with
rules of its own would be shorter, but sqlglot's compiled form, `sqlglot[c]`, which another package
may have brought along, has no parsers that could be inherited from.
"""

from __future__ import annotations

import re
from typing import TypeGuard

from sqlglot import exp
from sqlglot.errors import ParseError

from dbt.adapters.spark_mv.sql.spark_functions import BUILDERS
from dbt.adapters.spark_mv.sql.sqlglot_internals import (
    Spark,
    SparkParser,
    SparkTokenizer,
    Token,
    TokenType,
)

# Before the name of a function, so that it is one that sqlglot does not know.
_UNKNOWN = "mv_unknown_"
# With a second argument that says whether they pass over NULL, which sqlglot knows only as TRUE.
_PASSING_OVER_NULL = ("FIRST_VALUE", "LAST_VALUE", "ANY_VALUE")
_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET)
_ENDS_OF_VALUES = frozenset((TokenType.IDENTIFIER, *_CLOSING, *SparkParser.ID_VAR_TOKENS))
_WORD = re.compile(r"[A-Za-z_]\w*")
_KINDS_OF_INDEX = (TokenType.STRING, TokenType.NUMBER)
_INTERVAL_UNIT = re.compile(
    "(year|month|week|day|hour|minute|second|millisecond|microsecond|nanosecond)s?"
)


class _SparkSql(Spark):
    Tokenizer = SparkTokenizer


class _Respelling:
    """One text's tokens in another spelling, and its trees as if read as Spark reads them."""

    def __init__(self) -> None:
        self._paths: list[str] = []
        self._has_unknown = False
        self._may_have_times = False

    def tokens(self, tokens: list[Token]) -> list[Token]:
        """The tokens to be parsed; some of those that came in are changed."""
        found: list[Token] = []
        kinds = {token.token_type for token in tokens}
        if TokenType.PIPE_GT in kinds:
            # sqlglot makes `|> where` a WHERE of the SELECT before it, whose groups it is of.
            raise ParseError("only Spark knows what stands behind |>")
        self._may_have_times = TokenType.TIME in kinds
        if TokenType.INTERVAL in kinds:
            tokens = _with_sums(tokens)
        left, depth_of_fields = 0, 0
        while left < len(tokens):
            token, following = tokens[left], tokens[left + 1 : left + 2]
            depth_of_fields = _depth_of_fields(depth_of_fields, tokens, left)
            if following and following[0].token_type == TokenType.L_PAREN:
                self._respell_call(tokens, left)
            if token.token_type == TokenType.COLON and not depth_of_fields and _is_value(found):
                path, after = _path(tokens, left + 1)
                if path:
                    found += self._numbered(token, path)
                    left = after
                    continue
            found.append(token)
            left += 1
        return found

    def _respell_call(self, tokens: list[Token], place: int) -> None:
        token, name = tokens[place], tokens[place].text.upper()
        if token.token_type == TokenType.WINDOW:
            # It begins no clause.
            token.token_type = TokenType.VAR
        elif name in BUILDERS:
            token.text, self._has_unknown = _UNKNOWN + token.text, True
        elif name in _PASSING_OVER_NULL:
            _drop_false(tokens, place + 1)

    def _numbered(self, colon: Token, path: str) -> list[Token]:
        """A path into a VARIANT, as a cast to a type with its number."""
        self._paths.append(path)
        spelled = (
            (TokenType.DOTCOLON, ".:"),
            (TokenType.DECIMAL, "DECIMAL"),
            (TokenType.L_PAREN, "("),
            (TokenType.NUMBER, str(len(self._paths) - 1)),
            (TokenType.R_PAREN, ")"),
        )
        place = (colon.line, colon.col, colon.start, colon.end)
        return [Token(kind, text, *place, []) for kind, text in spelled]

    def restored(self, tree: exp.Expr | None) -> exp.Expr | None:
        """A tree that was made of the tokens, as Spark understands the text."""
        if tree is not None and self._may_have_times:
            _refuse_times(tree)
        if tree is None or not (self._has_unknown or self._paths):
            return tree
        # From the innermost outwards: a node that is replaced has been done within.
        for node in reversed(list(tree.walk())):
            made = self._restored_node(node)
            if made is not node:
                tree = made if node is tree else tree
                node.replace(made)
        return tree

    def _restored_node(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.JSONCast):
            (number,) = node.args["to"].expressions
            path = exp.Literal.string(self._paths[int(number.name)])
            return exp.Anonymous(this="VARIANT_GET", expressions=[node.this, path])
        name = node.args.get("this")
        if not isinstance(name, str) or not name.startswith(_UNKNOWN):
            return node
        name = name.removeprefix(_UNKNOWN)
        if isinstance(node, exp.Anonymous):
            made = BUILDERS[name.upper()](node.expressions)
            for error in made.error_messages(node.expressions):
                raise ParseError(error)
            made.comments = node.comments
            return made
        node.set("this", name)
        return node


def _refuse_times(tree: exp.Expr) -> None:
    """sqlglot prints the type TIME as TIMESTAMP."""
    for kind in tree.find_all(exp.DataType):
        if kind.is_type("time"):
            raise ParseError("TIME is a type that is not known")


def _with_sums(tokens: list[Token]) -> list[Token]:
    """Intervals of several units as sums in parentheses: sqlglot takes a minus before one for that
    of its first unit alone."""
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        token, after = tokens[place], place + 1
        parts, after = _units(tokens, after) if _is(token, TokenType.INTERVAL) else ([], after)
        if len(parts) < 2:
            found.append(token)
            place += 1
            continue
        at = (token.line, token.col, token.start, token.end)
        found.append(Token(TokenType.L_PAREN, "(", *at, []))
        for number, part in enumerate(parts):
            plus = [Token(TokenType.PLUS, "+", *at, [])] if number else []
            found += [*plus, Token(TokenType.INTERVAL, token.text, *at, []), *part]
        found.append(Token(TokenType.R_PAREN, ")", *at, []))
        place = after
    return found


def _units(tokens: list[Token], place: int) -> tuple[list[list[Token]], int]:
    """The numbers and units that follow INTERVAL, and where they end."""
    parts: list[list[Token]] = []
    while True:
        start = place
        if _is(_at(tokens, place), TokenType.DASH, TokenType.PLUS):
            place += 1
        number, unit = _at(tokens, place), _at(tokens, place + 1)
        is_unit = unit is not None and _INTERVAL_UNIT.fullmatch(unit.text.lower()) is not None
        if not _is(number, *_KINDS_OF_INDEX) or not is_unit:
            return parts, start
        parts.append(tokens[start : place + 2])
        place += 2


def _is_value(before: list[Token]) -> bool:
    """Whether a value ends with these tokens; after others `:x` is a parameter."""
    return bool(before) and before[-1].token_type in _ENDS_OF_VALUES


def _depth_of_fields(depth: int, tokens: list[Token], place: int) -> int:
    """How many `STRUCT<` are open behind a token: there a colon stands before a type."""
    kind = tokens[place].token_type
    if kind == TokenType.LT and (depth or tokens[place - 1].token_type == TokenType.STRUCT):
        return depth + 1
    return depth - 1 if kind == TokenType.GT and depth else depth


def _drop_false(tokens: list[Token], opening: int) -> None:
    """Without the `, FALSE` that a call ends with."""
    depth, commas = 0, 0
    for place in range(opening, len(tokens)):
        kind = tokens[place].token_type
        depth += (kind in _OPENING) - (kind in _CLOSING)
        commas += kind == TokenType.COMMA and depth == 1
        if depth == 0:
            ends = [token.token_type for token in tokens[place - 2 : place]]
            if commas == 1 and ends == [TokenType.COMMA, TokenType.FALSE]:
                del tokens[place - 2 : place]
            return


def _path(tokens: list[Token], place: int) -> tuple[str, int]:
    """A path from a token on, as Spark hands it to VARIANT_GET, and where it ends; empty if there
    is none. What stands in quotes between dots is not quoted there."""
    path, first = "$", place
    while place < len(tokens):
        token, second, third = tokens[place], _at(tokens, place + 1), _at(tokens, place + 2)
        if token.token_type == TokenType.L_BRACKET:
            if not _is(second, *_KINDS_OF_INDEX) or not _is(third, TokenType.R_BRACKET):
                break
            is_text = second.token_type == TokenType.STRING
            path += f"['{second.text}']" if is_text else f"[{second.text}]"
            place += 3
        elif place == first and _is_key(token):
            path, place = f"{path}.{token.text}", place + 1
        elif token.token_type == TokenType.DOT and _is_key(second):
            path, place = f"{path}.{second.text}", place + 2
        else:
            break
    return (path, place) if path != "$" else ("", first)


def _at(tokens: list[Token], place: int) -> Token | None:
    return tokens[place] if place < len(tokens) else None


def _is(token: Token | None, *kinds: TokenType) -> TypeGuard[Token]:
    return token is not None and token.token_type in kinds


def _is_key(token: Token | None) -> TypeGuard[Token]:
    return _is(token, TokenType.IDENTIFIER) or (
        token is not None and bool(_WORD.fullmatch(token.text))
    )


def statements(sql: str) -> list[exp.Expr | None]:
    """The trees of the statements in a text; raises `SqlglotError` and what else sqlglot may."""
    spark, spelled = _SparkSql(), _Respelling()
    trees = spark.parser().parse(spelled.tokens(spark.tokenize(sql)), sql)
    return [spelled.restored(tree) for tree in trees]
