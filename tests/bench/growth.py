"""Whether a small fast refresh grows with its base table, or with the refreshes before it."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.spark_mv.planning.request import MANUAL, Request
from tests.bench import tiers
from tests.bench.cell import REFRESHES, Cell, counted, goal, limits_of
from tests.bench.figures import ratio
from tests.bench.measure import Rounds, differences, progress
from tests.bench.world import SCHEMA, World

_ADDED, _GROUPS = 300, 100
_ROWS = "select id, id % {groups} as k, cast(id % 1000 as decimal(12, 2)) as v from range({rows})"
_SUM = "select k, count(*) as n, sum(v) as v from {schema}.{table} group by k"
# Of the refreshes at either end so many are compared, after as many that are not.
_COMPARED = 20
# Files of the metadata's events, and the bytes of the table's own metadata.
_MOST_FILES, _MOST_BYTES = 60, 200_000


def growth(world: World, sizes: Sequence[int], refreshes: int, rounds: int) -> list[Cell]:
    """A cell for the rows of the base table, and one for the number of refreshes."""
    for rows in sizes:
        progress(f"growth: a table of {rows:,} rows")
        _create(world, f"grown_{rows}", rows)
    return [_by_size(world, sizes, rounds), _by_age(world, f"grown_{sizes[0]}", refreshes)]


def _create(world: World, table: str, rows: int) -> None:
    query = _ROWS.format(groups=_GROUPS, rows=rows)
    world.sql(f"create table {SCHEMA}.{table} using iceberg as {query}")
    query = _SUM.format(schema=SCHEMA, table=table)
    world.run(f"create materialized view {SCHEMA}.{table}_sum as {query}")


def _refresh(world: World, table: str) -> float:
    """Refresh the view of a table fast; returns the processor seconds that it took."""
    before = world.cpu_seconds()
    name = world.name(f"{table}_sum")
    world.core.ddl.refresh(name, Request(MANUAL, "fast", explicit=True))
    return world.cpu_seconds() - before


def _add(world: World, table: str) -> None:
    world.sql(f"insert into {SCHEMA}.{table} {_ROWS.format(groups=_GROUPS, rows=_ADDED)}")


def _problems(world: World, table: str) -> tuple[str, ...]:
    stored = f"select * from {SCHEMA}.{table}_sum"
    return differences(world.session, stored, _SUM.format(schema=SCHEMA, table=table))


def _by_size(world: World, sizes: Sequence[int], rounds: int) -> Cell:
    labels = {f"{rows:,} rows": f"grown_{rows}" for rows in sizes}
    found = Rounds()
    for number in range(rounds + 1):
        for table in labels.values():
            _add(world, table)
        if number == 0:  # it compiles
            Rounds().run({label: lambda t=t: _refresh(world, t) for label, t in labels.items()})
            continue
        progress(f"growth by size, round {number} of {rounds}")
        found.run({label: lambda t=t: _refresh(world, t) for label, t in labels.items()})
    problems = [text for table in labels.values() for text in _problems(world, table)]
    samples = found.in_order(dict.fromkeys(labels, lambda: None))
    cell = Cell(REFRESHES, tiers.BY_SIZE, "", samples, found.cpu, problems=tuple(problems))
    first, last = next(iter(labels)), list(labels)[-1]
    return cell.held_to(goal(f"processor, {last} / {first}", cell.cpu_ratio(last, first), 1.2))


def _by_age(world: World, table: str, refreshes: int) -> Cell:
    found = Rounds()
    first = f"refreshes {_COMPARED + 1} to {2 * _COMPARED}"
    last = f"refreshes {refreshes - _COMPARED + 1} to {refreshes}"
    for number in range(1, refreshes + 1):
        _add(world, table)
        if _COMPARED < number <= 2 * _COMPARED:
            found.run({first: lambda: _refresh(world, table)})
        elif number > refreshes - _COMPARED:
            found.run({last: lambda: _refresh(world, table)})
        else:
            _refresh(world, table)
        if number % 50 == 0:
            progress(f"growth by refreshes, {number} of {refreshes}")
    world.core.services.log.flush()
    files, size = _metadata(world)
    samples = found.in_order({first: lambda: None, last: lambda: None})
    cell = Cell(REFRESHES, tiers.BY_AGE, "", samples, found.cpu, problems=_problems(world, table))
    by_cpu = ratio(sorted(found.cpu[last]), sorted(found.cpu[first]))
    return cell.held_to(
        *limits_of(
            goal(f"processor, {last} / {first}", by_cpu, 1.2),
            counted("files of the metadata's events", files, _MOST_FILES),
            counted("bytes of their table's metadata", size, _MOST_BYTES),
        )
    )


def _metadata(world: World) -> tuple[int, int]:
    """Data files of the events, and bytes of the table's current metadata file."""
    events = f"{world.credentials.metadata_schema}.mv_events"
    ((files,),) = world.sql(f"select count(*) from {events}.files")
    ((path,),) = world.sql(
        f"select file from {events}.metadata_log_entries order by timestamp desc limit 1"
    )
    ((size,),) = world.sql(f"select length(content) from binaryFile.`{path}`")
    return int(files), int(size)
