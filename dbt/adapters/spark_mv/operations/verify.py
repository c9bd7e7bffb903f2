"""Compares stored rows with the query at the versions that the rows were built from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.config.option_types import NEVER
from dbt.adapters.spark_mv.core.errors import NotVerified, StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.expiry.next_change import reads_clock
from dbt.adapters.spark_mv.ivm.rewrite.total_order import ORDERED
from dbt.adapters.spark_mv.planning.pinning import is_readable, pinned_query, unpinned_tables
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.refresh.staging import complete_query
from dbt.adapters.spark_mv.sql.names import TableName, literal, quote
from dbt.adapters.spark_mv.state.freshness import UNCLEAR, Label, read_label
from dbt.adapters.spark_mv.views.clock import clock_names
from dbt.adapters.spark_mv.views.definition import Column, MaterializedView
from dbt.adapters.spark_mv.views.registry import load_view
from dbt.adapters.spark_mv.views.storage_sql import stored_rows
from dbt.adapters.spark_mv.views.volatile import volatile_functions

_FLOATS = ("double", "float")
_MOST_ROWS = 1000


@dataclass(frozen=True)
class Differences:
    """Rows the query has and the store lacks, the store has too much, or that differ by key."""

    missing: int
    unexpected: int
    differing: int

    @property
    def any(self) -> bool:
        """Whether anything differs."""
        return bool(self.missing or self.unexpected or self.differing)


def count_differences(services: Services, name: TableName) -> Differences:
    """Compare as multisets, doubles to ten digits, under the settings of the view; never refreshes.

    Raises `NotVerified` if the versions are gone and nothing can be compared.
    """
    view = load_view(services.resolver, name)
    differences = differences_query(services, view)
    n = quote(count_column(view))
    select = (
        f"SELECT coalesce(sum({n}) FILTER (WHERE {n} > 0), 0), "
        f"coalesce(-sum({n}) FILTER (WHERE {n} < 0), 0) FROM ({differences})"
    )
    try:
        with services.executor.isolated(view.definition.settings) as session:
            ((lacking, extra),) = session.query(select)
            differing = _differing(session, view, differences)
    except StatementFailed as error:
        raise NotVerified(
            f"{name} cannot be verified: {error}",
            "Refresh it with method complete, then verify again.",
        ) from None
    return Differences(int(lacking) - differing, int(extra) - differing, differing)


def _differing(executor: Executor, view: MaterializedView, differences: str) -> int:
    keys = view.options.unique_key
    if not keys:
        return 0
    listed = ", ".join(quote(key) for key in keys)
    n = quote(count_column(view))
    ((count,),) = executor.query(
        f"SELECT count(*) FROM (SELECT {listed} FROM ({differences}) AS d GROUP BY {listed} "
        f"HAVING max(d.{n}) > 0 AND min(d.{n}) < 0)"
    )
    return int(count)


def differing_rows(services: Services, view: MaterializedView) -> str:
    """A query that returns what `differences_query` returns under the settings of the view, for
    sessions with others: the number, and the row as JSON, of the first thousand."""
    n = quote(count_column(view))
    differences = differences_query(services, view)
    select = (
        f"SELECT CAST({n} AS BIGINT), to_json(struct(*)) FROM ({differences}) LIMIT {_MOST_ROWS}"
    )
    with services.executor.isolated(view.definition.settings) as session:
        found = session.query(select)
    rows = ", ".join(f"({count}L, {literal(str(row))})" for count, row in found)
    shown = f"VALUES {rows}" if rows else "SELECT 0L, ''"
    return f"SELECT * FROM ({shown}) AS compared (n, `row`)" + ("" if rows else " WHERE false")


def differences_query(services: Services, view: MaterializedView) -> str:
    """A query that returns each differing row with `n`: above 0 missing, below 0 unexpected. It has
    to run under the settings of the view."""
    label, head = _nearest_label(services.executor, view)
    texts = view.definition.texts
    volatile = list(dict.fromkeys(call for text in texts for call in volatile_functions(text)))
    if reads_clock(view.definition) and not _has_instant(services, view, label):
        volatile += [name for text in texts for name in clock_names(text)]
    if volatile:
        raise NotVerified(
            f"{view.name} cannot be verified: its query calls {', '.join(volatile)}.",
            "Leave it out: its rows are those of the moment of its last refresh.",
        )
    _refuse_redefined(services, view, label)
    _refuse_gone(services, view, label)
    _refuse_moved(services, view, label)
    expected = _expected(services, view, label)
    columns = view.definition.columns
    rows = ", ".join(_comparable(column) for column in columns)
    names = ", ".join(quote(column.name) for column in columns)
    n = quote(count_column(view))
    return (
        f"SELECT sum({n}) AS {n}, {names} FROM ("
        f"SELECT 1 AS {n}, {rows} FROM (\n{expected}\n) AS expected "
        f"UNION ALL SELECT -1, {rows} FROM ({stored_rows(view, snapshot=head)}) AS stored"
        f") AS compared GROUP BY {names} HAVING sum(compared.{n}) <> 0"
    )


def _refuse_redefined(services: Services, view: MaterializedView, label: Label) -> None:
    """The query has to read what it read when the rows were computed."""
    if not label.sources.keys() >= set(services.observer.observe(view).versions):
        raise NotVerified(
            f"{view.name} cannot be verified: views that it reads were replaced since its rows "
            "were computed, and read other tables.",
            "Refresh it, then verify again.",
        )


def _refuse_gone(services: Services, view: MaterializedView, label: Label) -> None:
    for name, version in label.sources.items():
        if version.can_pin and services.versions.schema_of(name, str(version.snapshot_id)) is None:
            raise NotVerified(
                f"{view.name} cannot be verified: its rows are those of a version of {name} that "
                "is gone, because it has expired or the table was replaced.",
                "Refresh it with method complete, then verify again.",
            )


def _refuse_moved(services: Services, view: MaterializedView, label: Label) -> None:
    """Tables that are read as they are now have to be those of the label still."""
    unpinned: Iterable[TableName] = label.sources
    if is_readable(view.definition):
        unpinned = unpinned_tables(label.sources, services.executor, services.resolver)
    now = services.versions.read(unpinned)
    moved = [str(name) for name in unpinned if not now[name].is_same(label.sources[name])]
    if moved:
        raise NotVerified(
            f"{view.name} cannot be verified: {', '.join(moved)} has changed since the last "
            "refresh, and cannot be read again as it was.",
            "Refresh it, then verify again.",
        )


def _has_instant(services: Services, view: MaterializedView, label: Label) -> bool:
    """Whether the rows are those of one instant, which the label names."""
    if label.expiry is None and view.options.expiry != NEVER:
        return False  # an earlier version let Spark read its own clock
    unclear = label.expiry is not None and label.expiry.why == UNCLEAR
    return not unclear and services.expiries.moment(view.definition, 0) is not None


def _expected(services: Services, view: MaterializedView, label: Label) -> str:
    """The query at the versions of the label. If windows were given an order without ties, it has
    that order too: without it other rows may be right as well."""
    if ORDERED not in view.hidden:
        moment = services.expiries.moment(view.definition, label.evaluated_us)
        query, _ = pinned_query(
            view.definition,
            label.sources,
            services.executor,
            services.resolver,
            str(view.name),
            moment,
        )
        return query
    query, _ = complete_query(services, view, view.definition, label)
    shown = f" WHERE NOT {quote(view.spare)}" if view.spare else ""
    return f"SELECT * FROM (\n{query}\n) AS mv_all{shown}"


def count_column(view: MaterializedView) -> str:
    """A name for the number of rows that the view has no column of."""
    taken = {column.name.lower() for column in view.definition.columns}
    name = "n"
    while name in taken:
        name += "_"
    return name


def _comparable(column: Column) -> str:
    name = quote(column.name)
    if column.type in _FLOATS:
        return f"format_string('%.9e', CAST({name} AS DOUBLE)) AS {name}"
    if column.type.startswith("map"):
        return f"sort_array(map_entries({name})) AS {name}"
    return name


def _nearest_label(executor: Executor, view: MaterializedView) -> tuple[Label, str]:
    """The label that the rows are compared by, and the snapshot that has the rows: somebody may
    refresh the view in between."""
    chain = iceberg.main_chain(executor, view.storage)
    for index in range(len(chain)):
        label = read_label(chain[index:])
        if label is not None:
            return label, chain[0].snapshot_id
    raise NotVerified(
        f"{view.name} cannot be verified: no snapshot of its storage table has a label.",
        "Refresh it with method complete.",
    )
