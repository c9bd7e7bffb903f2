"""Delta queries and programs against the query itself, on random tables and random changes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import terms
from dbt.adapters.spark_mv.ivm.algebra.terms import NotFast
from dbt.adapters.spark_mv.ivm.analysis import analyse
from dbt.adapters.spark_mv.ivm.program import rows_after
from dbt.adapters.spark_mv.ivm.rewrite import grouping_sets
from tests.unit.ivm.checks import MANY_ROUNDS, holds
from tests.unit.ivm.formulas import (
    COLUMNS,
    TABLES,
    Engine,
    delta_is_right,
    first_rows_are_right,
    program_of,
    refresh_is_right,
    rewriting_is_right,
    shown_is_right,
    written,
)
from tests.unit.ivm.queries import AT_THE_TOP, BY_GROUP, FIRST, NOT_FAST, ROW_BY_ROW
from tests.unit.ivm.queries_added import ADDED

ALL = {**ROW_BY_ROW, **BY_GROUP, **ADDED, **AT_THE_TOP}


@pytest.mark.parametrize("name", ALL)
def test_rewriting(engine: Engine, name: str) -> None:
    """The forms that the rules know have the rows of the query as it was written."""
    assert holds(rewriting_is_right, engine, ALL[name])


@pytest.mark.parametrize("name", [*ROW_BY_ROW, *BY_GROUP])
def test_delta(engine: Engine, name: str) -> None:
    """Old rows and delta make new rows, also if the change lists rows that stayed."""
    assert holds(delta_is_right, engine, {**ROW_BY_ROW, **BY_GROUP}[name])


@pytest.mark.behaviour("X23", "E21")
@pytest.mark.parametrize("name", ALL)
def test_rows_after(engine: Engine, name: str) -> None:
    """Stored rows are brought up to date, with the state that is not shown."""
    assert holds(refresh_is_right, engine, ALL[name])


@pytest.mark.parametrize("name", ADDED)
def test_shown(engine: Engine, name: str) -> None:
    """Of the groups that are stored the view shows those that the query returns."""
    assert holds(shown_is_right, engine, ADDED[name])


@pytest.mark.parametrize("name", FIRST)
def test_first_rows(engine: Engine, name: str) -> None:
    """The first rows are kept as long as none of them goes, and no longer."""
    assert holds(first_rows_are_right, engine, FIRST[name], MANY_ROUNDS)


@pytest.mark.parametrize("name", ADDED)
def test_is_added(name: str) -> None:
    """These need not be recomputed."""
    assert program_of(ADDED[name]).additive is not None


@pytest.mark.parametrize("name", ["any", "some", "every", "bool_and", "bool_or", "mean", "avg"])
def test_other_names_are_added(name: str) -> None:
    """Functions with several names, of which some are no words of DuckDB."""
    argument = "v" if name in ("mean", "avg") else "v > 1"
    sql = f"select a, {name}({argument}) x from mv_table_0 group by a"
    assert program_of(sql).additive is not None


def test_why_it_is_not_added() -> None:
    """The reason is about the groups that are selected from, not about the selection."""
    groups = "select a, count(distinct v) x from mv_table_0 group by a"
    reason = program_of(f"select a, x from ({groups}) d where x > 1").why_not_added
    assert reason is not None and reason.clause == "COUNT(DISTINCT v)"


@pytest.mark.parametrize(
    ("clause", "keys", "sets"),
    [
        ("a, b with rollup", "a b", ["ab", "a", ""]),
        ("a, b with cube", "a b", ["ab", "a", "b", ""]),
        ("a, b grouping sets ((b, a), b)", "a b", ["ba", "b"]),
        ("grouping sets ((b), (a, b), ())", "b a", ["b", "ab", ""]),
        ("a, cube (b, v)", "a b v", ["abv", "ab", "av", "a"]),
        ("rollup ((a, b), v)", "a b v", ["abv", "ab", ""]),
        ("rollup (a), rollup (b)", "a b", ["ab", "a", "b", ""]),
        ("grouping sets (rollup (a, b), cube (v))", "a b v", ["ab", "a", "", "v", ""]),
        ("rollup (2, 1)", "b a", ["ba", "b", ""]),
    ],
)
def test_sets_of_keys(clause: str, keys: str, sets: list[str]) -> None:
    """Which sets of keys each form means, and the order of keys in GROUPING_ID, as in Spark."""
    query = written(f"select a, b, v, count(*) n from mv_table_0 group by {clause}")
    assert isinstance(query, terms.exp.Select)
    assert " ".join(key.name for key in grouping_sets.keys_of(query)) == keys
    found = ["".join(key.name for key in one) for one in grouping_sets.sets_of(query)]
    assert found == sets


@pytest.mark.parametrize(("sql", "code"), NOT_FAST.items())
def test_not_fast(sql: str, code: str) -> None:
    """What has no rule is refused, and the reason says what it is."""
    with pytest.raises(NotFast) as caught:
        program_of(sql)
    assert caught.value.reason.code == code


def test_no_relation_is_called_like_a_column() -> None:
    """Spark takes the outer `a.v` in an EXISTS for a field of a column `a`, if there is one."""
    program = program_of(ROW_BY_ROW["named_like_columns"])
    after = rows_after(program, frozenset(TABLES), False, ["int", "int"])
    for found in (sqlglot.parse_one(after.query, read="spark"), *after.named.values()):
        relations = {item.name for item in found.find_all(exp.TableAlias)}
        assert relations and not relations & {"a", "b", "v"}


@pytest.mark.parametrize(
    "sql",
    [
        f"select a, (select sum(s.v) from {TABLES[1]} s where s.b = r.a) x from {TABLES[0]} r",
        f"select r.a, l.v x from {TABLES[0]} r, lateral (select distinct s.v from {TABLES[1]} s "
        "where s.b = r.a) l",
        f"select r.a, l.v x from {TABLES[0]} r, lateral (select s.v from {TABLES[1]} s "
        "where s.b = r.a order by s.v limit 1) l",
        f"select r.a, l.x from {TABLES[0]} r, lateral (select sum(s.v) over (order by s.v) x "
        f"from {TABLES[1]} s where s.b = r.a) l",
        f"select r.a, (select s.v from {TABLES[1]} s where s.b = r.a order by s.v limit 1) x "
        f"from {TABLES[0]} r",
    ],
)
def test_keys_of_other_types(sql: str) -> None:
    """Two texts can be equal to one number, so a subquery by key needs keys of one type."""
    columns = dict.fromkeys(TABLES, COLUMNS)

    def types_of(query: exp.Query, key: str) -> list[str]:
        return [key, "int"][-len(query.named_selects) :]

    with pytest.raises(NotFast, match="cast one"):
        outputs = {"a": "string", "x": "bigint"}
        analyse(sql, columns, outputs, lambda query: types_of(query, "string"))
    # Spark casts one side, which a LIMIT does not stand.
    key = "int" if "limit" in sql else "bigint"
    analyse(sql, columns, {"a": "int", "x": "bigint"}, lambda query: types_of(query, key))


def test_reasons_are_documented() -> None:
    """docs/supported_queries.md has the code of every reason that a query can be refused for."""
    package = Path(terms.__file__).parents[1]
    texts = [path.read_text() for path in package.rglob("*.py")]
    codes = {code for text in texts for code in re.findall(r'not_fast\(\s*"([A-Z_]+)"', text)}
    page = (Path(__file__).parents[3] / "docs" / "supported_queries.md").read_text()
    assert codes - set(re.findall(r"`([A-Z_]+)`", page)) - RARE == set()


# Forms that dbt models do not have, and what Spark itself refuses.
RARE = {"NOT_PARSED", "NOT_A_SELECT", "RELATION", "SET_OPERATION", "DISTINCT_ON", "NOT_COMPARED"}
