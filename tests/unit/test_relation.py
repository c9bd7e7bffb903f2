import pytest
from dbt.adapters.contracts.relation import RelationType

from dbt.adapters.spark_mv.glue.docs_catalog import outdated_properties
from dbt.adapters.spark_mv.relation import (
    ListedRelation,
    SparkMVRelation,
    readable_information,
    relation_types,
)
from dbt.adapters.spark_mv.sql.names import unquoted


def _listed(name: str, is_view: bool = False, information: str = "") -> ListedRelation:
    return ListedRelation("db", name, is_view, information)


def test_a_view_over_a_storage_table_is_a_materialized_view() -> None:
    listed = [
        _listed("sales", is_view=True),
        _listed("sales__mv_0a1b2c3d"),
        _listed("plain", is_view=True),
        _listed("orders"),
        _listed("orders__mv_nothexad"),
        _listed("mine__mv_01234567"),
        _listed("gone__mv_01234567", information="[mv.storage_of=local.db.gone,format=iceberg]"),
    ]
    assert relation_types(listed) == {
        "sales": RelationType.MaterializedView,
        "plain": RelationType.View,
        "orders": RelationType.Table,
        "orders__mv_nothexad": RelationType.Table,
        "mine__mv_01234567": RelationType.Table,
    }


def test_properties_that_spark_spreads_are_put_together() -> None:
    spread = ", ".join("[a=b,current-snapshot-id=1]")
    text = readable_information(f"Type: MANAGED\nTable Properties: [{spread}]\nSchema: root\n")
    assert "Table Properties: [a=b,current-snapshot-id=1]\n" in text
    assert outdated_properties(text, []) == ["a"]
    assert outdated_properties(text, ["a"]) == []


@pytest.mark.parametrize(
    ("schema", "name", "rendered"),
    [
        ("db", "orders", "db.orders"),
        ("Db_1", "_x", "Db_1._x"),
        ("db", "umsätze", "db.`umsätze`"),
        ("größen", "x", "`größen`.x"),
        ("db", "my-orders", "db.`my-orders`"),
        ("db", "wie groß", "db.`wie groß`"),
        ("db", "2026", "db.`2026`"),
        ("db", "a.b", "db.`a.b`"),
        ("lake.db", "x", "lake.db.x"),
        ("my-lake.größen", "x", "`my-lake`.`größen`.x"),
        ("parquet", "`/data/x`", "parquet.`/data/x`"),
    ],
)
def test_names_are_in_backticks_where_spark_needs_them(
    schema: str, name: str, rendered: str
) -> None:
    relation = SparkMVRelation.create(schema=schema, identifier=name)
    assert str(relation) == relation.render() == rendered
    assert relation.without_identifier().render() == rendered.removesuffix(
        "." + relation.include(schema=False).render()
    )


@pytest.mark.parametrize(
    ("listed", "name"),
    [("db", "db"), ("`größen`", "größen"), ("a.`b-c`", "a.b-c"), ("`a``b`", "a`b")],
)
def test_names_of_schemas_are_listed_in_backticks(listed: str, name: str) -> None:
    assert unquoted(listed) == name
