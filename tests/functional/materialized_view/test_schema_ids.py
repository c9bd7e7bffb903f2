"""Columns that have the number which others had before: a table that was registered from an older
metadata file, that changed its name with another of the same origin, or whose unused schemas were
removed. No view is fresh that has other rows than its query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

import pytest
from pyspark.errors import AnalysisException

from dbt.adapters.spark_mv.catalog import metadata_files, table_heads
from dbt.adapters.spark_mv.catalog.versions import Version
from dbt.adapters.spark_mv.instant.file_catalog import FileCatalog
from dbt.adapters.spark_mv.spark import held_tables
from dbt.adapters.spark_mv.sql.names import TableName
from tests.functional.materialized_view.by_statements import reach_by_statements
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE

# Alterations of a table with the columns k, x and y, by statements or, of defaults, by the library.
ALTERED = {
    "none": (),
    "other x": ("drop column x", "add column x int"),
    "other x and y": ("drop column x", "drop column y", "add column x int", "add column y int"),
    "x is y": ("drop column y", "rename column x to y", "add column x int"),
    "swapped": ("rename column x to z", "rename column y to x", "rename column z to y"),
    "x first": ("alter column x first",),
    "y first": ("alter column y first",),
    "one more": ("add column z int",),
    "one more, 5": ("+5",),
    "one more, 6": ("+6",),
    "another": ("add column a int",),
    "two more": ("add column a int", "add column b int"),
    "and back": ("add column a int", "drop column a"),
    "wider": ("alter column x type bigint",),
}
WAYS = ("registered", "swapped", "removed")
QUERIES = ("select k, x, y from @.{t}", "select * from @.{t}")
CASES = {
    f"{way}-{first}-{second}".replace(", ", " "): (way, first, second)
    for way, first, second in product(WAYS, ALTERED, ALTERED)
    if first != "none"
}
_ALWAYS = (("registered", "other x", "two more"), ("removed", "one more, 5", "one more, 6"))
SAMPLE = [c for n, c in enumerate(CASES.values()) if WHOLE or n % 60 == 0 or c in _ALWAYS]


def alter(lake: Warehouse, table: str, alterations: Sequence[str]) -> None:
    for alteration in alterations:
        if not alteration.startswith("+"):
            lake.spark(f"alter table @.{table} {alteration}")
            continue
        iceberg, change = lake.jvm.org.apache.iceberg, lake.loaded(table).updateSchema()
        default = iceberg.expressions.Literal.of(int(alteration))
        change.addColumn("z", iceberg.types.Types.IntegerType.get(), default).commit()


def call(lake: Warehouse, procedure: str, table: str, arguments: str) -> None:
    lake.spark(f"call local.system.{procedure}(table => '{lake.schema}.{table}', {arguments})")


def register(lake: Warehouse, table: str, file: str) -> None:
    call(lake, "register_table", table, f"metadata_file => '{file}'")


def come_again(lake: Warehouse, way: str, table: str, file: str, second: Sequence[str]) -> None:
    """Bring the table back to what it was in a metadata file, and alter it in another way."""
    if way == "registered":
        lake.spark(f"drop table @.{table}")
        register(lake, table, file)
        alter(lake, table, second)
    elif way == "swapped":
        register(lake, f"{table}_beside", file)
        alter(lake, f"{table}_beside", second)
        lake.spark(f"alter table @.{table} rename to @.{table}_away")
        lake.spark(f"alter table @.{table}_beside rename to @.{table}")
    else:
        columns = [row[0] for row in lake.spark(f"describe @.{table}")]
        alter(lake, table, [f"drop column {column}" for column in columns if column in "xyzab"])
        alter(lake, table, ["add column x int", "add column y int"])
        call(lake, "expire_snapshots", table, "clean_expired_metadata => true")
        alter(lake, table, second)


def versions(lake: Warehouse, table: str) -> Version:
    """The version of a table, which is the same whoever is asked."""
    name = TableName("local", (lake.schema,), table)
    found = lake.command().core.services.versions.read([name])[name]
    files = FileCatalog(str(lake.target["path"]), (lake.schema,))
    assert files.lookup(name.parts) == lake.command().core.services.resolver.lookup(name)
    files.close()
    with pytest.MonkeyPatch.context() as patch:
        reach_by_statements(patch)
        assert lake.command().core.services.versions.read([name]) == {name: found}
    return found


def is_wrongly_fresh(lake: Warehouse, view: str, query: str) -> bool:
    if lake.freshness(view) != "FRESH":
        return False
    return Counter(lake.spark(f"select * from @.{view}")) != Counter(lake.spark(query))


def wrongly_fresh(lake: Warehouse, number: int, case: tuple[str, str, str]) -> list[str]:
    """The queries of which views are wrongly fresh after a case, before or after a refresh."""
    way, first, second = case
    table, wrong = f"again{number}", []
    lake.spark(
        f"create table @.{table} (k int, x int, y int) using iceberg "
        "tblproperties ('format-version' = '3')"
    )
    lake.spark(f"insert into @.{table} values (1, 10, 100), (2, 20, 200)")
    log = f"select file from @.{table}.metadata_log_entries order by timestamp desc limit 1"
    file = str(lake.value(log))
    alter(lake, table, ALTERED[first])
    views = {f"{table}_v{at}": query.format(t=table) for at, query in enumerate(QUERIES)}
    for view, query in views.items():
        lake.sql(f"create materialized view @.{view} as {query}")
    before = versions(lake, table)
    come_again(lake, way, table, file, ALTERED[second])
    after = versions(lake, table)
    assert before.snapshot_id == after.snapshot_id
    lake.restart()
    for view, query in views.items():
        if is_wrongly_fresh(lake, view, query):
            wrong.append(query)
        try:
            lake.sql(f"refresh materialized view @.{view}")
        except Exception as error:  # a column of the query is gone, or has become another one
            assert isinstance(error.__cause__, AnalysisException) or "column" in str(error), error
        if is_wrongly_fresh(lake, view, query):
            wrong.append(query)
    return wrong


@pytest.mark.behaviour("X2")
@pytest.mark.parametrize("case", SAMPLE, ids="-".join)
def test_no_view_is_wrongly_fresh(lake: Warehouse, case: tuple[str, str, str]) -> None:
    assert not wrongly_fresh(lake, list(CASES.values()).index(case), case)


def test_numbers_alone_do_not_tell(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a snapshot and a number are all of a version."""
    for module in (held_tables, metadata_files, table_heads):
        monkeypatch.setattr(module, "has_own_columns", lambda head, schema_id: True)
    case = ("registered", "other x", "another")
    assert wrongly_fresh(lake, len(CASES), case) or wrongly_fresh(lake, len(CASES) + 1, _ALWAYS[0])
