"""A Spark that is none: it knows the tables of a shop, and answers what the analysis of a
definition asks, so that the classifier runs as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sqlglot import exp
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor, Row
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.planning.analysis import Analysis
from dbt.adapters.spark_mv.planning.analyzer import Analyzer
from dbt.adapters.spark_mv.planning.by_partition import why_not
from dbt.adapters.spark_mv.sql.names import Namespace, TableName
from dbt.adapters.spark_mv.sql.parser import statements
from dbt.adapters.spark_mv.views.definition import Column, Definition, Layout, MaterializedView

TABLES: Mapping[str, Mapping[str, str]] = {
    "orders": {
        "id": "bigint",
        "customer": "bigint",
        "region": "string",
        "day": "date",
        "amount": "decimal(10,2)",
        "quantity": "int",
        "weight": "double",
        "is_paid": "boolean",
        "tags": "array<string>",
        "extra": "map<string,string>",
    },
    "customers": {"id": "bigint", "name": "string", "region": "string", "score": "int"},
    "returns": {"id": "bigint", "region": "string", "day": "date", "quantity": "int"},
}
USER_FUNCTION = "my_function"
HOME = Namespace("local", ("shop",))
_SCHEMA: dict[str, object] = {HOME.catalog: {HOME.namespace[0]: TABLES}}


class Shop:
    """An `Executor`. With `plans_otherwise` it plans no two queries alike."""

    catalog = None

    def __init__(self, plans_otherwise: bool = False) -> None:
        self._plans_otherwise = plans_otherwise
        self._plans = 0

    def query(self, sql: str) -> list[Row]:
        if sql.startswith("DESCRIBE QUERY "):
            return list(columns_of(sql.removeprefix("DESCRIBE QUERY ")).items())
        if sql.startswith("DESCRIBE TABLE EXTENDED "):
            if sql.split(".")[-1].strip("`") not in TABLES:
                raise StatementFailed("TABLE_OR_VIEW_NOT_FOUND", "")
            return [("", ""), ("Provider", "iceberg")]
        if sql.startswith("DESCRIBE FUNCTION "):
            ours = USER_FUNCTION in sql
            return [("Class: " + ("shop." if ours else "org.apache.spark.sql.catalyst."),)]
        if sql.startswith("EXPLAIN "):
            self._plans += self._plans_otherwise
            return [(f"plan {self._plans}",)]
        answers: dict[str, list[Row]] = {
            "SHOW CATALOGS": [(HOME.catalog,)],
            "SET": [],
            "SELECT version()": [("4.1",)],
        }
        return answers[sql]

    @contextmanager
    def isolated(self, settings: Mapping[str, str]) -> Iterator[Executor]:
        yield self

    def interrupt(self) -> None:
        raise AssertionError("nothing of a refresh runs here")


def columns_of(sql: str) -> dict[str, str]:
    """Names and Spark types of the columns of a query, as far as sqlglot can tell; a column that
    has no name gets one."""
    (tree,) = statements(sql)
    assert tree is not None
    for table in tree.find_all(exp.Table):
        if not table.db and table.name in TABLES:
            table.set("db", exp.to_identifier(HOME.namespace[0]))
            table.set("catalog", exp.to_identifier(HOME.catalog))
    qualified = qualify(tree, dialect="spark", schema=_SCHEMA, validate_qualify_columns=False)
    typed = annotate_types(qualified, schema=_SCHEMA, dialect="spark")
    assert isinstance(typed, exp.Query)
    return {name: _type_of(item) for item in typed.selects for name in _names_of(item)}


def _names_of(item: exp.Expr) -> list[str]:
    if isinstance(item, exp.Aliases):
        return [name.name for name in item.expressions]
    return [item.alias_or_name]


def _type_of(item: exp.Expr) -> str:
    return item.type.sql("spark").lower().replace(", ", ",") if item.type else "unknown"


def definition_of(query: str, settings: Mapping[str, str]) -> Definition:
    """The definition of a view in the shop's schema."""
    columns = tuple(Column(name, kind) for name, kind in columns_of(query).items())
    return Definition(query, HOME, columns, settings=dict(settings))


def analysis_of(definition: Definition, plans_otherwise: bool = False) -> Analysis | Reason:
    """What the package finds of a definition."""
    shop = Shop(plans_otherwise)
    return Analyzer(shop, Resolver(shop)).analysis(definition, _view(definition))


def against(
    method: str, definition: Definition, found: Analysis | Reason, *partition_by: str
) -> Reason | None:
    """What stands against a method for a view of this definition with these partitions."""
    return why_not(method, _view(definition, *partition_by), found)


def _view(definition: Definition, *partition_by: str) -> MaterializedView:
    name = TableName(HOME.catalog, HOME.namespace, "view")
    layout = Layout(partition_by)
    return MaterializedView("1", name, definition, definition.hash, name, layout=layout)
