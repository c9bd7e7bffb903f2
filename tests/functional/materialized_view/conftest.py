"""One schema, and one metadata schema, for each module."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from dbt.adapters.spark_mv.core.clock import OFFSET
from dbt.adapters.spark_mv.spark.session import spark_session
from dbt.adapters.spark_mv.statements.rewriting.rewriter import STRICT
from tests.functional.materialized_view.by_statements import reach_by_statements
from tests.functional.materialized_view.clocks import SHOWTIMES, Shift, epoch
from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.rewritten import make_shop
from tests.functional.materialized_view.warehouse import Warehouse


def _schema(request: pytest.FixtureRequest) -> str:
    return str(request.module.__name__).rpartition(".")[2].removeprefix("test_")


@pytest.fixture(scope="module")
def lake(dbt_profile_target: dict[str, Any], request: pytest.FixtureRequest) -> Iterator[Warehouse]:
    made = Warehouse(dbt_profile_target, _schema(request))
    # All modules share the session of dbt's statements, and none may set it for the next.
    conf = spark_session(made.credentials).conf
    before = conf.getAll
    # What another module has cached takes statements of ours to look at.
    made.spark("clear cache")
    made.spark("create table @.orders (id bigint, customer string, amount bigint) using iceberg")
    made.spark("insert into @.orders values (1, 'ann', 10), (2, 'bob', 20), (3, 'ann', 30)")
    yield made
    for key, value in conf.getAll.items():
        if key not in before:
            conf.unset(key)
        elif before[key] != value:
            conf.set(key, before[key])


@pytest.fixture(scope="module")
def project(
    lake: Warehouse, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> DbtProject:
    """A dbt project with the files of the module's FILES."""
    folder = tmp_path_factory.mktemp(lake.schema)
    made = DbtProject(folder, lake)
    made.write(request.module.FILES)
    return made


@pytest.fixture(params=["client", "statements"])
def road(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How the catalog is reached: over the JVM of this process, or by statements only."""
    if request.param == "statements":
        reach_by_statements(monkeypatch)
    return str(request.param)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Shift:
    """Set the clock of this process, in UTC; it goes on from there."""

    def shift(text: str) -> None:
        monkeypatch.setenv(OFFSET, str(epoch(text) - time.time()))

    return shift


@pytest.fixture(scope="module")
def shop(lake: Warehouse) -> Iterator[Warehouse]:
    """Views that answer statements; what nobody thought of fails."""
    patch = pytest.MonkeyPatch()
    patch.setenv(STRICT, "1")
    yield make_shop(lake)
    patch.undo()


@pytest.fixture(scope="module")
def cinema(lake: Warehouse) -> Warehouse:
    # Dates, and days of intervals, are those of a zone.
    for run in (lake.sql, lake.spark):
        run("set time zone 'UTC'")
    lake.spark("create table @.showtimes (id bigint, start_time timestamp) using iceberg")
    lake.spark(f"insert into @.showtimes values {SHOWTIMES}")
    return lake
