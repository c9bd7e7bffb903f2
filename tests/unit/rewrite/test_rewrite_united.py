"""Views with the rows that they leave out: random pairs, mutants, and texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlglot import exp

from dbt.adapters.spark_mv.rewrite import match, terms, united
from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from tests.sampling import WHOLE
from tests.unit.rewrite.harness import Tables, about, answered, run, stored_view, text_of
from tests.unit.rewrite.lake import Lake
from tests.unit.rewrite.union_pairs import union_pair

PAIRS = 20_000 if WHOLE else 2_000
Patch = pytest.MonkeyPatch


def test_same_rows(lake: Lake) -> None:
    report = run(range(PAIRS), lake, make=union_pair, unites=True)
    assert report.wrong == []
    assert report.matched > report.pairs * 0.15
    met = {(asked, stored) for asked, stored, *_ in report.forms}
    of_rows = {(asked, "rows") for asked in ("rows", "distinct", "groups", "one")}
    of_groups = {(asked, "groups") for asked in ("distinct", "groups", "one")}
    assert met >= of_rows | of_groups | {("distinct", "distinct")}


def _null_is_forgotten(patch: Patch) -> None:
    outside = united._outside
    patch.setattr(
        united, "_outside", lambda column, kept, may_be_null: outside(column, kept, False)
    )


def _bounds_are_in_both(patch: Patch) -> None:
    outside = united._outside

    def with_bounds(column: Any, kept: Any, may_be_null: bool) -> Any:
        return outside(
            column,
            replace(kept, low_open=True) if kept.among is None else kept,
            may_be_null,
        )

    patch.setattr(united, "_outside", with_bounds)


def _all_is_in_both(patch: Patch) -> None:
    patch.setattr(united, "_outside", lambda column, kept, may_be_null: _TRUE)


def _of_united(change: Callable[[Any, Any], Any]) -> Callable[[Patch], None]:
    """A mutant that makes another view of one that was united, and of the one before."""

    def patched(patch: Patch) -> None:
        patch.setattr(
            match, "united", lambda view, *given: change(united.united(view, *given), view)
        )

    return patched


def _with_conditions(made: Any, conditions: Any) -> Any:
    block = replace(made.rest.block, conditions=tuple(conditions))
    return replace(made, rest=replace(made.rest, block=block))


def _not_asked(made: Any, view: Any) -> Any:
    """The rest without the range of the query."""
    *others, outside = made.rest.block.conditions
    own = [term for term in others if term in view.block.conditions]
    return _with_conditions(made, [*own, outside])


def _only_outside(made: Any, view: Any) -> Any:
    return _with_conditions(made, made.rest.block.conditions[-1:])


def _of_other_tables(made: Any, view: Any) -> Any:
    """The rest with the tables in the order of the view."""
    rest = made.rest
    tables = list(rest.block.tables)
    for number, table in zip(rest.occurrences, view.block.tables, strict=True):
        tables[number] = table
    return replace(made, rest=replace(rest, block=replace(rest.block, tables=tuple(tables))))


def _as_if_all_asked(made: Any, view: Any) -> Any:
    """Stored rows as if none were outside of the range of the query."""
    asked = made.rest.block.conditions[:-1]
    return replace(made, block=replace(made.block, conditions=asked))


def _as_if_whole(made: Any, view: Any) -> Any:
    """Groups as if each was in one part."""
    return replace(made, is_split=False)


_TRUE = terms.made(exp.true())
# Each with the first seed by which it is caught.
MUTANTS: dict[str, tuple[Callable[[Patch], None], int]] = {
    "NULL forgotten": (_null_is_forgotten, 42),
    "a bound on both sides": (_bounds_are_in_both, 4),
    "no side but both": (_all_is_in_both, 4),
    "groups in two parts": (_of_united(_as_if_whole), 430),
    "more than is asked": (_of_united(_not_asked), 38),
    "tables of the view": (_of_united(_of_other_tables), 135),
    "no other condition": (_of_united(_only_outside), 38),
    "stored rows that are not asked": (_of_united(_as_if_all_asked), 287),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_wrong(name: str, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    change, first = MUTANTS[name]
    change(monkeypatch)
    assert run(about(first), lake, most_wrong=1, make=union_pair, unites=True).wrong


def _united(query: str, view: str, types: str) -> str:
    tables = Tables()
    made = stored_view(view, types.split(", "), tables)
    try:
        return text_of(answered(query, made, tables, unites=True)).replace("\n", " ")
    except Unmatched as error:
        return str(error.reason)


OF_DAYS = "select g, d, sum(b) as s from r where d >= date '2024-02-01' group by g, d"
OF_GROUPS = "select g, sum(b) as s, avg(b) as m from r where a in (1, 2) group by g"


def test_groups_with_the_column_are_whole() -> None:
    found = _united(
        "select g, d, sum(b) as s from r where d >= date '2024-01-01' group by g, d",
        OF_DAYS,
        "string, date, bigint",
    )
    assert found == (
        "SELECT `mv_stored`.`g` AS `g`, `mv_stored`.`d` AS `d`, `mv_stored`.`s` AS `s` "
        "FROM (SELECT `g`, `d`, `s` FROM mv_rows UNION ALL "
        "SELECT CAST(`mv_table_0`.`g` AS string) AS `g`, CAST(`mv_table_0`.`d` AS date) AS `d`, "
        "CAST(SUM(`mv_table_0`.`b`) AS bigint) AS `s` FROM r AS mv_table_0 "
        "WHERE (CAST('2024-01-01' AS DATE) <= `mv_table_0`.`d`) "
        "AND (`mv_table_0`.`d` < CAST('2024-02-01' AS DATE)) "
        "GROUP BY `mv_table_0`.`g`, `mv_table_0`.`d`) AS mv_stored"
    )


def test_groups_without_it_are_made_of_both() -> None:
    found = _united("select g, sum(b) as s from r group by g", OF_GROUPS, "string, bigint, double")
    assert found.endswith(
        "WHERE ((`mv_table_0`.`a` <> 1) AND (`mv_table_0`.`a` <> 2)) OR (`mv_table_0`.`a` IS NULL) "
        "GROUP BY `mv_table_0`.`g`) AS mv_stored GROUP BY `mv_stored`.`g`"
    )


def test_tables_in_another_order() -> None:
    """And a view of the last table alone; joined ones keep the order of the view."""
    joined = "select r.b, s.c from s left join r on r.g = s.g where s.a > 1"
    found = _united("select r.b, s.c from s left join r on r.g = s.g", joined, "int, int")
    assert "FROM s AS mv_table_0 LEFT JOIN r AS mv_table_1 ON" in found
    swapped = "select r.b, s.c, s.a from r join s on r.g = s.g where s.a > 1"
    found = _united("select r.b, s.c from s join r on r.g = s.g", swapped, "int, int, int")
    assert "FROM s AS mv_table_0 CROSS JOIN r AS mv_table_1 WHERE" in found
    alone = "select a, c, g from s where c in (1, 2)"
    found = _united("select r.b, s.c from r join s on r.g = s.g", alone, "int, int, string")
    assert "FROM s AS mv_table_1 WHERE ((`mv_table_1`.`c` <> 1) AND" in found


def test_types_that_have_no_text() -> None:
    found = _united("select id from r", "select id, b from r where a > 1", "int, struct<x'y:int>")
    assert "`mv_table_0`.`b` AS `b`" in found


def test_keys_that_may_fail() -> None:
    """Where Spark fails for them, they are not computed of rows that the query does not ask for."""
    view = "select cast(g as int) as k, a, count(*) as n from r where a > 1 group by 1, 2"
    made = stored_view(view, ["int", "int", "bigint"], Tables())
    assert united.can_be_united(made)
    assert not united.can_be_united(made, may_fail=True)
    days = "select date_trunc('MONTH', d) as k, a, count(*) as n from r where a > 1 group by 1, 2"
    made = stored_view(days, ["timestamp", "int", "bigint"], Tables())
    assert united.can_be_united(made, may_fail=True)


@pytest.mark.parametrize(
    ("query", "view", "types", "reason"),
    [
        (
            "select g, avg(b) as m from r group by g",
            OF_GROUPS,
            "string, bigint, double",
            "AGGREGATE_NOT_DERIVABLE",
        ),
        (
            "select g, sum(b) as s from r where a > 5 group by g",
            OF_GROUPS,
            "string, bigint, double",
            "the view has none of these values of a",
        ),
        (
            "select id from r",
            "select id from r where a > 1 and b > 1",
            "int",
            "the view has parts of the values of several columns",
        ),
        (
            "select id from r where a < 5",
            "select id from r where a > 1",
            "int",
            "COLUMN_NOT_COVERED",
        ),
        (
            "select id from r",
            "select id from r where a > 1 and g like 'x%'",
            "int",
            "the view has a condition that the query has not",
        ),
        (
            "select count(*) as n from r",
            "select count(*) as n from r where a > 1",
            "bigint",
            "the view has one group, and the query wants others",
        ),
    ],
)
def test_refused(query: str, view: str, types: str, reason: str) -> None:
    assert reason in _united(query, view, types)
