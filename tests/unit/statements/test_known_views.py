"""What the read gate knows of names: asked once, forgotten when it may have changed."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import TableFacts, ViewFacts
from dbt.adapters.spark_mv.sql.names import Namespace, TableName, resolve
from dbt.adapters.spark_mv.statements.read_gate import ReadGate
from dbt.adapters.spark_mv.views.dependencies import MAX_DEPTH

HOME = Namespace("local", ("db",))
OURS = {"mv.storage_table": "m__mv_01234567", "mv.id": "1"}
SHOWN = "SELECT `n__mv` AS `n` FROM `local`.`db`.`m__mv_01234567`"


def named(name: str) -> TableName:
    return TableName("local", ("db",), name)


def view(text: str, properties: Mapping[str, str] | None = None) -> ViewFacts:
    return ViewFacts(text, "local", ("db",), ("n",), properties or {})


class Catalog:
    """Relations by name; `asked` are the names that were looked up."""

    def __init__(self, **relations: Any) -> None:
        self.resolver, self.asked = relations, list[str]()

    def lookup(self, name: TableName) -> Any:
        self.asked.append(name.name)
        return self.resolver.get(name.name)

    def resolve(self, parts: tuple[str, ...], home: Namespace) -> TableName:
        return resolve(parts, home, lambda name: name == "local")

    def current_namespace(self) -> Namespace:
        return HOME


RELATIONS: dict[str, Any] = {
    "t": TableFacts("iceberg"),
    "m": view(SHOWN, OURS),
    "other": view(SHOWN, {**OURS, "mv.id": "2"}),
    "plain": view("select n from t"),
    "above": view("select n from m join t using (n)"),
    "both": view("select n from above union all select n from other union all select n from m"),
    "odd": view("select n from m where n >>> 1 = 0"),
    "over_odd": view("select n from m join odd using (n)"),
    "broken": view("select n from gone"),
    "half_of_ours": view("select n from t", {"mv.id": "3"}),
    "replaced": view("select n from t", OURS),
}
# Which materialized views a read of a name reads, in order; None if that is not known.
BEHIND = {
    "t": (),
    "m": ("m",),
    "plain": (),
    "above": ("m",),
    "half_of_ours": (),
    "replaced": (),
    "odd": None,
    "over_odd": None,
    "broken": None,
    "gone": None,
}


def gate_of(catalog: Catalog, **services: Any) -> ReadGate:
    made: Any = SimpleNamespace(resolver=catalog, **services)
    reader: Any = None
    return ReadGate(made, reader)


def behind(gate: ReadGate, name: str) -> tuple[str, ...] | None:
    found = gate.views_behind(named(name))
    return None if found is None else tuple(view.name for view in found)


@pytest.mark.parametrize("name", BEHIND)
def test_views_behind(name: str) -> None:
    gate = gate_of(Catalog(**RELATIONS))
    assert behind(gate, name) == BEHIND[name]
    assert gate.is_view(named(name)) == (name == "m")


def test_each_view_once() -> None:
    assert set(behind(gate_of(Catalog(**RELATIONS)), "both") or ()) == {"m", "other"}


@pytest.mark.parametrize(("depth", "is_known"), [(MAX_DEPTH + 1, True), (MAX_DEPTH + 2, False)])
def test_depth(depth: int, is_known: bool) -> None:
    """Views of one another, by a catalog that lets them be, end as what only Spark knows."""
    chain = {f"v{number}": view(f"select n from v{number - 1}") for number in range(1, depth + 1)}
    assert (
        behind(gate_of(Catalog(v0=TableFacts("iceberg"), **chain)), f"v{depth}") == ()
    ) is is_known
    circle = Catalog(v0=view("select n from v1"), v1=view("select n from v0"))
    assert behind(gate_of(circle), "v0") is None


def test_asked_once() -> None:
    """What is not known is remembered, too."""
    catalog = Catalog(**RELATIONS)
    gate = gate_of(catalog)
    for name in ("t", "m", "gone"):
        first = behind(gate, name)
        asked = len(catalog.asked)
        assert behind(gate, name) == first
        assert len(catalog.asked) == asked


@pytest.mark.parametrize(
    ("known", "written", "is_asked"),
    [
        ("m", "m", True),
        ("above", "m", True),
        ("broken", "t", True),
        ("plain", "other", False),
        ("above", "other", False),
        ("m", "above", False),
    ],
)
def test_forget(known: str, written: str, is_asked: bool) -> None:
    """A name that is written may be another relation now, and so may views over it."""
    catalog = Catalog(**RELATIONS)
    gate = gate_of(catalog)
    before = behind(gate, known)
    asked = len(catalog.asked)
    gate.forget(named(written))
    assert behind(gate, known) == before
    assert (len(catalog.asked) > asked) == is_asked


def test_forget_all() -> None:
    catalog = Catalog(**RELATIONS)
    gate = gate_of(catalog)
    behind(gate, "m")
    gate.forget_all()
    catalog.resolver["m"] = TableFacts("iceberg")
    assert behind(gate, "m") == ()


@pytest.mark.parametrize("forgets", ["forget", "forget_all"])
def test_forgotten_meanwhile(forgets: str) -> None:
    """What was looked up before is not remembered after it."""
    catalog = Catalog(**RELATIONS)
    gate = gate_of(catalog)
    lookup = catalog.lookup

    def replaced(name: TableName) -> Any:
        found = lookup(name)
        catalog.resolver["m"] = TableFacts("iceberg")
        gate.forget(named("m")) if forgets == "forget" else gate.forget_all()
        catalog.lookup = lookup  # type: ignore[method-assign]
        return found

    catalog.lookup = replaced  # type: ignore[method-assign]
    assert behind(gate, "m") == ("m",)
    assert behind(gate, "m") == ()


def is_there(
    client: Any, tables: Mapping[str, list[str]], views: list[str]
) -> tuple[bool, list[str]]:
    """Whether the gate has views, asked twice, and what it asked in SQL."""
    asked: list[str] = []

    def query(sql: str) -> list[tuple[str, str, bool]]:
        asked.append(sql)
        for schema, names in tables.items():
            if f"`{schema}`" in sql:
                return [(schema, name, False) for name in names]
        raise StatementFailed("no such schema")

    gate = gate_of(
        Catalog(),
        log=SimpleNamespace(state=lambda: SimpleNamespace(views=views)),
        executor=SimpleNamespace(catalog=client, query=query),
        schemas=("absent", "one", "two"),
    )
    assert gate.has_views() == gate.has_views()
    return gate.has_views(), asked


def test_metadata_know_views() -> None:
    """Then the catalog is not asked."""
    assert is_there(None, {}, ["m"]) == (True, [])


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["t", "m__mv_01234567"], True), (["m__mv_0123456", "t__mv_"], False), ([], False)],
)
def test_storage_tables_of_schemas(names: list[str], expected: bool) -> None:
    """Each schema is asked for once; one that is missing has none."""
    found, asked = is_there(None, {"one": [], "two": names, "m__mv_01234567": []}, [])
    assert found == expected and len(asked) == 3
    assert is_there(None, {}, [])[0] is False


@pytest.mark.parametrize("expected", [True, False])
def test_storage_tables_of_the_catalog(expected: bool) -> None:
    """Its client knows at once, of every schema."""
    catalogs: list[str] = []

    def has_storage_tables(catalog: str) -> bool:
        catalogs.append(catalog)
        return expected

    client = SimpleNamespace(
        has_storage_tables=has_storage_tables, handles=lambda catalog: catalog == "local"
    )
    tables = {} if expected else {"one": ["m__mv_01234567"]}
    assert is_there(client, tables, []) == (expected, [])
    assert catalogs == ["local"]


def test_storage_tables_of_a_catalog_of_no_client() -> None:
    """Spark's own may be one: its schemas are asked for, though there is a client for others."""
    client = SimpleNamespace(handles=lambda catalog: False)
    found, asked = is_there(client, {"one": [], "two": ["m__mv_01234567"]}, [])
    assert found and len(asked) == 3
