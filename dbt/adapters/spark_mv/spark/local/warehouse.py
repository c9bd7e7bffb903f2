"""One folder as a whole warehouse: local Spark, Iceberg tables and views, a SQLite catalog.

Any Spark program that is given the same catalog reads and writes the same tables, at the same time.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed

from dbt.adapters.spark_mv.config.profile import CATALOG
from dbt.adapters.spark_mv.spark.local import jars

LOG_FILE = "spark.log"
_LOG_LIMIT = 5 << 20
_BUSY_SECONDS = 60
# A command sends few statements to a young JVM, whose compiler of hot code then takes more time
# than it saves. So methods have to be called ten times as often as usual before it compiles them;
# loops do not. Measured in docs/decisions/0014.
_JAVA_OPTIONS = (
    "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 "
    "-XX:Tier4CompileThreshold=150000"
)
_OF_THE_COMPILER = ("-XX:Tier", "TieredCompilation", "-Xint", "-Xcomp", "-XX:CompileThreshold")
_EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"

# The tables of Iceberg's JDBC catalog, schema version V1. Iceberg looks first and creates then,
# which two processes that start together cannot both win, so they are here before Spark is.
_CATALOG_TABLES = """
create table if not exists iceberg_tables(
  catalog_name varchar(255) not null, table_namespace varchar(255) not null,
  table_name varchar(255) not null, metadata_location varchar(1000),
  previous_metadata_location varchar(1000), iceberg_type varchar(5),
  primary key (catalog_name, table_namespace, table_name));
create table if not exists iceberg_namespace_properties(
  catalog_name varchar(255) not null, namespace varchar(255) not null,
  property_key varchar(255), property_value varchar(1000),
  primary key (catalog_name, namespace, property_key));
"""
# The namespace of a session before it has another one; a catalog that others have made may lack it.
_DEFAULT = ("local", "default", "exists", "true")


def embedded_conf(path: str, given: dict[str, str]) -> dict[str, str]:
    """The whole Spark configuration of the folder `path`; what is given wins."""
    conf = {
        "spark.master": "local[*]",
        "spark.app.name": "dbt-spark-mv",
        "spark.driver.memory": "2g",
        "spark.hadoop.fs.defaultFS": "file:///",
        "spark.log.level": "ERROR",
        "spark.sql.defaultCatalog": CATALOG,
        "spark.sql.extensions": _EXTENSIONS,
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": os.path.join(path, "session"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **catalog_conf(path),
        **given,
    }
    if conf["spark.master"].startswith("local"):
        # Nobody else has to reach this driver: no look-up of host names, no open port.
        conf.setdefault("spark.driver.bindAddress", "127.0.0.1")
        conf.setdefault("spark.driver.host", "127.0.0.1")
    _add_jars(conf)
    _add_java_options(conf)
    return conf


def _add_java_options(conf: dict[str, str]) -> None:
    """Ours, unless the user decides about the compiler."""
    given = conf.get("spark.driver.extraJavaOptions", "")
    if not any(word in given for word in _OF_THE_COMPILER):
        conf["spark.driver.extraJavaOptions"] = f"{_JAVA_OPTIONS} {given}".strip()


def catalog_conf(path: str) -> dict[str, str]:
    """The part of the configuration that names the folder."""
    catalog = f"spark.sql.catalog.{CATALOG}"
    pragmas = f"journal_mode=WAL&busy_timeout={_BUSY_SECONDS * 1000}"
    return {
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "jdbc",
        f"{catalog}.uri": f"jdbc:sqlite:{os.path.join(path, 'catalog.db')}?{pragmas}",
        f"{catalog}.warehouse": path,
        f"{catalog}.jdbc.schema-version": "V1",
        f"{catalog}.cache-enabled": "false",
    }


def _add_jars(conf: dict[str, str]) -> None:
    """Put the jars on the driver's class path, and send them to executors if there are any.

    Class data sharing knows only classes of the JVM's own class path, not those of `spark.jars`.
    """
    if "spark.jars.packages" in conf:
        return
    paths = [str(path) for path in jars.jar_paths()]
    given = conf.get("spark.driver.extraClassPath", "").split(os.pathsep)
    added = [*given, *(path for path in paths if path not in given)]
    conf["spark.driver.extraClassPath"] = os.pathsep.join(part for part in added if part)
    if not conf["spark.master"].startswith("local"):
        conf["spark.jars"] = ",".join(part for part in [conf.get("spark.jars"), *paths] if part)


def has_own_catalog(given: dict[str, str]) -> bool:
    """Whether the folder's catalog is the file in it, and not another one that the user names."""
    return f"spark.sql.catalog.{CATALOG}.uri" not in given


def prepare_folder(path: str, with_catalog: bool = True) -> Path:
    """Make the folder and its catalog unless they are there; returns the file for Spark's log."""
    if with_catalog and "?" in path:
        # The catalog's driver reads settings behind it, and would open another file without any.
        raise DbtRuntimeError(
            f"The folder {path} cannot be used as a warehouse: its name contains '?'.\n"
            "Name another folder."
        )
    try:
        os.makedirs(path, exist_ok=True)
        if with_catalog:
            # The change to WAL does not wait for other processes as everything else does.
            retrying = Retrying(
                retry=retry_if_exception(_is_locked),
                stop=stop_after_delay(_BUSY_SECONDS),
                wait=wait_fixed(0.05),
                reraise=True,
            )
            retrying(_create_catalog, os.path.join(path, "catalog.db"))
    except (OSError, sqlite3.Error) as error:
        raise DbtRuntimeError(
            f"The folder {path} cannot be used as a warehouse: {error}.\n"
            "Name a folder that can be written, or bring its catalog.db back from a copy."
        ) from None
    log = Path(path) / LOG_FILE
    if log.is_file() and log.stat().st_size > _LOG_LIMIT:
        log.write_bytes(b"")
    return log


def _is_locked(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


def _create_catalog(database: str) -> None:
    connection = sqlite3.connect(database, timeout=_BUSY_SECONDS)
    try:
        if connection.execute("pragma journal_mode").fetchone()[0] != "wal":
            connection.execute("pragma journal_mode=wal")
        names = connection.execute("select name from sqlite_master").fetchall()
        if ("iceberg_namespace_properties",) not in names:
            connection.executescript(f"begin immediate; {_CATALOG_TABLES} commit;")
        known = (
            "select 1 from iceberg_namespace_properties where (catalog_name, namespace) = (?, ?)"
        )
        if connection.execute(known, _DEFAULT[:2]).fetchone() is None:
            add = "insert or ignore into iceberg_namespace_properties values (?, ?, ?, ?)"
            connection.execute(add, _DEFAULT)
            connection.commit()
    finally:
        connection.close()
