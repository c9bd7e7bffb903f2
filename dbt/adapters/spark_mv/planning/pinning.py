"""Writes the versions of base tables into the text of a query.

Pinned reads make the label true whatever is committed during the refresh. A table that cannot be
pinned (no snapshot, no versions, or a schema newer than its snapshot) is read as it is, and its
version is compared before and after.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.spark_mv.catalog import table_heads
from dbt.adapters.spark_mv.catalog.resolver import Facts, Resolver
from dbt.adapters.spark_mv.catalog.versions import Version
from dbt.adapters.spark_mv.core.executor import Executor, TableFacts, ViewFacts
from dbt.adapters.spark_mv.sql.names import Namespace, TableName, quote
from dbt.adapters.spark_mv.sql.reads import Reference, references_of
from dbt.adapters.spark_mv.sql.splice import subquery
from dbt.adapters.spark_mv.views.clock import Moment, at_moment, canonical
from dbt.adapters.spark_mv.views.definition import Definition
from dbt.adapters.spark_mv.views.dependencies import Expander
from dbt.adapters.spark_mv.views.expansion import views_of_spark
from dbt.adapters.spark_mv.views.recognition import storage_of


def pinned_query(
    definition: Definition,
    versions: Mapping[TableName, Version],
    executor: Executor,
    resolver: Resolver,
    owner: str,
    moment: Moment | None = None,
) -> tuple[str, tuple[TableName, ...]]:
    """The definition's query with its views inlined and its tables pinned, and evaluated at a
    moment if there is one.

    Returns the text and the tables that are read unpinned.
    """
    if not is_readable(definition):
        # Nothing can be written into a text that we cannot read.
        return definition.query, tuple(versions)
    unpinned = unpinned_tables(versions, executor, resolver)
    expander = Expander(resolver, owner, settings=definition.settings)

    def replacement(name: TableName, facts: Facts, reference: Reference) -> str | None:
        if storage_of(name, facts) is not None:
            assert isinstance(facts, ViewFacts)
            home = Namespace(facts.catalog, facts.namespace)
            return subquery(expander.inline(facts.text, home, replacement), reference)
        if isinstance(facts, ViewFacts) or name in unpinned:
            return None
        return f"{name.sql} VERSION AS OF {versions[name].snapshot_id}"

    as_now = all(_has_columns_of_now(name, found, resolver) for name, found in versions.items())
    query = expander.inline(definition.query, definition.home, replacement, as_now)
    return (query if moment is None else evaluated(query, moment, definition)), unpinned


def evaluated(query: str, moment: Moment, definition: Definition) -> str:
    """A query at one moment. Columns without a name of their own were called by their calls."""
    names = ", ".join(quote(column.name) for column in definition.columns)
    return f"SELECT * FROM (\n{at_moment(canonical(query), moment)}\n) AS evaluated({names})"


def is_readable(definition: Definition) -> bool:
    """Whether we can read a definition, and the views that it reads, and not only Spark."""
    if views_of_spark(definition.views):
        return False
    return all(references_of(text) is not None for text in definition.texts)


def unpinned_tables(
    versions: Mapping[TableName, Version], executor: Executor, resolver: Resolver
) -> tuple[TableName, ...]:
    """The tables that cannot be read at these versions."""
    return tuple(
        name
        for name, version in versions.items()
        if not version.can_pin or not _snapshot_has_schema(name, version, executor, resolver)
    )


def _has_columns_of_now(name: TableName, version: Version, resolver: Resolver) -> bool:
    """Whether a version is known to have the columns that its table has now."""
    facts = resolver.lookup(name)
    schema = facts.schema_id if isinstance(facts, TableFacts) else None
    return schema is not None and schema == version.schema_id


def _snapshot_has_schema(
    name: TableName, version: Version, executor: Executor, resolver: Resolver
) -> bool:
    facts = resolver.lookup(name)
    if not isinstance(facts, TableFacts):
        return False
    if facts.snapshot_schema_id is not None and facts.snapshot_id == version.snapshot_id:
        return facts.snapshot_schema_id == version.schema_id
    assert version.snapshot_id is not None
    return table_heads.snapshot_schema(executor, name, version.snapshot_id) == version.schema_id
