"""The disk is full; the file of the catalog is gone."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.functional.concurrency.processes import Process
from tests.functional.materialized_view.refusals import error_of
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"


def made_in(folder: Path, target: dict[str, Any], schema: str) -> Warehouse:
    """A warehouse of its own with one base table and one view."""
    lake = Warehouse({**target, "path": str(folder)}, schema)
    lake.spark("create table @.orders (customer string, amount bigint) using iceberg")
    lake.spark("insert into @.orders values ('ann', 1), ('bob', 2)")
    lake.sql(f"create materialized view @.totals as {QUERY}")
    return lake


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for a few files."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(tmp_path)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("only root can mount a small file system")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def test_63_full_disk(small_disk: Path, dbt_profile_target: dict[str, Any]) -> None:
    """The refresh fails with the reason, the old rows stay; with room again the next read works."""
    lake = made_in(small_disk / "lake", dbt_profile_target, "full_disk")
    old = sorted(lake.spark("select * from @.totals"))
    lake.spark("insert into @.orders values ('zoe', 3)")
    filler = small_disk / "filler"
    with open(filler, "wb", buffering=0) as file:
        while shutil.disk_usage(small_disk).free:
            file.write(b"x" * shutil.disk_usage(small_disk).free)
    for statement in ("select * from @.totals", "refresh materialized view @.totals"):
        assert "No space left on device" in error_of(lake, statement)
    assert sorted(lake.spark("select * from @.totals")) == old
    assert lake.freshness("totals") == "STALE"
    filler.unlink()
    lake.restart()
    lake.sql("select * from @.totals")
    assert_same(lake, "select * from @.totals", QUERY)
    assert lake.freshness("totals") == "FRESH"
    lake.operation("sweep")
    assert lake.spark(f"select name from {lake.storage('totals')}.refs") == [("main",)]
    lake.sql("drop materialized view @.totals")


def test_64_catalog_deleted(tmp_path: Path, dbt_profile_target: dict[str, Any]) -> None:
    """Nothing can be found any more, which the next process says; a copy brings all of it back."""
    target = {**dbt_profile_target, "path": str(tmp_path / "lake")}
    lake: Any = SimpleNamespace(target=target, schema="lost_catalog")

    def run(statement: str) -> dict[str, Any]:
        process = Process(lake, statement).ready()
        process.go()
        return process.answer()

    run("create table @.orders (id int) using iceberg")
    run("create materialized view @.totals as select count(*) as n from @.orders")
    catalog = tmp_path / "lake" / "catalog.db"
    copies = [(file, file.read_bytes()) for file in catalog.parent.glob("catalog.db*")]
    for file, _ in copies:
        file.unlink()
    assert (
        "lost_catalog.totals does not exist" in run("refresh materialized view @.totals")["error"]
    )
    for file in catalog.parent.glob("catalog.db*"):
        file.unlink()
    for file, content in copies:
        file.write_bytes(content)
    assert run("select * from @.totals") == {"rows": [[0]]}
