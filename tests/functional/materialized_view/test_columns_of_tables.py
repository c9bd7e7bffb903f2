"""The columns of a table as they are now, whatever was asked of it before."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.core.executor import ColumnType
from tests.functional.materialized_view.warehouse import Warehouse

# Kinds of changes, each of a table with the columns id, part and a structure.
CHANGES = {
    "a column more": "alter table {t} add column more int",
    "the first column": "alter table {t} add column more int first",
    "another name": "alter table {t} rename column part to other",
    "another order": "alter table {t} alter column part first",
    "another type": "alter table {t} alter column id type bigint",
    "one column less": "alter table {t} drop column part",
    "a field more": "alter table {t} add column device.serial string",
    "a comment": "alter table {t} alter column id comment 'the number'",
    "rows": "insert into {t} values (1, 'a', named_struct('name', 'x'))",
    "replaced": "create or replace table {t} (other date, id decimal(9, 2)) using iceberg",
    "replaced by the same": "create or replace table {t} (id int, part string, "
    "device struct<name: string>) using iceberg",
    "another table": "drop table {t}; create table {t} (id string, more int) using iceberg",
    "back and forth": "alter table {t} drop column part; alter table {t} add column part string; "
    "alter table {t} alter column part after id",
}


@pytest.mark.parametrize("change", CHANGES)
def test_after_a_change(lake: Warehouse, change: str) -> None:
    """By another program, and of the same command: as Spark describes it."""
    lake.spark("drop table if exists @.changing")
    lake.spark(
        "create table @.changing (id int, part string, device struct<name: string>) using iceberg"
    )
    client = lake.command().core.services.executor.catalog

    def seen() -> list[list[ColumnType] | None]:
        parts = ("local", lake.schema, "changing")
        return [client.columns(parts, whole) for whole in (False, True, False)]

    before = seen()
    for statement in CHANGES[change].format(t="@.changing").split("; "):
        lake.spark(statement)
        is_gone = statement.startswith("drop")
        rows = [] if is_gone else lake.spark("describe @.changing")
        described = [(str(name), str(kind)) for name, kind, _ in rows]
        assert seen() == [None if is_gone else described] * 3
    assert before[0] == before[1] == before[2]


def test_fields_that_are_shown(lake: Warehouse) -> None:
    """Of a structure as many as the session says now; all of them if these are wanted."""
    fields = ", ".join(f"f{number}: int" for number in range(40))
    lake.spark(f"create table @.wide (id int, device struct<{fields}>) using iceberg")
    client, key = lake.command().core.services.executor.catalog, "spark.sql.debug.maxToStringFields"
    found = {}
    for most in ("5", "100", "5"):
        client._session.conf.set(key, most)
        client._set_active(client._session._jsparkSession)
        found[most] = dict(client.columns(("local", lake.schema, "wide")))["device"]
        whole = dict(client.columns(("local", lake.schema, "wide"), True))["device"]
        assert whole.count("f") == 40 and "more fields" not in whole
    client._session.conf.unset(key)
    assert "more fields" in found["5"] and "more fields" not in found["100"]
