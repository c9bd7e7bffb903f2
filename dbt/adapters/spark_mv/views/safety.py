"""What a definition may not contain, read off its tokens and tree before anything runs."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.core.errors import NotAQuery, UnsafeQuery
from dbt.adapters.spark_mv.sql.reads import parse
from dbt.adapters.spark_mv.sql.spark_functions import RUN_CODE
from dbt.adapters.spark_mv.sql.statement import Kind, classify
from dbt.adapters.spark_mv.sql.words import has_several, words_of

MAX_QUERY_BYTES = 1_000_000
_UNSAFE_FUNCTIONS = RUN_CODE | {"read_files", "read_state", "read_kafka"}
_SHOWN = 6
_QUERIES = (exp.Query, exp.Values)


def check_query(query: str, owner: str, allow_unsafe: bool) -> None:
    """Raise `NotAQuery` or `UnsafeQuery` unless `query` is one query that stays in the catalog."""
    if len(query.encode()) > MAX_QUERY_BYTES:
        raise NotAQuery(
            f"The query of {owner} is larger than {MAX_QUERY_BYTES:,} bytes.",
            "Move constant data into a seed.",
        )
    if query.lstrip().startswith("\ufeff"):
        raise NotAQuery(
            f"The query of {owner} begins with a byte-order mark, which Spark cannot parse.",
            "Save the file as UTF-8 without it.",
        )
    words = words_of(query)
    if not words:
        raise NotAQuery(f"{owner} has no query.", "Write one SELECT.")
    tree = parse(query)
    # A query that cannot be parsed here is read by Spark.
    is_query = classify(query).kind is Kind.QUERY and not has_several(query)
    if not (isinstance(tree, _QUERIES) if tree is not None else is_query):
        beginning = " ".join(word.text for word in words[:_SHOWN])
        why = "it is several statements" if has_several(query) else f"it begins with {beginning!r}"
        raise NotAQuery(
            f"The definition of {owner} is not one query that can be parsed: {why}.",
            "Write one SELECT; DML and several statements are not supported.",
        )
    if not allow_unsafe:
        refuse_unsafe(query, owner)


def refuse_unsafe(query: str, owner: str) -> None:
    """Raise `UnsafeQuery` if `query`, or the text of a view that it reads, runs code."""
    words = words_of(query)
    for word, following in zip(words, words[1:], strict=False):
        name = word.text.lower()
        if name in _UNSAFE_FUNCTIONS and following.text == "(" and not following.string:
            raise _unsafe(owner, f"calls {name}()")
    for word, following in zip(words, words[1:], strict=False):
        if word.upper == "USING" and following.string:
            raise _unsafe(owner, "runs a script (TRANSFORM .. USING)")


def _unsafe(owner: str, what: str) -> UnsafeQuery:
    return UnsafeQuery(
        f"{owner} {what}: a refresh would run code outside of SQL.",
        "Remove it, or set allow_unsafe_sql: true in the profile if you trust all who edit models.",
    )
