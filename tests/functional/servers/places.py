"""A copy of the demo project with its warehouse, and the profile that its targets need."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from dbt.adapters.spark_mv.spark.local import jars
from tests.conftest import JAVA
from tests.functional.servers import hive_server, postgres_server, rest_server
from tests.functional.servers.processes import Client
from tests.functional.servers.small_data import DEMO

# One more view, over a table without a snapshot: its version is a digest of its columns.
EMPTY_BASE = """{{ config(materialized='bq_materialized_view') }}
select carrier, count(*) as days from raw.cancellations group by carrier
"""
SMALL = {
    "spark.buffer.pageSize": "1m",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": JAVA,
    "spark.sql.shuffle.partitions": "2",
}


@dataclass(frozen=True)
class Place:
    """A copy of the demo project with its warehouse."""

    project: Path
    warehouse: Path

    @contextmanager
    def client(self, target: str, output: dict[str, Any], **variables: str) -> Iterator[Client]:
        """A worker for a target of the profile; `output` is the target with its values."""
        logs = self.project.parent / f"logs_{target}"
        logs.mkdir(exist_ok=True)
        places = {
            "DBT_PROJECT_DIR": str(self.project),
            "DBT_PROFILES_DIR": str(self.project),
            "DBT_TARGET_PATH": str(self.project.parent / f"target_{target}"),
            "DBT_LOG_PATH": str(logs),
            "DEMO_WAREHOUSE": str(self.warehouse),
        }
        client = Client(target, output, {**places, **variables})
        try:
            yield client
        finally:
            client.close()

    def outputs(self) -> dict[str, Any]:
        """The demo's targets with small Sparks, and one more for a cluster."""
        profile = yaml.safe_load((DEMO / "profiles.yml").read_text())
        outputs: dict[str, Any] = profile["flights_demo"]["outputs"]
        outputs["embedded"] |= {"spark_conf": {**SMALL, "spark.master": "local[2]"}}
        outputs["standalone"] = outputs["embedded"] | {
            "spark_conf": {
                **SMALL,
                "spark.master": "{{ env_var('TEST_MASTER', '') }}",
                "spark.executor.memory": "512m",
                "spark.executor.extraJavaOptions": JAVA,
                "spark.cores.max": "2",
                "spark.driver.host": "127.0.0.1",
                "spark.driver.bindAddress": "127.0.0.1",
            }
        }
        outputs["server"] = outputs["embedded"] | {
            "path": "{{ env_var('TEST_CATALOG_WAREHOUSE', '') }}",
            "spark_conf": "{{ env_var('TEST_CATALOG_CONF', '{}') | as_native }}",
        }
        return outputs

    @contextmanager
    def postgres(self) -> Iterator[Client]:
        """A worker for a folder whose catalog is a PostgreSQL server."""
        driver = str(jars.jar_path(postgres_server.DRIVER))
        with (
            postgres_server.running_server() as address,
            self._with_catalog("postgres", postgres_server.catalog_conf(address, driver)) as client,
        ):
            yield client

    @contextmanager
    def rest(self) -> Iterator[Client]:
        """A worker for a folder whose catalog is a REST server."""
        with (
            rest_server.running_server(self.warehouse.with_name("rest_server")) as address,
            self._with_catalog("rest", rest_server.catalog_conf(address)) as client,
        ):
            yield client

    @contextmanager
    def hive(self) -> Iterator[Client]:
        """A worker for a folder whose catalog is a Hive metastore."""
        with (
            hive_server.running_server(self.warehouse.with_name("hive_server")) as address,
            self._with_catalog("hive", hive_server.catalog_conf(address)) as client,
        ):
            yield client

    @contextmanager
    def session_catalog(self) -> Iterator[Client]:
        """A worker for Spark's own catalog, on a Hive metastore."""
        with (
            hive_server.running_server(self.warehouse.with_name("session_catalog")) as address,
            self._with_catalog("session", hive_server.session_catalog_conf(address)) as client,
        ):
            yield client

    @contextmanager
    def _with_catalog(self, name: str, conf: dict[str, str]) -> Iterator[Client]:
        """A worker for a folder of another catalog, which has loaded and built the project."""
        folder = str(self.warehouse.with_name(f"warehouse_of_{name}"))
        conf = {**SMALL, "spark.master": "local[2]", **conf}
        variables = {"TEST_CATALOG_WAREHOUSE": folder, "TEST_CATALOG_CONF": json.dumps(conf)}
        output = self.outputs()["server"] | {"path": folder, "spark_conf": conf}
        with self.client("server", output, **variables) as client:
            client.load(self.project.parent / f"data_of_{name}")
            client.dbt("build")
            yield client
