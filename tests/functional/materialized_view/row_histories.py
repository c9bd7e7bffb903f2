"""Histories of updates and deletes of a table, and the kinds of tables that they happen to."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.spark_mv.catalog import change_sets
from dbt.adapters.spark_mv.planning.plan import MERGE_ON_READ

APPENDED, LOGGED, COMPARED = change_sets.APPENDED, change_sets.LOGGED, change_sets.COMPARED
POSITIONED, TRACKED = change_sets.POSITIONED, change_sets.TRACKED
VIEWS = {
    "sums": "select g, count(*) as n, sum(v) as s, avg(v) as a from @.{t} group by g",
    "joined": "select t.k, t.v, d.name from @.{t} t join @.names d on t.g = d.g",
    "kept": "select k, v, label from @.{t} where v > 3",
    "ends": "select g, min(v) as low, max(v) as high from @.{t} group by g",
}
_COMPACT = (
    "call local.system.rewrite_data_files(table => '{schema}.{t}', "
    "options => map('rewrite-all', 'true'))"
)
# Four files of six rows; every file has rows of each remainder of k by 6.
BACK = (
    "insert overwrite @.{t} select /*+ repartition(4, f) */ cast(id as int) as k, "
    "cast(id % 3 as int) as g, cast(id % 6 as int) as v, concat('row ', id % 4) as label "
    "from (select id, id div 6 as f from range(24))"
)
# What happens, one after the other, each followed by a refresh.
HISTORIES: dict[str, tuple[str, ...]] = {
    "update": ("update @.{t} set v = v + 10 where k % 6 = 1",),
    "delete": ("delete from @.{t} where k % 6 = 2",),
    "insert": ("insert into @.{t} values (100, 1, 5, 'row 1'), (101, 1, 5, null)",),
    "as many out as in": (
        "merge into @.{t} t using (select * from values (3, -1), (9, -1), (200, 7), (201, 7) "
        "as s(k, v)) s on t.k = s.k when matched then delete "
        "when not matched then insert (k, g, v, label) values (s.k, 2, s.v, 'merged')",
    ),
    "merge": (
        "merge into @.{t} t using (select * from values (4, 8), (10, null), (202, 9) as s(k, v)) "
        "s on t.k = s.k when matched and s.v is null then delete "
        "when matched then update set v = s.v "
        "when not matched then insert (k, g, v, label) values (s.k, 0, s.v, 'merged')",
    ),
    "update twice": (
        "update @.{t} set v = v + 1 where k % 6 = 1",
        "update @.{t} set v = v + 1, g = 2 where k % 6 = 1",
    ),
    "update, then delete": (
        "update @.{t} set v = 50 where k % 6 = 4",
        "delete from @.{t} where v = 50 and k > 10",
    ),
    "insert, then update": (
        "insert into @.{t} values (300, 1, 5, 'new'), (301, 1, 5, 'new')",
        "update @.{t} set v = v + 1 where k in (301, 5)",
    ),
    "the same again": ("update @.{t} set v = v where k % 6 = 5",),
    "out and in again": (
        "delete from @.{t} where k = 5",
        "insert into @.{t} select 5, cast(2 as int), 6, 'row 1'",
    ),
    "compaction between": (
        "update @.{t} set v = v + 1 where k % 6 = 3",
        _COMPACT,
        "delete from @.{t} where k = 300",
    ),
    "compaction of new rows": (
        "insert into @.{t} values (400, 0, 4, 'new'), (401, 2, 5, 'new')",
        _COMPACT,
        "delete from @.{t} where k in (400, 11)",
    ),
    "manifests": (
        "call local.system.rewrite_manifests('{schema}.{t}')",
        "update @.{t} set v = 0 where k in (13, 14)",
    ),
    "overwrite": (BACK,),
    "a whole file": ("delete from @.{t} where k >= 18",),
    "one file": ("update @.{t} set v = 77 where k = 0",),
    "partly new": (
        "insert overwrite @.{t} select k, g, case when k = 7 then 70 else v end, label from @.{t}",
    ),
    "all": ("delete from @.{t}",),
    "all again": (BACK, "delete from @.{t} where k = 1", "insert into @.{t} values (1, 0, 0, '')"),
}


@dataclass(frozen=True)
class Kind:
    """A kind of table: its format, how it deletes, how it is partitioned, and before which history
    it is upgraded to version 3."""

    version: int
    merges: bool
    partitioned: str = ""
    upgraded: str | None = None

    def create(self, table: str) -> str:
        """The statement that creates it."""
        properties = f"'format-version'='{self.version}'"
        if self.merges:
            properties += f", {MERGE_ON_READ}"
        return (
            f"create table @.{table} (k int, g int, v int, label string) using iceberg "
            f"{self.partitioned} tblproperties ({properties})"
        )


KINDS = {
    "v2_copy": Kind(2, False),
    "v2_merge": Kind(2, True),
    "v3_copy": Kind(3, False),
    "v3_merge": Kind(3, True),
    "upgraded_at_once": Kind(2, False, upgraded="update"),
    "upgraded_later": Kind(2, True, upgraded="merge"),
    "upgraded_after_files": Kind(2, False, upgraded="compaction between"),
    "v3_copy_parts": Kind(3, False, "partitioned by (g)"),
    "v3_merge_parts": Kind(3, True, "partitioned by (bucket(2, k))"),
}

_TAKE_FILES_OUT = ("compaction between", "compaction of new rows", "overwrite", "a whole file") + (
    "partly new",
    "all",
)
_OTHERWISE = {
    # The log of a few rewritten files is read sooner than the whole table.
    ("v3_copy", "a whole file"): LOGGED,
    ("v3_copy_parts", "out and in again"): LOGGED,
}


def expected_way(kind: str, history: str) -> str:
    """How a change is read, if every history before it was followed by a refresh."""
    made, names = KINDS[kind], list(HISTORIES)
    if history == "insert":
        return APPENDED
    if (kind, history) in _OTHERWISE:
        return _OTHERWISE[kind, history]
    with_ids = made.version == 3
    if made.upgraded is not None:
        # The version that a refresh begins with has ids one commit after the upgrade.
        with_ids = names.index(history) > names.index(made.upgraded)
    if made.merges:
        if history not in _TAKE_FILES_OUT:
            return POSITIONED
        return TRACKED if with_ids else COMPARED
    if not with_ids:
        return LOGGED
    return POSITIONED if history == "all again" else TRACKED
