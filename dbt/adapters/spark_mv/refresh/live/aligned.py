"""Views whose rows come from one partition of a base table each: of these a live view computes the
partitions that have changed, and takes all others from the stored rows.

What has changed is seen by the files of each partition: files never change, and deletes are files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.spark_mv.catalog import partitions
from dbt.adapters.spark_mv.catalog.file_changes import live_entries
from dbt.adapters.spark_mv.catalog.partitions import IDENTITY
from dbt.adapters.spark_mv.catalog.versions import Version
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.ivm.partitions.lineage import owned_tables
from dbt.adapters.spark_mv.planning.analysis import Analysis
from dbt.adapters.spark_mv.planning.analyzer import Analyzer
from dbt.adapters.spark_mv.sql.names import TableName, quote
from dbt.adapters.spark_mv.views.definition import MaterializedView

# Of fewer, or more, partitions the whole query is no dearer.
_FEWEST, _MOST = 4, 2000
# It does not depend on the order of files, of which one may be there twice.
_OF_FILES = ", ".join(
    f"data_file.{part}" for part in ("file_path", "content", "content_offset", "record_count")
)
_HASH = f"xxhash64({_OF_FILES}, sequence_number)"
_DIGEST = f"xxhash64(sum(CAST({_HASH} AS DECIMAL(38, 0))))"


@dataclass(frozen=True)
class Fact:
    """A base table that is partitioned by `column`, by its name in the program; `digests` are the
    SQL of each partition's value, and the digest of the files that it has."""

    placeholder: str
    table: TableName
    column: str
    digests: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Alignment:
    """The column of a view that says from which partition of the facts a row is computed."""

    analysis: Analysis
    column: str
    facts: tuple[Fact, ...]


def alignment_of(
    executor: Executor,
    analyzer: Analyzer,
    view: MaterializedView,
    versions: Mapping[TableName, Version],
) -> Alignment | None:
    """How the rows of a view lie in partitions of its base tables; None if they do not, or if it
    would not pay."""
    analysis = analyzer.analysis(view.definition, view)
    if isinstance(analysis, Reason) or analysis.program.first or analysis.clock.columns:
        return None
    partitioned = view.layout.partitioned([column.name for column in view.definition.columns])
    names = [column.name for column in view.definition.columns if "<" not in column.type]
    columns: dict[TableName, set[str]] = {}
    for name in dict.fromkeys([*partitioned, *names]):
        facts = [
            Fact(placeholder, analysis.tables[placeholder], column)
            for placeholder, places in owned_tables(analysis.program.query, [name]).items()
            if (column := _same_column(places)) is not None
        ]
        for fact in facts:
            if fact.table not in columns:
                columns[fact.table] = _identities(executor, fact.table)
        found = [fact for fact in facts if fact.column.lower() in columns[fact.table]]
        if found:
            return _with_digests(executor, Alignment(analysis, name, tuple(found)), versions)
    return None


def _same_column(places: Sequence[Sequence[exp.Expr]]) -> str | None:
    """The one column of a table that is the value in all places where it is read."""
    values = {value for place in places for value in place}
    value = next(iter(values))
    return value.name if len(values) == 1 and isinstance(value, exp.Column) else None


def _identities(executor: Executor, table: TableName) -> set[str]:
    """The columns whose values are those of the partitions in which rows lie."""
    spec = partitions.spec_of(executor, table)
    fields = spec.fields if spec is not None else ()
    return {found.column for found in fields if found.transform == IDENTITY}


def _with_digests(
    executor: Executor, alignment: Alignment, versions: Mapping[TableName, Version]
) -> Alignment | None:
    facts: list[Fact] = []
    for fact in alignment.facts:
        snapshot = versions[fact.table].snapshot_id
        if snapshot is None:
            return None
        types = dict(
            zip(
                alignment.analysis.columns[fact.placeholder],
                alignment.analysis.types[fact.placeholder],
                strict=True,
            )
        )
        kind = next(t for name, t in types.items() if name.lower() == fact.column.lower())
        value = partitions.encoded("mv_p", kind)
        try:
            rows = executor.query(
                f"SELECT {value}, mv_digest FROM ({digests(fact, str(snapshot))})"
            )
        except StatementFailed:  # its files do not have the column among their partitions
            return None
        if len(rows) > _MOST:
            return None
        known = tuple((_value(text, kind), int(digest)) for text, digest in rows)
        facts.append(replace(fact, digests=known))
    if max(len(fact.digests) for fact in facts) < _FEWEST:
        return None
    return replace(alignment, facts=tuple(facts))


def _value(text: object, kind: str) -> str:
    return f"CAST(NULL AS {kind})" if text is None else partitions.decoded(str(text), kind)


def digests(fact: Fact, snapshot: str = "") -> str:
    """A query of the partitions of a fact and the digests of their files."""
    value = f"data_file.partition.{quote(fact.column)}"
    return (
        f"SELECT {value} AS mv_p, {_DIGEST} AS mv_digest FROM "
        f"{live_entries(fact.table, snapshot)} GROUP BY {value}"
    )
