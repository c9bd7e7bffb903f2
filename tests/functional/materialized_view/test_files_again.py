"""Walks of a table through commits of files, some of which are in it twice, or come back beside
deletes that were left over from before. After every step all views have the rows of their queries.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from dbt.adapters.spark_mv.planning.plan import MERGE_ON_READ
from tests.functional.materialized_view.by_statements import reach_by_statements
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import sample

KINDS = {
    "v2_merge": ("", f"'format-version'='2', {MERGE_ON_READ}"),
    "v3_merge": ("", f"'format-version'='3', {MERGE_ON_READ}"),
    "v2_merge_parts": ("partitioned by (p)", f"'format-version'='2', {MERGE_ON_READ}"),
    "v2_copy_parts": ("partitioned by (p)", "'format-version'='2'"),
}
_REWRITE = "call local.system.{what}(table => '{schema}.{t}', options => map('rewrite-all','true'))"
_ADD = (
    "call local.system.add_files(table => '{schema}.{t}', source_table => '`parquet`.`{folder}`', "
    "check_duplicate_files => false)"
)
# Rows of the file that comes again are from 1000. `k + 0` and lists keep Iceberg from deleting
# whole files, which it does for ranges.
STEPS = {
    "the file": _ADD,
    "a row of it goes": "delete from @.{t} where k + 0 = {again}",
    "two rows of it go": "delete from @.{t} where k + 0 in (1000, 1003)",
    "all of its rows go": "delete from @.{t} where k + 0 in (1000, 1001, 1002, 1003, 1004)",
    "a row of it is changed": "update @.{t} set v = v + 1 where k + 0 = {again}",
    "others go": "delete from @.{t} where k + 0 = {k}",
    "others are changed": "update @.{t} set v = v + 1 where k % 7 = {k} % 7 and k < 1000",
    "others come": "insert into @.{t} values ({k} + 100, {k}, {k} % 3)",
    "compaction": _REWRITE.replace("{what}", "rewrite_data_files"),
    "compaction of deletes": _REWRITE.replace("{what}", "rewrite_position_delete_files"),
}
# What happens between two refreshes each; word for word where refreshes were wrong.
FOUND = {
    "twice": (("the file",), ("the file", "others go"), ("a row of it goes",)),
    "back": (("the file", "all of its rows go"), ("compaction", "the file"), ("others go",)),
    "left": (("the file", "all of its rows go", "compaction", "the file"), ("others go",)),
}
_WALKS = {
    f"{seed}": tuple(
        tuple(Random(f"{seed} {at}").choices(list(STEPS), k=1 + at % 3)) for at in range(8)
    )
    for seed in range(5)
}
_CASES = [
    *((kind, walk, far) for kind in KINDS for walk in FOUND for far in (0, 1)),
    *((kind, walk, 0) for kind in KINDS for walk in _WALKS),
]
_ALWAYS = [
    *((kind, walk, 0) for kind in ("v2_merge", "v2_merge_parts") for walk in FOUND),
    ("v2_merge_parts", "back", 1),
    ("v3_merge", "4", 0),
]
VIEWS = {
    "rows": ("", "refresh_method = 'fast'", "select k, v, p from @.{t}"),
    "sums": (
        "",
        "refresh_method = 'fast'",
        "select p, count(*) as n, sum(v) as s from @.{t} group by p",
    ),
    "parts": ("partitioned by (p)", "live = true", "select p, k, v from @.{t}"),
}


def wrong(lake: Warehouse, read: str, query: str) -> Counter[tuple[object, ...]]:
    found, expected = Counter(lake.spark(read)), Counter(lake.spark(query))
    return (found - expected) + (expected - found)


def create(lake: Warehouse, kind: str, table: str, folder: Path) -> None:
    """A table of a kind, its views, and a file of rows that is not in it yet."""
    layout, properties = KINDS[kind]
    lake.spark(
        f"create table @.{table} (k int, v int, p int) using iceberg {layout} "
        f"tblproperties ({properties}, 'write.metadata.metrics.default'='full')"
    )
    lake.spark(f"insert into @.{table} select id, id, id % 6 from range(30) where id % 6 <> 1")
    lake.spark(
        f"insert overwrite directory '{folder / 'p=1' if layout else folder}' using parquet "
        "select /*+ coalesce(1) */ cast(1000 + id as int) as k, cast(id as int) as v"
        f"{'' if layout else ', 1 as p'} from range(5)"
    )
    for view, (partitions, options, query) in VIEWS.items():
        lake.sql(
            f"create materialized view @.{table}_{view} {partitions} options ({options}) "
            f"as {query.format(t=table)}"
        )


def wrong_views(lake: Warehouse, table: str, method: str) -> list[str]:
    """The views that have other rows than their queries after a refresh, or are live and have them
    before."""
    found = []
    for view, (_, _, query) in VIEWS.items():
        plain, name = query.format(t=table), f"{table}_{view}"
        if view == "parts" and wrong(lake, f"select * from @.{name}__live", plain):
            found.append(f"{name}__live")
        lake.operation("refresh", view=name, method=method if view == "parts" else None)
        if wrong(lake, f"select * from @.{name}", plain):
            found.append(name)
    return found


@pytest.mark.behaviour("X23")
@pytest.mark.parametrize(
    ("kind", "walk", "far"), sample(_ALWAYS, [case for case in _CASES if case not in _ALWAYS])
)
def test_walk(
    lake: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, walk: str, far: int
) -> None:
    if far:
        reach_by_statements(monkeypatch)
        lake.restart()
    table, folder, random = f"again_{kind}_{walk}_{far}", tmp_path / "again", Random(walk)
    create(lake, kind, table, folder)
    for number, steps in enumerate((FOUND | _WALKS)[walk]):
        for step in steps:
            k, again = random.choice((2, 3, 4, 8, 9, 10)), 1000 + random.randrange(5)
            filled = {"t": table, "schema": lake.schema, "folder": folder, "k": k, "again": again}
            lake.spark(STEPS[step].format(**filled))
        lake.restart()
        method = random.choice(("partition", "auto"))
        assert not wrong_views(lake, table, method), (number, steps)
