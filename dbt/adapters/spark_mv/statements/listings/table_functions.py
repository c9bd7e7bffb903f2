"""mv_dependencies('view') and stale_partitions('view'), table functions that Spark does not have.

In a statement that goes through dbt each call stands for the rows that it returns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.errors import InvalidStatement
from dbt.adapters.spark_mv.planning.partition_lineage import PartitionLineage
from dbt.adapters.spark_mv.sql.names import Namespace, TableName, in_schema, literal, parse_name
from dbt.adapters.spark_mv.sql.words import Word, words_of
from dbt.adapters.spark_mv.views.registry import find_view

Rows = list[tuple[str | int | bool | None, ...]]
CALLED = re.compile(r"\b(?:mv_dependencies|stale_partitions)\s*\(", re.IGNORECASE)
COLUMNS = {
    "mv_dependencies": {
        "target": "STRING",
        "source_table_catalog": "STRING",
        "source_table_schema": "STRING",
        "source_table_name": "STRING",
        "source_uri": "STRING",
        "source_last_modified": "TIMESTAMP",
    },
    "stale_partitions": {
        "target": "STRING",
        "source_last_modified": "TIMESTAMP",
        "target_last_modified": "TIMESTAMP",
        "is_stale": "BOOLEAN",
    },
}


def rows_of(lineage: PartitionLineage, function: str, view: TableName) -> Rows:
    """The rows of a call, under the function's `COLUMNS`; moments in epoch milliseconds."""
    if function == "stale_partitions":
        return [
            (s.target, s.source_last_modified, s.target_last_modified, s.is_stale)
            for s in lineage.target_states(view)
        ]
    return [
        (
            edge.target,
            edge.source.catalog,
            ".".join(edge.source.namespace),
            edge.source.name,
            edge.source_uri,
            edge.source_last_modified,
        )
        for edge in lineage.dependencies(view)
    ]


def rewrite_table_functions(
    sql: str,
    home: Namespace,
    lineage: PartitionLineage,
    resolver: Resolver,
    schemas: Sequence[str],
) -> str:
    """`sql` with each call as a subquery; `schemas` are where a bare name is looked for, too.

    Raises `InvalidStatement` if a call has another argument than one string, and
    `UnknownMaterializedView`.
    """

    def rows(function: str, name: str) -> str:
        view = _view_named(parse_name(name), home, resolver, schemas)
        return _subquery(COLUMNS[function], rows_of(lineage, function, view))

    return _replace_calls(sql, words_of(sql), rows)


def _view_named(
    parts: tuple[str, ...], home: Namespace, resolver: Resolver, schemas: Sequence[str]
) -> TableName:
    """The view of this name; a bare name means the current schema, or else that of the target."""
    name = resolver.resolve(parts, home)
    if len(parts) == 1 and find_view(resolver, name) is None:
        for schema in schemas:
            other = resolver.resolve(in_schema(schema, parts[0]), home)
            if find_view(resolver, other) is not None:
                return other
    return name


def _replace_calls(sql: str, words: Sequence[Word], rows: Callable[[str, str], str]) -> str:
    pieces: list[str] = []
    position = 0
    for index, word in enumerate(words[:-1]):
        function = word.text.lower()
        if word.string or word.quoted or function not in COLUMNS or words[index + 1].text != "(":
            continue
        argument, closing = (*words[index + 2 : index + 4], None, None)[:2]
        if argument is None or closing is None or not argument.string or closing.text != ")":
            raise InvalidStatement(
                f"{function} takes one argument, the name of a materialized view as a string.",
                f"For example: {function}('schema.name').",
            )
        pieces += [sql[position : word.start], rows(function, argument.text)]
        position = closing.end
    return "".join([*pieces, sql[position:]])


def _subquery(columns: dict[str, str], rows: Rows) -> str:
    names = ", ".join(columns)
    if not rows:
        empty = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in columns.items())
        return f"(SELECT {empty} WHERE false)"
    kinds = list(columns.values())
    values = ", ".join(
        "(" + ", ".join(_value(v, k) for v, k in zip(row, kinds, strict=True)) + ")" for row in rows
    )
    return f"(SELECT {names} FROM VALUES {values} AS mv_rows({names}))"


def _value(value: str | int | bool | None, kind: str) -> str:
    if value is None:
        return f"CAST(NULL AS {kind})"
    if kind == "TIMESTAMP":
        return f"timestamp_millis({value})"
    return literal(value) if isinstance(value, str) else str(value).lower()
