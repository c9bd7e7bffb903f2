"""Iceberg's own REST catalog server, as its tests start it, on a free port of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dbt.adapters.spark_mv.spark.local import jars, warehouse
from tests.functional.servers.processes import JAVA_PROGRAM, SPARK_HOME, free_port, running

_SERVER = "org.apache.iceberg.rest.RESTCatalogServer"
_LIST = Path(__file__).with_name("rest_server.jars.txt")


@dataclass(frozen=True)
class ClassifiedJar(jars.Jar):
    """A library that is published beside the main one of its name."""

    classifier: str = ""

    @property
    def file_name(self) -> str:
        parts = (self.artifact, self.version, self.classifier)
        return "-".join(part for part in parts if part) + ".jar"


def catalog_conf(address: str) -> dict[str, str]:
    """What makes the catalog of an embedded folder one of the server at `address`."""
    catalog = f"spark.sql.catalog.{warehouse.CATALOG}"
    return {f"{catalog}.type": "rest", f"{catalog}.uri": address}


def _class_path() -> str:
    """The server's own libraries, and those that it has in common with Spark."""
    own = []
    for line in _LIST.read_text().splitlines():
        group, artifact, version, *classifier, digest = line.split()
        own.append(ClassifiedJar(group, artifact, version, digest, *classifier))
    sqlite = next(jar for jar in jars.JARS if jar.artifact.startswith("sqlite"))
    paths = [str(jars.jar_path(jar)) for jar in (*own, sqlite)]
    return os.pathsep.join([*paths, str(SPARK_HOME / "jars" / "*")])


@contextmanager
def running_server(folder: Path) -> Iterator[str]:
    """A server that runs inside the block and keeps all in `folder`; gives its address."""
    folder.mkdir(exist_ok=True)
    port = free_port()
    settings = {
        "CATALOG_REST_PORT": str(port),
        "CATALOG_WAREHOUSE": folder.as_uri(),
        "CATALOG_CATALOG__IMPL": "org.apache.iceberg.jdbc.JdbcCatalog",
        "CATALOG_URI": f"jdbc:sqlite:{folder}/catalog.db?journal_mode=WAL&busy_timeout=60000",
        "CATALOG_JDBC_SCHEMA__VERSION": "V1",
    }
    options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    command = ["env", *(f"{key}={value}" for key, value in settings.items())]
    command += [JAVA_PROGRAM, *options, "-cp", _class_path(), _SERVER]
    with running(command, folder / "server.log", port):
        yield f"http://127.0.0.1:{port}"
