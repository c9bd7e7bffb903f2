"""What makes the rows of a query others without any write to its tables."""

from __future__ import annotations

import re
from functools import lru_cache

from dbt.adapters.spark_mv.sql.words import Word, words_of

_VOLATILE = frozenset(
    {
        "CURRENT_TIMESTAMP",
        "CURRENT_DATE",
        "CURRENT_TIME",
        "LOCALTIMESTAMP",
        "CURRENT_USER",
        "USER",
        "SESSION_USER",
        "NOW",
        "CURDATE",
        "RAND",
        "RANDOM",
        "RANDN",
        "RANDSTR",
        "UUID",
        "SHUFFLE",
        "UNIX_TIMESTAMP",
        "CURRENT_TIMEZONE",
        "MONOTONICALLY_INCREASING_ID",
        "UNIFORM",
        "AES_ENCRYPT",
        "INPUT_FILE_NAME",
        "INPUT_FILE_BLOCK_START",
        "INPUT_FILE_BLOCK_LENGTH",
        "SPARK_PARTITION_ID",
        "CURRENT_CATALOG",
        "CURRENT_DATABASE",
        "CURRENT_SCHEMA",
        "VERSION",
    }
)
_WITHOUT_PARENTHESES = frozenset(
    {"CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME", "LOCALTIMESTAMP", "CURRENT_USER"}
)
# Words that Spark, planning a query, replaces by a moment wherever they are cast to one.
_MOMENTS = re.compile(r"\s*(?:now|today|tomorrow|yesterday)(?:\s+\S+)?\s*", re.IGNORECASE)
# Such a word may be put together of so many texts before it is cast.
_PIECES = 4
# Columns of Iceberg and of Spark that say where a row is stored, not what is in it.
_OF_STORAGE = frozenset(
    {
        "_FILE",
        "_POS",
        "_PARTITION",
        "_SPEC_ID",
        "_DELETED",
        "_ROW_ID",
        "_LAST_UPDATED_SEQUENCE_NUMBER",
        "_METADATA",
    }
)
_KNOWN_QUERIES = 4096


@lru_cache(_KNOWN_QUERIES)
def volatile_functions(query: str) -> tuple[str, ...]:
    """What in a query has another value at another moment, without any change of a table:
    functions, and texts such as 'today', which may be cast to a moment.
    """
    words = words_of(query)
    found = [
        word.upper.lower()
        for index, word in enumerate(words)
        if word.upper in _VOLATILE
        and (
            word.upper in _WITHOUT_PARENTHESES
            or (index + 1 < len(words) and words[index + 1].text == "(")
        )
    ]
    return tuple(dict.fromkeys([*found, *_moments(words)]))


def _moments(words: tuple[Word, ...]) -> list[str]:
    """Texts that stand for a moment, or might if they are put together."""
    texts = [word.text for word in words if word.string]
    joined = (
        "".join(texts[start : start + size])
        for size in range(1, _PIECES + 1)
        for start in range(len(texts) - size + 1)
    )
    return [repr(text.strip()) for text in joined if _MOMENTS.fullmatch(text)]


@lru_cache(_KNOWN_QUERIES)
def storage_columns(query: str) -> tuple[str, ...]:
    """Columns of a query that say where rows are stored: compaction changes them."""
    found = [word.text for word in words_of(query) if word.text.upper() in _OF_STORAGE]
    return tuple(dict.fromkeys(found))
