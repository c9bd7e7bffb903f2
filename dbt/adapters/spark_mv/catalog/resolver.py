"""Looks up what a name stands for: a table, a view with its text, or nothing.

Where the JVM is in this process the catalog answers directly; everywhere else DESCRIBE and
SHOW CREATE TABLE give the same facts.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from dbt.adapters.spark_mv.catalog import descriptions
from dbt.adapters.spark_mv.core.errors import StatementFailed, UnknownCatalog
from dbt.adapters.spark_mv.core.executor import (
    ColumnType,
    Executor,
    Row,
    TableFacts,
    ViewFacts,
    client_for,
)
from dbt.adapters.spark_mv.sql.names import (
    SESSION_CATALOG,
    Namespace,
    TableName,
    listed_parts,
    resolve,
    use,
)
from dbt.adapters.spark_mv.sql.plans import WHOLE_PLANS

_NOT_FOUND = (
    "TABLE_OR_VIEW_NOT_FOUND",
    "SCHEMA_NOT_FOUND",
    "NoSuchTable",
    "NoSuchNamespace",
    "NoSuchView",
    "NoSuchDatabase",
)
_ICEBERG_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
_FOLDING = (".HiveCatalog", ".GlueCatalog")
_CATALOG = re.compile(r"spark\.sql\.catalog\.([^.]+)")
_VIEW_HOME, _RETURNED = "View Catalog and Namespace", "View Query Output Columns"
# What Spark prints in place of the last fields of a long structure.
_CUT = " more fields"
Facts = TableFacts | ViewFacts


def is_not_found(error: StatementFailed) -> bool:
    """Whether Spark failed because a relation or schema does not exist."""
    return any(marker in str(error) for marker in _NOT_FOUND)


class Resolver:
    """Facts about relations, and the resolution of names, for one Spark session."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._lock = threading.Lock()
        self._catalogs: frozenset[str] = frozenset()
        self._folding: dict[str, bool] = {}
        self._threads = threading.local()
        # What names were when they were last asked for; of views with the rows that said so.
        self._iceberg: set[TableName] = set()
        self._views: dict[TableName, tuple[list[Row], ViewFacts]] = {}
        self._returned: dict[Hashable, list[ColumnType]] = {}

    @contextmanager
    def knows_catalogs(self) -> Iterator[None]:
        """Inside the block this thread asks the catalog client once which catalogs there are."""
        if getattr(self._threads, "catalogs", None) is not None:
            yield  # it is inside of another one
            return
        self._threads.catalogs = {}
        try:
            yield
        finally:
            self._threads.catalogs = None

    @contextmanager
    def remembered(self) -> Iterator[None]:
        """Inside the block this thread asks SQL once for each name: one consistent view of the
        catalog.

        The catalog client is cheap enough to be asked every time, but for which catalogs there are.
        """
        if getattr(self._threads, "facts", None) is not None:
            yield  # it is inside of another one
            return
        self._threads.facts, self._threads.returned = {}, {}
        try:
            with self.knows_catalogs():
                yield
        finally:
            self._threads.facts = self._threads.returned = None

    def forget(self) -> None:
        """Inside a `remembered` block: later questions are asked again."""
        for known in ("facts", "returned"):
            (getattr(self._threads, known, None) or {}).clear()

    def was_iceberg(self, name: TableName) -> bool:
        """Whether SQL was asked for the name before, and it was an Iceberg table."""
        return name in self._iceberg

    def assume_iceberg(self, names: Iterable[TableName]) -> None:
        """Inside a `remembered` block: these are Iceberg tables, as the caller has just seen."""
        known: dict[TableName, Facts | None] = self._threads.facts
        for name in names:
            known.setdefault(name, TableFacts(provider="iceberg"))

    @property
    def has_client(self) -> bool:
        """Whether the catalog is asked without statements."""
        return self._executor.catalog is not None

    def current_namespace(self) -> Namespace:
        """Where the session looks up unqualified names now."""
        client = self._executor.catalog
        if client is not None:
            return Namespace(*client.session())
        ((catalog, schema),) = self._executor.query("SELECT current_catalog(), current_schema()")
        return Namespace(catalog, listed_parts(schema or ""))

    def is_catalog(self, name: str) -> bool:
        """Whether a catalog of this name is registered in the session."""
        if name == SESSION_CATALOG:
            return True
        client = self._executor.catalog
        if client is not None:
            known: dict[str, bool] | None = getattr(self._threads, "catalogs", None)
            if known is None:
                return client.is_catalog(name)
            if name not in known:
                known[name] = client.is_catalog(name)
            return known[name]
        with self._lock:
            if not self._catalogs:
                self._catalogs = self._listed_catalogs()
            return name in self._catalogs

    def _listed_catalogs(self) -> frozenset[str]:
        """Spark lists those that the session has used already, and makes others of its settings."""
        used = self._executor.query("SHOW CATALOGS")
        keys = map(_CATALOG.fullmatch, self._settings())
        made = {key[1] for key in keys if key is not None}
        return frozenset(made | {str(row[0]) for row in used})

    def resolve(self, parts: tuple[str, ...], current: Namespace) -> TableName:
        """The relation that a written name stands for."""
        return resolve(parts, current, self.is_catalog, self._folds_case)

    def _folds_case(self, catalog: str) -> bool:
        if catalog not in self._folding:
            settings = {} if catalog == SESSION_CATALOG else self._settings()
            self._folding[catalog] = folds_case(catalog, settings)
        return self._folding[catalog]

    def _settings(self) -> Mapping[str, str]:
        client = self._executor.catalog
        if client is not None:
            return client.settings()
        return {str(row[0]): str(row[1]) for row in self._executor.query("SET")}

    def lookup(self, name: TableName) -> Facts | None:
        """What the name stands for, None if there is no such relation; raises `UnknownCatalog`."""
        client = client_for(self._executor, name.catalog)
        if client is not None:
            return client.lookup(name.parts)
        known: dict[TableName, Facts | None] | None = getattr(self._threads, "facts", None)
        if known is None:
            return self._ask(name)
        if name not in known:
            known[name] = self._ask(name)
        return known[name]

    def columns(self, name: TableName, whole: bool = False) -> list[ColumnType]:
        """Names and types of the columns of a table; raises `StatementFailed`. Of structures Spark
        prints some fields, if not the `whole` types are asked for."""
        client = client_for(self._executor, name.catalog)
        found = None
        if client is not None:
            found = client.columns(name.parts, whole)
        return self._described(f"SELECT * FROM {name.sql}", whole) if found is None else found

    def _described(
        self, query: str, whole: bool, settings: Mapping[str, str] | None = None
    ) -> list[ColumnType]:
        if settings is not None:
            with self._executor.isolated({**settings, **WHOLE_PLANS}) as session:
                return descriptions.columns_of_query(session, query)
        found = descriptions.columns_of_query(self._executor, query)
        if whole and any(_CUT in kind for _, kind in found):
            with self._executor.isolated(WHOLE_PLANS) as session:
                found = descriptions.columns_of_query(session, query)
        return found

    def returned(
        self, query: str, by: Hashable = None, settings: Mapping[str, str] | None = None
    ) -> list[ColumnType]:
        """Names and types of what a query returns in a session with these settings, else in that of
        the user; raises `StatementFailed`. `by` is all else that these depend on, None if that is
        not known: then it is asked for once in a `remembered` block."""
        inside: dict[Hashable, list[ColumnType]] | None = getattr(self._threads, "returned", None)
        known = inside if by is None else self._returned
        if known is None:
            return self._planned(query, settings)
        client = self._executor.catalog
        under = client.settings() if settings is None and client is not None else settings
        key = (query, by, frozenset((under or {}).items()))
        if key not in known:
            known[key] = self._planned(query, settings)
        return known[key]

    def _planned(self, query: str, settings: Mapping[str, str] | None) -> list[ColumnType]:
        client = self._executor.catalog
        if settings is None and client is not None:
            return client.returned(query)
        return self._described(query, True, settings)

    def explained(
        self, query: str, home: Namespace, settings: Mapping[str, str] | None = None
    ) -> str:
        """Spark's plans of a query whose names are looked up in `home`, as text."""
        with self._executor.isolated({**(settings or {}), **WHOLE_PLANS}) as session:
            session.query(use(home))
            rows = session.query(f"EXPLAIN EXTENDED {query}")
        return "\n".join(str(row[0]) for row in rows)

    def _ask(self, name: TableName) -> Facts | None:
        self._iceberg.discard(name)
        try:
            rows = self._executor.query(f"DESCRIBE TABLE EXTENDED {name.sql}")
        except StatementFailed as error:
            if not self.is_catalog(name.catalog):
                raise UnknownCatalog(
                    f"{name.full} cannot be read: this session has no catalog {name.catalog}.",
                    "Give `spark_conf` of the target its settings, under this name.",
                ) from None
            if is_not_found(error):
                return None
            raise
        details = descriptions.details_in(rows)
        if _VIEW_HOME in details or details.get("Type") == "VIEW":
            return self._view(name, rows, details)
        facts = TableFacts(provider=details.get("Provider", "").lower())
        if facts.provider == "iceberg":
            self._iceberg.add(name)
        return facts

    def _view(self, name: TableName, rows: list[Row], details: dict[str, str]) -> ViewFacts:
        described, kept = self._views.get(name, ([], None))
        # The properties are among the rows, the text is not: it may change without them.
        is_same = "View Properties" in details and described == rows
        if kept is not None and is_same and "mv.storage_table" in kept.properties:
            # Its text reads the storage table, which is one of the properties, or did at first.
            return kept
        text = details.get("View Text") or descriptions.text_of_create(
            self._executor.query(f"SHOW CREATE TABLE {name.sql}")[0][0],
            descriptions.columns_in(rows),
            details.get("Comment"),
        )
        if kept is not None and is_same:
            return replace(kept, text=text)
        # Of views of Iceberg in Spark's own catalog it is not said; their texts have whole names.
        home, mode = details.get(_VIEW_HOME), details.get("View Schema Mode")
        is_own = home is not None and mode is not None
        types = tuple(str(row[1]) for row in descriptions.columns_in(rows))
        if is_own and "EVOLUTION" in str(mode):  # its columns change with its text
            types = ()
        catalog, *namespace = listed_parts(home) if home else (name.catalog, *name.namespace)
        properties = self._executor.query(f"SHOW TBLPROPERTIES {name.sql}")
        facts = ViewFacts(
            text=text,
            catalog=catalog,
            namespace=tuple(namespace),
            columns=tuple(str(row[0]) for row in descriptions.columns_in(rows)),
            properties={str(key): str(value) for key, value in properties},
            types=types,
            returned=descriptions.names_in(details.get(_RETURNED, "")) if is_own else None,
        )
        self._views[name] = rows, facts
        return facts


def folds_case(catalog: str, settings: Mapping[str, str]) -> bool:
    """Whether a catalog of a session with these settings has names in lower case only, as Spark's
    own and those of Hive and Glue have."""
    if catalog == SESSION_CATALOG:
        return True
    key = f"spark.sql.catalog.{catalog}"
    if settings.get(key) != _ICEBERG_CATALOG:
        return False
    implementation = settings.get(f"{key}.catalog-impl", "")
    # Iceberg takes Hive if neither is set.
    kind = settings.get(f"{key}.type", "" if implementation else "hive")
    return kind.lower() in ("hive", "glue") or implementation.endswith(_FOLDING)
