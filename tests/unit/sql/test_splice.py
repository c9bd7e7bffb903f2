from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.sql.reads import Reference, parse, reads_of
from dbt.adapters.spark_mv.sql.splice import splice, subquery


def spliced(sql: str, replacements: dict[str, str]) -> str:
    tree = parse(sql)
    assert tree is not None
    references = reads_of(tree).references
    return splice(sql, references, lambda r: replacements.get(".".join(r.parts)))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select * from t", "select * from NEW"),
        ("select t.x /* t */, 't' from  t  where t.y = 1 -- t", None),
        ("select * from a join t on a.t = t.t", "select * from a join NEW on a.t = t.t"),
        ("with t as (select 1) select * from t", "with t as (select 1) select * from t"),
        ("select * from t x, t y", "select * from NEW x, NEW y"),
        ("select '√é😀' from t", "select '√é😀' from NEW"),
    ],
)
def test_only_relations_are_replaced(sql: str, expected: str | None) -> None:
    if expected is None:
        expected = "select t.x /* t */, 't' from  NEW  where t.y = 1 -- t"
    assert spliced(sql, {"t": "NEW"}) == expected


def test_none_keeps_the_text() -> None:
    sql = "select * from `a`.b, c"
    assert spliced(sql, {}) == sql
    assert spliced(sql, {"a.b": "X", "c": "Y"}) == "select * from X, Y"


def test_subquery_keeps_the_name_by_which_columns_are_called() -> None:
    assert subquery("select 1", Reference(("db", "odd`name"), 0, 0, False, False)) == (
        "(\nselect 1\n) AS `odd``name`"
    )
    assert subquery("select 1", Reference(("t",), 0, 0, True, False)) == "(\nselect 1\n)"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select d.t.x, y from d.t", "select `d.t`.x, y from (Q) AS `d.t`"),
        ("select c.d.t.x from d.t", "select `d.t`.x from (Q) AS `d.t`"),
        (
            "select d.t.x, e.t.y from d.t join e.t",
            "select `d.t`.x, e.t.y from (Q) AS `d.t` join e.t",
        ),
        # Columns are written in both ways.
        ("select d.t.x, t.y from d.t", "select `t`.x, t.y from (Q) AS `t`"),
        # What else is called so would have the column.
        (
            "select 1 from d.t where exists (select 1 from e.u t where t.x = d.t.x)",
            "select 1 from (Q) AS `t` where exists (select 1 from e.u t where t.x = d.t.x)",
        ),
        (
            "select 1 from d.t where exists (select 1 from e.t where t.x = d.t.x)",
            "select 1 from (Q) AS `t` where exists (select 1 from e.t where t.x = d.t.x)",
        ),
        (
            "select d.t.x, `d.t` from d.t",
            "select `t`.x, `d.t` from (Q) AS `t`",
        ),
        ("select t.x from d.t", "select t.x from (Q) AS `t`"),
        ("select a.x from d.t a", "select a.x from (Q) AS `t` a"),
    ],
)
def test_columns_with_several_parts_of_a_name(sql: str, expected: str) -> None:
    """They are those of the query in its place, and of nothing else."""
    assert spliced(sql, {"d.t": "(Q) AS `t`"}) == expected


def test_a_query_that_ends_in_a_comment() -> None:
    found = subquery("select 1 -- done", Reference(("t",), 0, 0, True, False))
    assert parse(f"select * from {found} x") is not None
