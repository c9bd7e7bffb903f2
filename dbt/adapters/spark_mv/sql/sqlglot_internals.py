"""What is used of sqlglot beyond its documented interface, in one place.

`tests/unit/sql/test_sqlglot_internals.py` says by name which of these a new version has moved.
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot.dialects.dialect import DialectType
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType


class SparkTokenizer(Spark.Tokenizer):
    """Spark's tokens. A quote that stands twice in a text is one of its characters, not the end of
    one text and the beginning of another."""

    STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'", '"']


__all__ = [
    "DialectType",
    "Spark",
    "SparkParser",
    "SparkTokenizer",
    "SqlglotError",
    "Token",
    "TokenType",
]
