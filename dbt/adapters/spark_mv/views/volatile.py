"""What makes the rows of a query others without any write to its tables."""

from __future__ import annotations

from functools import lru_cache

from dbt.adapters.spark_mv.sql.words import words_of
from dbt.adapters.spark_mv.views.clock import clock_names

_VOLATILE = frozenset(
    {
        "CURRENT_USER",
        "USER",
        "SESSION_USER",
        "RAND",
        "RANDOM",
        "RANDN",
        "RANDSTR",
        "UUID",
        "SHUFFLE",
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
_WITHOUT_PARENTHESES = frozenset({"CURRENT_USER"})
# Columns that Iceberg has of its own, and Spark, say where a row is stored, not what is in it.
METADATA_COLUMNS = frozenset(
    "_file _pos _partition _spec_id _deleted _row_id _last_updated_sequence_number".split()
)
_OF_STORAGE = METADATA_COLUMNS | {"_metadata"}
_KNOWN_QUERIES = 4096


@lru_cache(_KNOWN_QUERIES)
def volatile_functions(query: str) -> tuple[str, ...]:
    """The functions of a query that have another value each time, without any change of a table,
    and whatever the clock says."""
    words = words_of(query)
    following = [*(word.text for word in words[1:]), ""]
    # A function may be called by its name in backticks.
    found = [
        word.text.lower()
        for word, after in zip(words, following, strict=False)
        if not word.string
        and word.text.upper() in _VOLATILE
        and (word.upper in _WITHOUT_PARENTHESES or after == "(")
    ]
    return tuple(dict.fromkeys(found))


def unstable(query: str) -> tuple[str, ...]:
    """What makes rows of a query others without a write: `volatile_functions`, and the clock."""
    return tuple(dict.fromkeys((*volatile_functions(query), *clock_names(query))))


@lru_cache(_KNOWN_QUERIES)
def names_files(query: str) -> bool:
    """Whether rows of a query say in which files of its tables they are."""
    calls = (call.upper() for call in volatile_functions(query))
    return bool(storage_columns(query)) or any(call.startswith("INPUT_FILE_") for call in calls)


def storage_columns(query: str) -> tuple[str, ...]:
    """Columns of a query that say where rows are stored: compaction changes them.

    >>> storage_columns("select id as _pos, _file from orders")
    ('_file',)
    """
    words = words_of(query)
    found = [
        word.text
        for index, word in enumerate(words)
        if word.text.lower() in _OF_STORAGE and not (index and words[index - 1].upper == "AS")
    ]
    return tuple(dict.fromkeys(found))
