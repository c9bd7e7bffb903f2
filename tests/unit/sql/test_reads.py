from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.sql.reads import Reference, is_path, parse, reads_of


def names(sql: str) -> list[str]:
    tree = parse(sql)
    assert tree is not None
    return [".".join(reference.parts) for reference in reads_of(tree).references]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select * from t", ["t"]),
        ("select * from a.b.c", ["a.b.c"]),
        ("select * from `a b`.`c`", ["a b.c"]),
        ("select * from a, b join c using (x)", ["a", "b", "c"]),
        ("select * from t a join t b on a.x = b.x", ["t", "t"]),
        ("with c as (select * from t) select * from c", ["t"]),
        ("with t as (select * from t) select * from t", ["t"]),
        ("with a as (select 1), b as (select * from a) select * from a, b", []),
        ("with b as (select * from a), a as (select 1) select * from a, b", ["a"]),
        ("with c as (select 1) select * from db.c", ["db.c"]),
        ("with C as (select 1) select * from c", []),
        ("select * from (with c as (select * from t) select * from c) join c", ["t", "c"]),
        ("select (select max(x) from u where u.k = t.k) from t", ["u", "t"]),
        (
            "select * from t where exists (select 1 from u) and k in (select k from v)",
            ["t", "u", "v"],
        ),
        ("select * from a union all select * from b except select * from c", ["a", "b", "c"]),
        ("select * from range(5)", []),
        ("select * from t, lateral explode(t.xs) as x", ["t"]),
        ("select * from t lateral view explode(xs) e as x", ["t"]),
        ("select * from values (1), (2) as v(x)", []),
        (
            "with recursive r(n) as (select 1 union all select n + 1 from r) select * from r, t",
            ["t"],
        ),
        ("insert into a select * from b", ["a", "b"]),
        ("merge into a using b on a.x = b.x when matched then delete", ["a", "b"]),
        ("create or replace table a as select * from b", ["a", "b"]),
        ("update a set x = (select max(x) from b)", ["a", "b"]),
        ("select * from t tablesample (10 percent)", ["t"]),
        ("from t select x", ["t"]),
        ("select 'from u' as x, /* from v */ y from t -- from w", ["t"]),
    ],
)
def test_references(sql: str, expected: list[str]) -> None:
    assert names(sql) == expected


@pytest.mark.parametrize(
    "sql",
    ["select * from", "select 1; select 2", "", "not sql at all (", "select * from a |> bogus b"],
)
def test_not_one_statement(sql: str) -> None:
    assert parse(sql) is None


def test_trailing_semicolon_is_one_statement() -> None:
    assert names("select * from t;") == ["t"]


@pytest.mark.parametrize(
    "sql",
    [
        "select * from db.t where x = 1",
        "select /* é */ '√' as r, * from db.t",
        "with c as (select 1)\n\tselect * from\n`db`.`t` as a, c",
        "select * from db . t",
    ],
)
def test_places_in_the_text(sql: str) -> None:
    tree = parse(sql)
    assert tree is not None
    (found,) = reads_of(tree).references
    written = sql[found.start : found.end]
    assert written.replace("`", "").replace(" ", "") == "db.t"


def test_aliases_and_fixed_versions() -> None:
    tree = parse("select * from a as x, b y, c, d version as of 5, e timestamp as of '2026-01-01'")
    assert tree is not None
    found = {r.parts[0]: (r.aliased, r.fixed) for r in reads_of(tree).references}
    assert found == {
        "a": (True, False),
        "b": (True, False),
        "c": (False, False),
        "d": (False, True),
        "e": (False, True),
    }


def test_names_known_only_at_run_time() -> None:
    tree = parse("select * from identifier('db.' || 't')")
    assert tree is not None
    assert reads_of(tree).unresolved


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("parquet", "/data/x"), True),
        (("CSV", "file:/x"), True),
        (("delta", "s3://b/x"), True),
        (("parquet", "x"), False),
        (("db", "/x"), False),
        (("x",), False),
        (("a", "csv", "/x"), False),
    ],
)
def test_paths(parts: tuple[str, ...], expected: bool) -> None:
    assert is_path(Reference(parts, 0, 0, False, False)) is expected


def test_a_sum_of_thousands_of_terms() -> None:
    terms = " + ".join(["x"] * 5000)
    assert names(f"select {terms} from t where y in (select y from u)") == ["t", "u"]
