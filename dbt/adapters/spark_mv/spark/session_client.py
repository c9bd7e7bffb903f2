"""What is asked of a session whose JVM is in this process, without a statement."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import ColumnType, QueryPlan
from dbt.adapters.spark_mv.spark.error_messages import short_message
from dbt.adapters.spark_mv.spark.java_classes import java_classes

Parts = tuple[str, ...]
_SHORT_NAMES = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
# A table of a catalog, once conditions and columns are pushed into it.
_SCAN = "DataSourceV2ScanRelation"


class SessionClient:
    """The part of a `CatalogClient` that is about the session; `session` is the user's."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._jvm = java_classes(session)
        self._set_active = self._jvm.org.apache.spark.sql.SparkSession.setActiveSession
        self._cached = session._jsparkSession.sharedState().cacheManager()
        self._manager = session._jsparkSession.sessionState().catalogManager()
        self._modes = self._jvm.org.apache.spark.sql.execution.CommandExecutionMode
        self._json = self._jvm.com.fasterxml.jackson.databind.ObjectMapper()

    def session(self) -> tuple[str, Parts]:
        """Current catalog and namespace of the user's session."""
        return self._call(self._current)

    def _current(self) -> tuple[str, Parts]:
        self._activate()
        # As one text: each part would be asked for by itself.
        namespace = self._json.writeValueAsString(self._manager.currentNamespace())
        return str(self._manager.currentCatalog().name()), tuple(json.loads(namespace))

    def is_catalog(self, name: str) -> bool:
        """Whether a catalog of this name is registered."""
        return bool(self._call(self._is_catalog, name))

    def _is_catalog(self, name: str) -> bool:
        self._activate()
        return bool(self._manager.isCatalogRegistered(name))

    def is_temporary_view(self, parts: Parts) -> bool:
        """Whether the user's session has a temporary view of this name."""
        catalog = self._session._jsparkSession.sessionState().catalog()
        find = catalog.getTempView if len(parts) == 1 else catalog.getGlobalTempView
        return bool(self._call(find, parts[-1]).isDefined())

    def has_cached_plans(self) -> bool:
        """Whether anything is cached by CACHE TABLE."""
        return not self._cached.isEmpty()

    def settings(self) -> Mapping[str, str]:
        """What is set in the user's session."""
        return self._call(settings_of, self._session)

    def setting(self, key: str) -> str:
        """The value of a setting of Spark in the user's session, whether it is set or not."""
        found = self._call(setting_of, self._session, key)
        if found is None:
            raise StatementFailed(f"Spark has no setting {key}")
        return str(found)

    def plan(self, query: str) -> QueryPlan:
        """What the user's session would do for a query, which does not run."""
        return self._call(self._plan, query)

    def returned(self, query: str) -> list[ColumnType]:
        """Names and whole types of what a query returns, with the collations of strings."""
        return self._call(self._returned, query)

    def _returned(self, query: str) -> list[ColumnType]:
        fields = self._planned(query).analyzed().schema().fields()
        return [(str(field.name()), str(field.dataType().catalogString())) for field in fields]

    def _planned(self, query: str) -> Any:
        state = self._session._jsparkSession.sessionState()
        parsed = state.sqlParser().parsePlan(query)
        # A text that turned out to be a command must not run, either.
        return state.executePlan(parsed, self._modes.SKIP())

    def _plan(self, query: str) -> QueryPlan:
        execution = self._planned(query)
        columns = columns_of(execution.analyzed().schema())
        return QueryPlan(columns, partial(self._call, _rows_read, execution))

    def spark_version(self) -> str:
        """The version of Spark, as in 4.1.4."""
        return str(self._call(self._session._jsparkSession.version))

    def _activate(self) -> None:
        # The catalog manager asks the conf of the session that is active in its thread, and another
        # target of this process may have made its own the active one.
        self._set_active(self._session._jsparkSession)

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except StatementFailed:
            raise
        except Exception as error:
            raise StatementFailed(short_message(error)) from None


def _rows_read(execution: Any) -> int:
    """The rows that a query reads once conditions are pushed into its tables."""
    optimized = execution.optimizedPlan()
    return sum(map(_rows_scanned, [optimized, *_entries(optimized.subqueriesAll())]))


def _rows_scanned(plan: Any) -> int:
    """The rows of the scans of an optimized plan whose statistics know them."""
    total = 0
    for leaf in _entries(plan.collectLeaves()):
        if leaf.nodeName() == _SCAN:
            count = leaf.stats().rowCount()
            total += int(count.get()) if count.isDefined() else 0
    return total


def columns_of(schema: Any) -> tuple[ColumnType, ...]:
    """Names and types of the columns of a schema of Spark's, as DESCRIBE says them."""
    fields = json.loads(schema.json())["fields"]  # each call of the JVM takes as long
    return tuple((str(field["name"]), _type_name(field["type"])) for field in fields)


def _type_name(kind: Any) -> str:
    """A type as DESCRIBE says it, of what it is in Spark's JSON of a schema."""
    if isinstance(kind, str):
        return _SHORT_NAMES.get(kind, kind)
    if kind["type"] == "array":
        return f"array<{_type_name(kind['elementType'])}>"
    if kind["type"] == "map":
        return f"map<{_type_name(kind['keyType'])},{_type_name(kind['valueType'])}>"
    fields = kind.get("fields", ())
    inner = ",".join(f"{field['name']}:{_type_name(field['type'])}" for field in fields)
    return f"{kind['type']}<{inner}>"


def _entries(sequence: Any) -> Iterator[Any]:
    """The entries of a sequence of Scala's."""
    return (sequence.apply(index) for index in range(sequence.size()))


def close_catalogs(session: Any) -> None:
    """Close what the catalogs of Iceberg hold open that a session of this process has used, such as
    connections to their servers: each session has its own, which the collector may leave open for
    as long as there is memory."""
    classes = java_classes(session)
    manager = session._jsparkSession.sessionState().catalogManager()
    is_a = classes.py4j.reflection.TypeUtil.isInstanceOf
    for name in _entries(manager.listCatalogs(classes.scala.Option.empty())):
        plugin = manager.catalog(name)
        if not is_a("org.apache.iceberg.spark.source.HasIcebergCatalog", plugin):
            continue
        catalog = plugin.icebergCatalog()
        # One of Hadoop would drop the locks of all others of its kind.
        is_shared = is_a("org.apache.iceberg.hadoop.HadoopCatalog", catalog)
        if not is_shared and is_a("java.io.Closeable", catalog):
            catalog.close()


def setting_of(session: Any, key: str) -> str | None:
    """The value of a setting in a session of this process, whether it is set or not; None if it has
    none. With a default of ours `get` would not return Spark's."""
    try:
        found = session.conf.get(key)
    except Exception as error:
        if "SQL_CONF_NOT_FOUND" in str(error):
            return None
        raise
    return None if found in (None, "<undefined>") else str(found)


def settings_of(session: Any) -> Mapping[str, str]:
    """What is set in a session whose JVM is in this process.

    As one text: each entry of a map of Java's would be asked for by itself.
    """
    mapper = java_classes(session).com.fasterxml.jackson.databind.ObjectMapper()
    found: Mapping[str, str] = json.loads(
        mapper.writeValueAsString(session.conf._jconf.getAllAsJava())
    )
    return found
