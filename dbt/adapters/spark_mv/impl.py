"""The adapter: dbt-spark's, made right for catalogs of Iceberg tables and views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dbt.adapters.__about__ import version as adapters_version
from dbt.adapters.base import AdapterConfig, BaseRelation, available
from dbt.adapters.base.impl import AdapterTrackingRelationInfo
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.impl import (
    SCHEMA_NOT_FOUND_MESSAGES,
    SparkAdapter,
    SparkConfig,
)
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_mv.__version__ import version
from dbt.adapters.spark_mv.catalog.resolver import folds_case
from dbt.adapters.spark_mv.column import SparkMVColumn
from dbt.adapters.spark_mv.connections import SparkMVConnectionManager
from dbt.adapters.spark_mv.core.creation import beside_others
from dbt.adapters.spark_mv.glue.docs_catalog import catalog_rows, outdated_properties
from dbt.adapters.spark_mv.glue.methods import MaterializedViewMethods
from dbt.adapters.spark_mv.glue.replacement import ReplacementMethods
from dbt.adapters.spark_mv.glue.seeds import SeedMethods
from dbt.adapters.spark_mv.relation import (
    ListedRelation,
    SparkMVRelation,
    readable_information,
    relation_types,
)
from dbt.adapters.spark_mv.spark.session import SessionConnection
from dbt.adapters.spark_mv.spark.session_client import setting_of
from dbt.adapters.spark_mv.sql.literals import spark_text
from dbt.adapters.spark_mv.sql.names import SESSION_CATALOG, unquoted

logger = AdapterLogger("SparkMV")
_NO_VIEWS_HERE = ("MISSING_CATALOG_ABILITY", "UNSUPPORTED_FEATURE", "PARSE_SYNTAX_ERROR")
_FORMATS = ("delta", "iceberg", "hudi")


class SparkMVAdapter(MaterializedViewMethods, ReplacementMethods, SeedMethods, SparkAdapter):
    """dbt-spark with materialized views."""

    Relation = SparkMVRelation
    Column = SparkMVColumn
    ConnectionManager = SparkMVConnectionManager
    AdapterSpecificConfigs: type[AdapterConfig] = SparkConfig

    @classmethod
    def get_adapter_run_info(cls, config: Any) -> AdapterTrackingRelationInfo:
        """What anonymous statistics say; dbt's own version guesses a module from the class name."""
        return AdapterTrackingRelationInfo(
            adapter_name="spark_mv",
            base_adapter_version=adapters_version,
            adapter_version=version,
            model_adapter_details={},
        )

    def pre_model_hook(self, config: Any) -> Any:
        """A node begins: its file format, its type, and what it reads are put right first."""
        extra = getattr(getattr(config.model, "config", None), "_extra", None)
        if extra is not None and extra.get("file_format") is None and self.default_is_iceberg():
            # A model without a file format gets the format of the default catalog.
            extra["file_format"] = "iceberg"
        self.end_replacement(config)
        self.start_node(config)
        super().pre_model_hook(config)
        return self.move_to_backup(config)

    def post_model_hook(self, config: Any, context: Any) -> None:
        """A node has ended, well or not."""
        try:
            self.drop_or_restore_backup(context)
        finally:
            self.end_node()
        super().post_model_hook(config, context)

    def cleanup_connections(self) -> None:
        """The command ends."""
        self.connections.close_materialized_views()
        super().cleanup_connections()

    @available.parse(lambda *_, **__: False)
    def default_is_iceberg(self) -> bool:
        """Whether a table without USING becomes an Iceberg table."""
        catalog = self._setting("spark.sql.defaultCatalog") or SESSION_CATALOG
        if catalog == SESSION_CATALOG:
            # It has tables of all formats, also if it is one of Iceberg.
            return self._setting("spark.sql.sources.default") == "iceberg"
        return "iceberg" in (self._setting(f"spark.sql.catalog.{catalog}") or "").lower()

    def _setting(self, name: str) -> str | None:
        """A setting of Spark's that belongs to its start: asked once."""
        known: dict[str, str | None] = self.__dict__.setdefault("_settings", {})
        if name not in known:
            known[name] = self._ask_for_setting(name)
        return known[name]

    def _ask_for_setting(self, name: str) -> str | None:
        handle = self.connections.get_thread_connection().handle
        if isinstance(handle, SessionConnection):
            return setting_of(handle.session, name)
        # Quoted, as Spark takes a comment behind a plain name for a part of it.
        _, table = self.execute(f"set `{name}`", fetch=True)
        value = table.rows[0][1] if len(table.rows) else None
        return None if value in (None, "<undefined>") else str(value)

    def get_relation(self, database: str, schema: str, identifier: str) -> BaseRelation | None:
        """The relation of a name, in the letters that the catalog keeps."""
        listed = self.list_relations(None, schema)
        exact = [relation for relation in listed if relation.identifier == identifier]
        if exact or not self._folds_names():
            return next(iter(exact), None)
        folded = identifier.lower()
        return next((one for one in listed if str(one.identifier).lower() == folded), None)

    def _folds_names(self) -> bool:
        """Whether the default catalog takes `Orders` and `orders` for one name, as Hive does."""
        if not self.default_is_iceberg():
            return True
        catalog = self._setting("spark.sql.defaultCatalog") or SESSION_CATALOG
        keys = (f"spark.sql.catalog.{catalog}{end}" for end in ("", ".type", ".catalog-impl"))
        found = {key: self._setting(key) for key in keys}
        return folds_case(catalog, {key: value for key, value in found.items() if value})

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        """Tables, views and materialized views; storage tables are left out."""
        listed = self.list_everything(schema_relation)
        types = relation_types(listed)
        return [
            self.Relation.create(
                schema=row.schema,
                identifier=row.name,
                type=types[row.name],
                information=row.information,
                **{f"is_{name}": row.has_format(name) for name in _FORMATS},
            )
            for row in listed
            if row.name in types
        ]

    def list_everything(self, schema_relation: BaseRelation) -> list[ListedRelation]:
        """All that Spark lists in a schema, by two statements: a v2 listing has no views."""
        arguments, written = {"schema_relation": schema_relation}, str(schema_relation.schema)
        try:
            rows = self.execute_macro("list_relations_without_caching", kwargs=arguments)
        except DbtRuntimeError as error:
            if any(text in str(error.msg) for text in SCHEMA_NOT_FOUND_MESSAGES):
                return []
            raise
        listed = {
            name: ListedRelation(schema, name, "Type: VIEW" in text, readable_information(text))
            for schema, name, is_temporary, text in _in_schema(written, rows)
            if schema and not is_temporary
        }
        for schema, name, is_temporary in _in_schema(written, self._list_views(arguments)):
            if schema and not is_temporary and name not in listed:
                listed[name] = ListedRelation(schema, name, True, "Type: VIEW\n")
        return list(listed.values())

    def _list_views(self, arguments: dict[str, Any]) -> Iterable[Any]:
        try:
            rows: Iterable[Any] = self.execute_macro("spark_mv_list_views", kwargs=arguments)
        except DbtRuntimeError as error:
            if any(text in str(error.msg) for text in _NO_VIEWS_HERE):
                return []
            raise
        return rows

    @beside_others
    def create_schema(self, relation: BaseRelation) -> None:
        """Create a schema that is not there."""
        super().create_schema(relation)

    def list_schemas(self, database: str) -> list[str]:
        """Names of schemas; Spark lists some in backticks."""
        return [unquoted(name) for name in super().list_schemas(database)]

    def check_schema_exists(self, database: str, schema: str) -> bool:
        """Whether there is a schema of this name."""
        return schema in self.list_schemas(database)

    def drop_schema(self, relation: BaseRelation) -> None:
        """Empty the schema first: Iceberg catalogs know no CASCADE."""
        schema = relation.without_identifier()
        for listed in self.list_relations_without_caching(schema):
            self.drop_relation(listed)
        for row in self.list_everything(schema):
            orphan = self.Relation.create(
                schema=row.schema,
                identifier=row.name,
                type="view" if row.is_view else "table",
                is_iceberg=row.has_format("iceberg"),
            )
            self.drop_relation(orphan)
        super().drop_schema(relation)

    @available
    @staticmethod
    def outdated_properties(relation: Any, wanted: dict[str, Any]) -> list[str]:
        """Properties of a listed table that a model no longer sets."""
        return outdated_properties(relation.information, wanted)

    @available
    @staticmethod
    def text_literal(text: str) -> str:
        """A text as a Spark string literal, with its quotes."""
        return spark_text(str(text))

    def get_columns_in_relation(self, relation: BaseRelation) -> list[SparkMVColumn]:
        """Columns of a relation; none if it is not there."""
        return [SparkMVColumn(**vars(one)) for one in super().get_columns_in_relation(relation)]

    def _get_columns_for_catalog(self, relation: BaseRelation) -> Iterable[dict[str, Any]]:
        try:
            rows = self.execute_macro("get_columns_in_relation_raw", kwargs={"relation": relation})
        except DbtRuntimeError as error:
            # Dropped since it was listed, or a view whose table is gone: the docs can do without.
            logger.debug(f"No catalog entry for {relation}: {error.msg}")
            return []
        stats = self.materialized_view_stats(relation) if relation.is_materialized_view else {}
        return catalog_rows(relation, rows, stats)


def _in_schema(written: str, rows: Iterable[Any]) -> Iterable[Any]:
    """Rows of a listing, with the name of the schema as it was written: Spark lists some in
    backticks, and all without the catalog, by which dbt would not find them again."""
    for schema, *others in rows:
        name = unquoted(schema or "")
        yield (written if name and written.lower().endswith(f".{name.lower()}") else name), *others
