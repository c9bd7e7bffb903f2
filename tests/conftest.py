"""One Spark for the whole run, in a folder of its own; a schema per test class."""

import os
from typing import Any

import pytest
from dbt.adapters.factory import reset_adapters

os.environ.setdefault("DBT_SPARK_MV_CLASS_DATA_ARCHIVE", "0")
pytest_plugins = ["dbt.tests.fixtures.project"]

JAVA = "-XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m"
# For a Spark that is needed for a minute: what the second compiler would win is lost in compiling.
QUICK_JAVA = f"{JAVA} -XX:TieredStopAtLevel=1"


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
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": JAVA,
            "spark.sql.shuffle.partitions": "2",
        },
    }
