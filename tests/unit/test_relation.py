from dbt.adapters.contracts.relation import RelationType

from dbt.adapters.spark_mv.described import outdated_properties
from dbt.adapters.spark_mv.relation import ListedRelation, readable_information, relation_types


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
