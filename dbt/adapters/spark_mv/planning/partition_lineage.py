"""Which partitions of base tables each partition of a materialized view is computed from, and
which partitions are stale.

Read from the metadata of the tables where the query maps partitions to partitions. Where it does
not, a source feeds every partition: never fewer than in truth.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from dbt.adapters.spark_mv.catalog import iceberg, partitions
from dbt.adapters.spark_mv.catalog.partitions import Partition, Spec
from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.executor import Executor, TableFacts
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.ivm.algebra.terms import NotFast
from dbt.adapters.spark_mv.ivm.partitions.join_lineage import joined_tables
from dbt.adapters.spark_mv.ivm.partitions.lineage import owned_tables
from dbt.adapters.spark_mv.planning.analyzer import Analyzer
from dbt.adapters.spark_mv.planning.by_partition import Target, changed_partitions, target_of
from dbt.adapters.spark_mv.planning.inputs import inputs_of
from dbt.adapters.spark_mv.planning.partition_mapping import feeding
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.observation import Observation, Observer
from dbt.adapters.spark_mv.views.registry import load_view

# Where a query reads a table: the partition columns as expressions over it.
Places = list[list[exp.Expr]]


@dataclass(frozen=True)
class Dependency:
    """One partition of a view is computed from one of a base table.

    `target` and `source_uri` are paths, also of the storage table of a materialized view that is a
    `source`; `source_last_modified` is in epoch milliseconds.
    """

    target: str
    source: TableName
    source_uri: str
    source_last_modified: int | None


@dataclass(frozen=True)
class TargetState:
    """Whether one partition of a view is stale; times are in epoch milliseconds."""

    target: str
    source_last_modified: int | None
    target_last_modified: int | None
    is_stale: bool


@dataclass
class _Graph:
    """`edges` lead from a target to (table, URI, last modified); `spec` spells the targets."""

    observation: Observation
    target: Target | None
    spec: Spec
    edges: dict[Partition, list[tuple[TableName, str, int | None]]] = field(default_factory=dict)
    stored: dict[Partition, int | None] = field(default_factory=dict)


class PartitionLineage:
    """Reads which partitions feed which; changes nothing."""

    def __init__(
        self, executor: Executor, resolver: Resolver, observer: Observer, analyzer: Analyzer
    ) -> None:
        self._executor, self._resolver = executor, resolver
        self._observer, self._analyzer = observer, analyzer

    def dependencies(self, name: TableName) -> list[Dependency]:
        """The build graph of a view, by target; raises `UnknownMaterializedView`."""
        graph = self._graph(name)
        views = {storage: view for view, storage in graph.observation.expansion.storages.items()}
        return [
            Dependency(graph.spec.uri(target), views.get(table, table), uri, time)
            for target in sorted(graph.edges, key=graph.spec.uri)
            for table, uri, time in sorted(
                graph.edges[target], key=lambda found: (str(found[0]), found[1])
            )
        ]

    def target_states(self, name: TableName) -> list[TargetState]:
        """Each partition that the view has, or is to have; raises `UnknownMaterializedView`."""
        graph = self._graph(name)
        stale = self._stale(graph)
        states = []
        # A partition that an outer join is about to make has no rows yet, and nothing feeds it.
        known = graph.edges.keys() | graph.stored.keys() | (stale or set())
        for target in sorted(known, key=graph.spec.uri):
            times = [time for _, _, time in graph.edges.get(target, []) if time is not None]
            is_stale = stale is None or target in stale
            modified = graph.stored.get(target)
            states.append(
                TargetState(graph.spec.uri(target), max(times, default=None), modified, is_stale)
            )
        return states

    def _stale(self, graph: _Graph) -> set[Partition] | None:
        """The targets that may have changed; None if that may be any of them."""
        observation = graph.observation
        if observation.verdict.is_fresh:
            through = self._observer.observe_with_upstream(observation.view)
            return set() if through.verdict.is_fresh else None
        inputs = inputs_of(self._executor, self._resolver, self._analyzer, observation)
        if isinstance(inputs, Reason) or graph.target is None:
            return None
        try:
            return changed_partitions(self._executor, observation, inputs, graph.target)[0]
        except NotFast:
            return None

    def _graph(self, name: TableName) -> _Graph:
        observation = self._observer.observe(load_view(self._resolver, name))
        analysis = self._analyzer.analysis(observation.current, observation.view)
        found = (
            analysis
            if isinstance(analysis, Reason)
            else target_of(self._executor, observation.view, analysis.program)
        )
        target = None if isinstance(found, Reason) else found
        whole = (
            target.spec if target else partitions.spec_of(self._executor, observation.view.storage)
        )
        spec = Spec(target.fields if target else (), whole.location if whole else "")
        graph = _Graph(observation, target, spec)
        if target is not None and observation.head is not None:
            graph.stored = self._stored(observation.view.storage, target)
        elif observation.head is not None:
            graph.stored = {(): observation.head.committed_at}
        owned: dict[str, Places] = {}
        if target is not None and not isinstance(analysis, Reason):
            query = analysis.program.query
            owned = {**joined_tables(query, target.columns), **owned_tables(query, target.columns)}
        unmapped: list[TableName] = []
        for table in observation.versions:
            known = "" if isinstance(analysis, Reason) else analysis.placeholder(table)
            if known not in owned or not self._add_mapped(graph, table, owned[known]):
                unmapped.append(table)
        targets = graph.edges.keys() | graph.stored.keys() or {()}
        for table in unmapped:
            sources = self._sources(table)
            for one in targets if target else {()}:
                graph.edges.setdefault(one, []).extend(sources)
        return graph

    def _add_mapped(self, graph: _Graph, table: TableName, places: list[list[exp.Expr]]) -> bool:
        """Add the edges of a table whose partitions are mapped to targets; whether they are."""
        observation, target = graph.observation, graph.target
        spec = self._spec(table)
        snapshot = observation.versions[table].snapshot_id
        if spec is None or not spec.fields or snapshot is None or target is None:
            return False
        catalog = observation.view.storage.catalog
        times = self._times(table, spec)
        for values in places:
            pairs = feeding(
                self._executor,
                observation,
                spec,
                table,
                values,
                lambda t: target.values(t, catalog),
            )
            if pairs is None:
                return False
            for source, fed in pairs:
                edge = (table, spec.uri(source), times.get(source))
                if edge not in graph.edges.setdefault(fed, []):
                    graph.edges[fed].append(edge)
        return True

    def _sources(self, table: TableName) -> list[tuple[TableName, str, int | None]]:
        """All partitions of a table; the table itself if it has none, or they cannot be told."""
        spec = self._spec(table)
        if spec is None:
            return [(table, str(table), None)]
        times = self._times(table, spec) or {}
        if spec.fields and times:
            return [(table, spec.uri(source), time) for source, time in times.items()]
        chain = iceberg.main_chain(self._executor, table, 1)
        root = Spec((), spec.location)
        return [(table, root.uri(()), chain[0].committed_at if chain else None)]

    def _stored(self, storage: TableName, target: Target) -> dict[Partition, int | None]:
        """Stored partitions by the steering fields, and when each was written last."""
        numbers = [target.spec.fields.index(found) for found in target.fields]
        stored: dict[Partition, int | None] = {}
        for partition, time in self._times(storage, target.spec).items():
            key = tuple(partition[number] for number in numbers)
            stored[key] = max(filter(None, (stored.get(key), time)), default=None)
        return stored

    def _times(self, table: TableName, spec: Spec) -> dict[Partition, int | None]:
        return partitions.last_modified(self._executor, table, spec) if spec.fields else {}

    def _spec(self, table: TableName) -> Spec | None:
        facts = self._resolver.lookup(table)
        is_iceberg = isinstance(facts, TableFacts) and facts.provider == iceberg.FORMAT
        return partitions.spec_of(self._executor, table) if is_iceberg else None
