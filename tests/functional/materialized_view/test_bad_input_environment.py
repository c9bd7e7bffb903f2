"""What surrounds a view: base tables and files that change, the catalog, profiles, secrets."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_mv.connections import SparkMVConnectionManager
from dbt.adapters.spark_mv.core import failpoints
from dbt.adapters.spark_mv.credentials import SparkMVCredentials
from dbt.adapters.spark_mv.spark.local import warehouse
from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.refusals import (
    GOOD,
    MARKER,
    MARKER_VALUE,
    error_of,
    everything_stored,
)
from tests.functional.materialized_view.warehouse import Warehouse

FILES: dict[str, str] = {}
SECRET = "hunter2hunter2"


def folder(lake: Warehouse) -> Path:
    return Path(lake.credentials.warehouse_path)


def test_44_star_over_a_changing_table(lake: Warehouse) -> None:
    """`select *` means the columns of now: each change of the base table reaches the view."""
    lake.spark("create table @.wide (id bigint, a int, b string) using iceberg")
    lake.spark("insert into @.wide values (1, 1, 'x')")
    lake.sql("create materialized view @.star as select * from @.wide")
    for change in (
        "add column c string",
        "drop column b",
        "rename column a to z",
        "alter column z type bigint",
    ):
        lake.spark(f"alter table @.wide {change}")
        columns = [row[:2] for row in lake.spark("describe @.wide")]
        assert lake.sql("select * from @.star") == lake.spark("select * from @.wide"), change
        assert [row[:2] for row in lake.spark("describe @.star")] == columns, change
    lake.sql("drop materialized view @.star")


def test_53_base_file_deleted_by_hand(lake: Warehouse) -> None:
    """The refresh names what is missing, in two lines; the rows of before are still there."""
    lake.spark("create table @.torn (id bigint) using iceberg")
    lake.spark("insert into @.torn values (1)")
    lake.sql("create materialized view @.over_torn as select id from @.torn")
    lake.spark("insert into @.torn values (2)")
    files = list((folder(lake) / lake.schema / "torn" / "data").glob("*.parquet"))
    assert files
    for file in files:
        file.unlink()
    text = error_of(lake, "refresh materialized view @.over_torn")
    assert "could not be refreshed" in text and "old rows are unchanged" in text
    assert lake.spark("select id from @.over_torn") == [(1,)]
    lake.sql("drop materialized view @.over_torn")


def test_64_catalog_locked_for_a_moment(lake: Warehouse) -> None:
    """Somebody else's transaction on the catalog's file is waited for."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with sqlite3.connect(folder(lake) / "catalog.db", isolation_level=None) as connection:
            connection.execute("begin exclusive")
            held.set()
            done.wait(2.0)
            connection.execute("rollback")

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    lake.sql(f"create materialized view @.fresh as {GOOD}")
    done.set()
    holder.join()
    assert sorted(lake.sql("select * from @.fresh")) == sorted(lake.spark(GOOD))
    lake.sql("drop materialized view @.fresh")


@pytest.mark.parametrize("case", ["64-no-database", "64-a-file", "64-below-a-file"])
def test_catalog_that_is_none(tmp_path: Path, case: str) -> None:
    """A folder that can be no warehouse is named before Spark starts."""
    path = tmp_path / "warehouse"
    if case == "64-no-database":
        path.mkdir()
        (path / "catalog.db").write_bytes(b"no database" * 1000)
    else:
        path.write_text("")
    wanted = path / "below" if case == "64-below-a-file" else path
    with pytest.raises(DbtRuntimeError, match="cannot be used as a warehouse") as caught:
        warehouse.prepare_folder(str(wanted))
    assert str(wanted) in str(caught.value) and len(str(caught.value.msg).splitlines()) == 2


def test_64_folder_whose_name_would_be_cut(tmp_path: Path) -> None:
    """The catalog's driver would open another file."""
    path = tmp_path / "what?" / "warehouse"
    with pytest.raises(DbtRuntimeError, match=r"contains '\?'\.\n +Name another folder\.$"):
        warehouse.prepare_folder(str(path))
    assert not list(tmp_path.iterdir())


def test_65_metadata_file_is_gone(lake: Warehouse) -> None:
    """A storage table that cannot be read is an error in two lines; other views work."""
    lake.sql(f"create materialized view @.torn_view as {GOOD}")
    lake.sql("create materialized view @.whole as select id from @.orders")
    storage = lake.storage("torn_view").partition(".")[2]
    with sqlite3.connect(folder(lake) / "catalog.db") as connection:
        query = "select metadata_location from iceberg_tables where table_name = ?"
        ((location,),) = connection.execute(query, (storage,)).fetchall()
    file = Path(location.removeprefix("file:"))
    aside = file.rename(file.with_name("aside"))
    lake.restart()
    try:
        assert file.name in error_of(lake, "refresh materialized view @.torn_view")
        assert sorted(lake.sql("select * from @.whole")) == sorted(
            lake.spark("select id from @.orders")
        )
    finally:
        aside.rename(file)
    lake.restart()
    assert sorted(lake.sql("select * from @.torn_view")) == sorted(lake.spark(GOOD))
    for name in ("torn_view", "whole"):
        lake.sql(f"drop materialized view @.{name}")


PROFILES: dict[str, dict[str, Any]] = {
    "67-token": {"method": "http", "host": "127.0.0.1", "port": 1, "token": SECRET},
    "67-host-with-newline": {"method": "thrift", "host": "127.0.0.1\nx", "port": 1},
    "67-poll-interval": {"method": "thrift", "host": "127.0.0.1", "port": 1, "poll_interval": 0},
}


@pytest.mark.parametrize("case", PROFILES)
def test_profile(case: str) -> None:
    """A server that cannot be reached: no secret of the profile is in the error."""
    keys = {"cluster": "c", "organization": "0", "user": "u", **PROFILES[case]}
    credentials = SparkMVCredentials.from_dict({"schema": "s", "database": None, **keys})
    connection = Connection(
        type="spark_mv", name="x", state=ConnectionState.INIT, credentials=credentials, handle=None
    )
    with pytest.raises(Exception) as caught:
        SparkMVConnectionManager.open(connection)
    assert SECRET not in str(caught.value)


def test_68_secret_in_the_error_of_a_refresh(lake: Warehouse) -> None:
    """Values of passwords are left out of the error, of the history and of the status."""
    lake.sql(
        "create materialized view @.secretive as select id, case when customer = 'ann' then 1 "
        "else raise_error(concat('jdbc:x://u:', customer, '@h?password=', customer, "
        "' token=', customer, repeat('x', 5000))) end as x from @.orders where id > 100"
    )
    lake.sql(f"insert into @.orders values (101, '{SECRET}', 1)")
    text = error_of(lake, "refresh materialized view @.secretive")
    assert SECRET not in text and "password=*****" in text and len(text) < 2500
    ((error,),) = lake.history("secretive", "error")[-1:]
    assert SECRET not in error and len(error) <= 2000
    assert SECRET not in str(lake.spark("select * from @meta.mv_events"))
    assert SECRET not in str(lake.spark("select status_reason from @meta.mv_status"))
    lake.sql("drop materialized view @.secretive")


@pytest.mark.parametrize("append", [True, False], ids=["68-append", "68-before"])
def test_query_comment(project: DbtProject, lake: Warehouse, append: bool) -> None:
    """dbt's query comment, which may hold what the environment does, is not stored."""
    settings = yaml.safe_load((project.folder / "dbt_project.yml").read_text())
    comment = f"by {{{{ env_var('{MARKER}') }}}}"
    settings["query-comment"] = {"comment": comment, "append": append}
    model = "{{ config(materialized='bq_materialized_view') }} select id from {{ source('raw', %s"
    project.write(
        {
            "dbt_project.yml": yaml.safe_dump(settings),
            "models/commented.sql": model % "'orders') }}",
        }
    )
    project.dbt("run", "--full-refresh")
    assert MARKER_VALUE not in everything_stored(lake)
    assert lake.value("select definition from @meta.mv_status where table_name = 'commented'")
    assert "skipped" in str(project.dbt("run").result("commented").message)


def test_69_failpoints_outside_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failpoint that was left set does nothing, and is told."""
    told: list[str] = []
    monkeypatch.setenv(failpoints.FAILPOINTS, "publish.before=raise")
    monkeypatch.delenv(failpoints.TESTING, raising=False)
    failpoints.arm(told.append)
    assert len(told) == 1 and "ignored" in told[0]
    failpoints.reached("publish.before")
