"""One Spark for the whole run, in a folder of its own; a schema per test class."""

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

# dbt's own tests stop the clock by freezegun, after which pydantic defines no models with times.
import pyiceberg.table  # noqa: F401
import pytest
from dbt.adapters.factory import reset_adapters

from tests.sampling import WHOLE

os.environ.setdefault("DBT_SPARK_MV_CLASS_DATA_ARCHIVE", "0")
pytest_plugins = ["dbt.tests.fixtures.project"]

# Without the second compiler: most of what runs here runs seldom, and is not worth its work.
JAVA = "-XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m -XX:TieredStopAtLevel=1"


# Of the unit tests these take minutes each: they run the same lines with many rows.
SLOW = "delta random_rounds mutants partitions partition_values ties_of_rows rounding".split()
SLOW += "inexact clock_columns rewrite_pairs rewrite_metamorphic rewrite_united".split()
SLOW += "rewrite_extra rewrite_joins rewrite_fields rewrite_worded rewrite_implied".split()
SLOW += ["arithmetic"]


# Of the files in folders of tests/functional a sample takes one in so many, by date; `make whole`
# takes all.
TURNS, TURN = 10, "TEST_TURN"


def pytest_configure(config: pytest.Config) -> None:
    """Whoever names tests gets all of them; processes beside this one read what is set here."""
    if not hasattr(config, "workerinput"):
        os.environ.pop(TURN, None)
        if config.args_source is pytest.Config.ArgsSource.TESTPATHS and not WHOLE:
            os.environ[TURN] = str(date.today().toordinal() % TURNS)


def _left_out(items: list[pytest.Item]) -> set[Path]:
    """Files that have their turn on another day."""
    turn = os.environ.get(TURN)
    if turn is None:
        return set()
    files = sorted({item.path for item in items if "functional" in item.path.parent.parent.parts})
    return {file for n, file in enumerate(files) if n % TURNS != int(turn)}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The files of the first two take minutes: at the end one process would wait for the other."""
    left_out = _left_out(items)
    others = [item for item in items if item.path in left_out]
    items[:] = [item for item in items if item.path not in left_out]
    if others:
        config.hook.pytest_deselected(items=others)
    order = ("ivm", "servers", "model", "unit")
    items.sort(key=lambda item: [part not in item.path.parts for part in order])
    for item in items:
        if "unit" not in item.path.parts or item.path.stem.removeprefix("test_") in SLOW:
            item.add_marker("no_cover")


# Their commands read what dbt writes of each one, a third of the work of a short command.
WITH_ARTIFACTS = "basic docs commands models guides readme".split()


@pytest.fixture(scope="module", autouse=True)
def _artifacts(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.path.stem.removeprefix("test_") not in WITH_ARTIFACTS:
            patch.setenv("DBT_WRITE_JSON", "0")
        yield


@pytest.fixture(scope="module", autouse=True)
def _no_adapter_of_others() -> None:
    # A dbt command in this process leaves its adapter, with its warehouse, to whoever comes next.
    reset_adapters()


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("warehouse"))


@pytest.fixture(scope="session")
def dbt_profile_target(warehouse: str) -> dict[str, Any]:
    return {
        "type": "spark_mv",
        "method": "embedded",
        "path": warehouse,
        "threads": 4,
        "spark_conf": {
            "spark.master": os.environ.get("TEST_SPARK_MASTER", "local[2]"),
            "spark.driver.memory": "2g",
            "spark.driver.extraJavaOptions": JAVA,
            # By default the code of a hundred queries is kept, and that of others compiled again.
            "spark.sql.codegen.cache.maxEntries": "2000",
            "spark.sql.shuffle.partitions": "2",
            # Each plan is printed for a page that nobody opens.
            "spark.sql.ui.explainMode": "simple",
        },
    }
