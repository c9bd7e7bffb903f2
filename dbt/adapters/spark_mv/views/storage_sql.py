"""Statements that build storage tables and the views over them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dbt.adapters.spark_mv.core.errors import InvalidOption, NotAQuery
from dbt.adapters.spark_mv.sql.names import TableName, literal, quote, quote_parts
from dbt.adapters.spark_mv.sql.words import words_of
from dbt.adapters.spark_mv.views.definition import (
    STORED,
    Column,
    Layout,
    MaterializedView,
    columns_in,
)
from dbt.adapters.spark_mv.views.volatile import METADATA_COLUMNS

_STORAGE_PROPERTIES = {
    "format-version": "2",
    "write.delete.mode": "merge-on-read",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
    "commit.retry.num-retries": "10",
    "commit.retry.min-wait-ms": "50",
    "commit.retry.max-wait-ms": "2000",
}
# Types that Iceberg's tables of format version 2 lack, at any depth; fields may have such names.
_NOT_STORED = re.compile(r"(?:^|[<,:])(?:void|variant|time|interval[\w ]*)(?:[,>(]|$)")
# The property by which a storage table is known: its name alone may be that of a user's table.
STORAGE_MARK = "mv.storage_of"


def describe_query(query: str) -> str:
    """Names and types of a query's output."""
    return f"DESCRIBE QUERY {query}"


def create_storage(view: MaterializedView, query: str) -> str:
    """CTAS of the storage table with the rows of `query`."""
    partitions = ", ".join(_stored_key(key, view) for key in view.layout.partition_by)
    partitioned = f"PARTITIONED BY ({partitions}) " if partitions else ""
    # Rows of one partition come together, so that no task writes a file for each.
    mode = "hash" if partitions else "none"
    written = {"write.distribution-mode": mode, **view.options.tblproperties}
    mark = {STORAGE_MARK: view.name.full}
    properties = _properties({**_STORAGE_PROPERTIES, **written, **mark})
    return (
        f"CREATE TABLE {view.storage.sql} USING iceberg {partitioned}"
        f"TBLPROPERTIES ({properties}) AS {_select(view, query)}"
    )


ALL_ROWS, NO_ROWS = "true", "false"


def write_storage(view: MaterializedView, branch: str, query: str, instead_of: str) -> str:
    """Writes the rows of `query` to one branch of the storage table, in place of those that meet
    the condition `instead_of`."""
    target = _branch(view, branch)
    if instead_of == ALL_ROWS:
        return f"INSERT OVERWRITE {target} {_select(view, query)}"
    where = "" if instead_of == NO_ROWS else f"REPLACE WHERE {instead_of} "
    return f"INSERT INTO {target} {where}{_select(view, query)}"


def write_nothing(view: MaterializedView, branch: str | None) -> str:
    """Commits to the storage table, or to one branch of it, without changing a row."""
    target = view.storage.sql if branch is None else _branch(view, branch)
    return f"INSERT INTO {target} SELECT * FROM {view.storage.sql} WHERE false"


def take_away(view: MaterializedView, branch: str, condition: str) -> str:
    """Deletes those rows of one branch of the storage table that meet a condition on mv_stored."""
    return f"DELETE FROM {_branch(view, branch)} AS {STORED} WHERE {condition}"


def _branch(view: MaterializedView, branch: str) -> str:
    return f"{view.storage.sql}.{quote('branch_' + branch)}"


def order_storage(view: MaterializedView) -> str:
    """Makes later writes sort the rows inside each file."""
    columns = ", ".join(quote(key) for key in _sort_keys(view.layout.cluster_by, view))
    return f"ALTER TABLE {view.storage.sql} WRITE LOCALLY ORDERED BY {columns}"


def stored_columns(view: MaterializedView) -> dict[str, str]:
    """The storage table's name of each column of the view.

    One column has another name there, if possible none of the layout: Spark carries a DELETE
    through a view that renames nothing. So have those of which Iceberg has its own.
    """
    names = [column.name for column in view.definition.columns]
    # All words, also names of transforms: which column it is must stay the same for a table.
    used = {word.text.lower() for word in words_of(" ".join(view.layout.partition_by))}
    used |= {name.lower() for name in view.layout.cluster_by}
    renamed = next((name for name in names if name.lower() not in used), names[0])
    taken, found = {name.lower() for name in names}, {}
    for name in names:
        found[name] = name
        if name == renamed or name in METADATA_COLUMNS:
            found[name] += "__mv"
            while found[name].lower() in taken:
                found[name] += "_"
            taken.add(found[name].lower())
    return found


def all_stored_columns(view: MaterializedView) -> dict[str, str]:
    """As `stored_columns`, with the columns that the view does not show."""
    return {**stored_columns(view), **{name: name for name in view.hidden}}


def stored_rows(
    view: MaterializedView, branch: str | None = None, joined: str = "", snapshot: str | None = None
) -> str:
    """A query of the storage table, or of one branch or snapshot of it, that has the view's
    columns; `joined` stands behind the table."""
    columns = ", ".join(
        quote(stored) if stored == name else f"{quote(stored)} AS {quote(name)}"
        for name, stored in stored_columns(view).items()
    )
    shown = f" WHERE NOT {quote(view.spare)}" if view.spare else ""
    table = view.storage.sql if branch is None else _branch(view, branch)
    at = "" if snapshot is None else f" VERSION AS OF {snapshot}"
    return f"SELECT {columns} FROM {table}{at}{joined}{shown}"


def _select(view: MaterializedView, query: str) -> str:
    columns = ", ".join(
        quote(name) if stored == name else f"{quote(name)} AS {quote(stored)}"
        for name, stored in all_stored_columns(view).items()
    )
    partitions = _identity_partitions(view.layout, view.definition.columns)
    keys = _sort_keys((*partitions, *view.layout.cluster_by), view)
    order = f" SORT BY {', '.join(quote(key) for key in keys)}" if view.layout.cluster_by else ""
    return f"SELECT {columns} FROM (\n{query}\n) AS definition{order}"


def _sort_keys(keys: Sequence[str], view: MaterializedView) -> list[str]:
    stored = {name.lower(): column for name, column in stored_columns(view).items()}
    return [stored[key.lower()] for key in keys]


def _stored_key(key: str, view: MaterializedView) -> str:
    stored = {name.lower(): column for name, column in stored_columns(view).items()}
    for word in reversed(words_of(key)):
        calls = key[word.end :].lstrip().startswith("(")
        if not calls and word.text.lower() in stored:
            key = key[: word.start] + quote(stored[word.text.lower()]) + key[word.end :]
    return key


def _identity_partitions(layout: Layout, columns: Sequence[Column]) -> list[str]:
    names = {column.name.lower() for column in columns}
    terms = [words_of(term) for term in layout.partition_by]
    alone = [words[0].text for words in terms if len(words) == 1]
    return [name for name in alone if name.lower() in names]


def create_view(view: MaterializedView, or_replace: bool = True) -> str:
    """The view through which a materialized view is read; carries all that describes it."""
    columns = ", ".join(
        quote(column.name) + (f" COMMENT {literal(column.comment)}" if column.comment else "")
        for column in view.definition.columns
    )
    comment = f"COMMENT {literal(view.comment)} " if view.comment else ""
    create = "CREATE OR REPLACE VIEW" if or_replace else "CREATE VIEW"
    return (
        f"{create} {view.name.sql} ({columns}) {comment}"
        f"TBLPROPERTIES ({_properties(view.properties())}) "
        f"AS {stored_rows(view)}"
    )


def set_options(view: MaterializedView) -> str:
    """Writes the options, and nothing that a change of the definition writes."""
    return f"ALTER VIEW {view.name.sql} SET TBLPROPERTIES ({_properties(view.option_properties())})"


def drop_view(name: TableName) -> str:
    """Drops the view of a materialized view."""
    return f"DROP VIEW IF EXISTS {name.sql}"


def drop_storage(name: TableName) -> str:
    """Drops a storage table with its files."""
    return f"DROP TABLE IF EXISTS {name.sql} PURGE"


def drop_table(name: TableName, purge: bool) -> str:
    """Drops a table; Iceberg's are to be purged, others lose their files anyway."""
    return f"DROP TABLE IF EXISTS {name.sql}{' PURGE' if purge else ''}"


def rename(name: TableName, new: TableName, is_view: bool) -> str:
    """Renames a table or view inside its schema; Spark takes no catalog for the new name."""
    kind = "VIEW" if is_view else "TABLE"
    return f"ALTER {kind} {name.sql} RENAME TO {quote_parts((*new.namespace, new.name))}"


def _properties(properties: dict[str, str]) -> str:
    return ", ".join(f"{literal(key)} = {literal(value)}" for key, value in properties.items())


def check_static(view: MaterializedView) -> None:
    """Raise `InvalidOption` unless partition_by begins with static_partition_by."""
    if not view.layout.begins_with(view.options.static_partition_by):
        raise InvalidOption(
            f"{view.name}: static_partition_by is not how partition_by begins.",
            "partition_by: " + (", ".join(view.layout.partition_by) or "none") + ".",
        )


def check_layout(view: str, layout: Layout, columns: Sequence[Column]) -> None:
    """Raise `InvalidOption` if partition_by or cluster_by name no column of the query."""
    names = {column.name.lower() for column in columns}
    named = [("partition_by", term, columns_in(term)) for term in layout.partition_by]
    named += [("cluster_by", key, [key]) for key in layout.cluster_by]
    for option, term, used in named:
        unknown = [name for name in used if name.lower() not in names]
        if unknown or not used:
            raise InvalidOption(
                f"{view}: {option} names {(unknown or [term])[0]!r}, "
                "which the query does not return.",
                "The query returns: " + ", ".join(column.name for column in columns) + ".",
            )


def check_columns(view: str, columns: Sequence[Column]) -> None:
    """Raise `NotAQuery` if a storage table, or the view over it, cannot have these columns."""
    for column in columns:
        if _NOT_STORED.search(column.type):
            raise NotAQuery(
                f"The column {column.name!r} of {view} has the type {column.type}, "
                "which a materialized view cannot store.",
                "Cast it in the query.",
            )
        # Spark replaces `${..}` also in the text of a view, whenever somebody reads it.
        if not column.name or "${" in column.name:
            raise NotAQuery(
                f"The query of {view} returns a column of the name {column.name!r}.",
                "Give it a name, without '${' in it.",
            )
    names = [column.name.lower() for column in columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise NotAQuery(
            f"The query of {view} returns the column {twice[0]!r} more than once.",
            "Give each column a name of its own.",
        )


def check_unique_key(view: MaterializedView, columns: Sequence[Column]) -> None:
    """Raise `InvalidOption` if unique_key names no column of the query."""
    names = {column.name.lower() for column in columns}
    unknown = [key for key in view.options.unique_key if key.lower() not in names]
    if unknown:
        raise InvalidOption(
            f"{view.name}: unique_key names {unknown[0]!r}, which the query does not return.",
            "The query returns: " + ", ".join(column.name for column in columns) + ".",
        )
