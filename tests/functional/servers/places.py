"""A copy of the demo project with its warehouse, and the profile that its targets need."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
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
# The servers of catalogs: what runs one, whose data are in a folder, and Spark's settings for it.
CATALOGS: dict[
    str,
    tuple[Callable[[Path], AbstractContextManager[str]], Callable[[str], dict[str, str]]],
] = {
    "postgres": (
        lambda folder: postgres_server.running_server(),
        lambda address: postgres_server.catalog_conf(
            address, str(jars.jar_path(postgres_server.DRIVER))
        ),
    ),
    "rest": (rest_server.running_server, rest_server.catalog_conf),
    "hive": (hive_server.running_server, hive_server.catalog_conf),
    "spark_catalog": (hive_server.running_server, hive_server.session_catalog_conf),
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
    def with_catalog(self, name: str) -> Iterator[Client]:
        """A worker for a folder of another catalog, which has loaded and built the project."""
        server, conf_of = CATALOGS[name]
        folder = str(self.warehouse.with_name(f"warehouse_of_{name}"))
        with server(self.warehouse.with_name(f"server_of_{name}")) as address:
            conf = {**SMALL, "spark.master": "local[2]", **conf_of(address)}
            variables = {"TEST_CATALOG_WAREHOUSE": folder, "TEST_CATALOG_CONF": json.dumps(conf)}
            output = self.outputs()["server"] | {"path": folder, "spark_conf": conf}
            with self.client("server", output, **variables) as client:
                client.load(self.project.parent / f"data_of_{name}")
                client.dbt("build")
                yield client
