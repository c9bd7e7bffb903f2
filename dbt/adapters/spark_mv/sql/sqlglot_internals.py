"""What is used of sqlglot beyond its documented interface, in one place.

`tests/unit/sql/test_sqlglot_internals.py` says by name which of these a new version has moved.
"""

from __future__ import annotations

from sqlglot.dialects.dialect import DialectType
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

__all__ = ["DialectType", "Spark", "SparkParser", "SqlglotError", "Token", "TokenType"]
