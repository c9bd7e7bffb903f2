from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.core.errors import InvalidName
from dbt.adapters.spark_mv.sql.names import (
    Namespace,
    TableName,
    check_view_name,
    literal,
    parse_name,
    quote,
    quote_parts,
    resolve,
)

HERE = Namespace("local", ("db",))


def is_catalog(name: str) -> bool:
    return name in ("local", "spark_catalog", "other")


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("t",), TableName("local", ("db",), "t")),
        (("db2", "t"), TableName("local", ("db2",), "t")),
        (("local", "db", "t"), TableName("local", ("db",), "t")),
        (("other", "a", "b", "t"), TableName("other", ("a", "b"), "t")),
        (("other", "t"), TableName("other", (), "t")),
        (("a", "b", "t"), TableName("local", ("a", "b"), "t")),
        (("Db", "T"), TableName("local", ("Db",), "T")),
        (("spark_catalog", "Db", "T"), TableName("spark_catalog", ("db",), "t")),
    ],
)
def test_resolve(parts: tuple[str, ...], expected: TableName) -> None:
    assert resolve(parts, HERE, is_catalog) == expected


def test_resolve_in_the_session_catalog() -> None:
    found = resolve(("Orders",), Namespace("spark_catalog", ("Sales",)), is_catalog)
    assert found == TableName("spark_catalog", ("sales",), "orders")


def test_resolve_where_case_is_folded() -> None:
    found = resolve(("other", "Db", "T"), HERE, is_catalog, lambda catalog: catalog == "other")
    assert found == TableName("other", ("db",), "t")
    kept = resolve(("Db", "T"), HERE, is_catalog, lambda catalog: catalog == "other")
    assert kept == TableName("local", ("Db",), "T")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sales", ("sales",)),
        ("db.sales", ("db", "sales")),
        ("local.db.sales", ("local", "db", "sales")),
        ("`db`.`odd name`", ("db", "odd name")),
        ("db.`a.b`", ("db", "a.b")),
        ("db.`tick``s`", ("db", "tick`s")),
        ("  db . sales ", ("db", "sales")),
        ("verkäufe", ("verkäufe",)),
    ],
)
def test_parse_name(text: str, expected: tuple[str, ...]) -> None:
    assert parse_name(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", " ", ".", "db.", ".sales", "a b", "a; b", "'a'", "db..t", "a-b", "(a)", "`a", 5, None],
)
def test_parse_name_refuses(text: object) -> None:
    with pytest.raises(InvalidName):
        parse_name(text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name",
    [
        "a/b",
        "a\\b",
        "a`b",
        ".a",
        "a\n",
        "a\x00",
        " a",
        "a ",
        "",
        " ",
        "x" * 101,
        "a__mv_0123abcd",
        "e\u0301",
        "a\u202eb",
        "${env:HOME}",
    ],
)
def test_view_names_that_are_refused(name: str) -> None:
    with pytest.raises(InvalidName) as caught:
        check_view_name(TableName("local", ("db",), name))
    assert len(str(caught.value).splitlines()) >= 2


@pytest.mark.parametrize("name", ["sales", "Sales 2026", "verkäufe", "x" * 100, "a.b", "a__mv_x"])
def test_view_names_that_are_allowed(name: str) -> None:
    check_view_name(TableName("local", ("db",), name))


def test_quoting() -> None:
    assert quote("a`b") == "`a``b`"
    assert quote_parts(("a", "b c")) == "`a`.`b c`"
    assert literal("it's").count("'") >= 3


def test_literals_survive_spark() -> None:
    # Spark reads a backslash in a literal as an escape.
    assert literal("a\\b") == "'a\\\\b'"


def test_siblings_and_texts() -> None:
    name = TableName("local", ("a", "b"), "t")
    assert name.sibling("u") == TableName("local", ("a", "b"), "u")
    assert (name.schema, str(name), name.sql) == ("a.b", "a.b.t", "`local`.`a`.`b`.`t`")
    assert TableName("local", ("a",), "t__mv_01234567").shown == "a.t"


def test_dots_in_parts_are_not_mistaken_for_those_between() -> None:
    inside, between = TableName("local", ("a",), "b.c"), TableName("local", ("a", "b"), "c")
    assert (inside.full, between.full) == ("local.a.`b.c`", "local.a.b.c")
