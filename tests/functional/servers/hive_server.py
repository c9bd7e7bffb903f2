"""A Hive metastore of the tests' own, with its tables in Derby, on a free port of this machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dbt.adapters.spark_mv.spark.local import warehouse
from tests.functional.servers.processes import JAVA_PROGRAM, SPARK_HOME, free_port, running

_SERVER = "org.apache.hadoop.hive.metastore.HiveMetaStore"
_URL = "javax.jdo.option.ConnectionURL"
# The metastore makes its tables itself, but not those of the locks that commits take.
_PREPARE = f"""
import sys
from pyspark.java_gateway import launch_gateway
gateway = launch_gateway()
jvm = gateway.jvm
jvm.System.setProperty({_URL!r}, sys.argv[1])
conf = jvm.org.apache.hadoop.hive.conf.HiveConf()
jvm.org.apache.hadoop.hive.metastore.txn.TxnDbUtil.prepDb(conf)
gateway.shutdown()
"""


def catalog_conf(address: str) -> dict[str, str]:
    """What makes the catalog of an embedded folder one of the metastore at `address`."""
    catalog = f"spark.sql.catalog.{warehouse.CATALOG}"
    return {f"{catalog}.type": "hive", f"{catalog}.uri": address}


def session_catalog_conf(address: str) -> dict[str, str]:
    """What makes Spark's own catalog the default one, with tables of Iceberg and others in the
    metastore at `address`."""
    catalog = "spark.sql.catalog.spark_catalog"
    return {
        "spark.sql.defaultCatalog": "spark_catalog",
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.sources.default": "iceberg",
        "spark.hadoop.hive.metastore.uris": address,
        catalog: "org.apache.iceberg.spark.SparkSessionCatalog",
        f"{catalog}.type": "hive",
        f"{catalog}.uri": address,
        f"{catalog}.cache-enabled": "false",
    }


@contextmanager
def running_server(folder: Path) -> Iterator[str]:
    """A server that runs inside the block and keeps all in `folder`; gives its address."""
    folder.mkdir(exist_ok=True)
    url = f"jdbc:derby:;databaseName={folder}/tables;create=true"
    prepare = [sys.executable, "-c", _PREPARE, url]
    subprocess.run(prepare, check=True, capture_output=True, cwd=folder, timeout=120)
    port = free_port()
    settings = {
        _URL: url,
        "datanucleus.schema.autoCreateAll": "true",
        # The default pool is not among the libraries of Spark.
        "datanucleus.connectionPoolingType": "HikariCP",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": f"{folder}/warehouse",
    }
    # Nor is what its log is written with by default.
    options = ["-Xmx512m", "-XX:+UseSerialGC", "-Dhive.async.log.enabled=false"]
    command = [JAVA_PROGRAM, *options, "-cp", str(SPARK_HOME / "jars" / "*"), _SERVER]
    command += ["-p", str(port)]
    for key, value in settings.items():
        command += ["--hiveconf", f"{key}={value}"]
    with running(command, folder / "server.log", port):
        yield f"thrift://127.0.0.1:{port}"
