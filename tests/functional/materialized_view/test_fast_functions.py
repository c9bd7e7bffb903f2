"""Functions of which sqlglot prints another name, or another function: views with them are
refreshed fast, and rightly."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.sql.reads import parse
from dbt.adapters.spark_mv.sql.spark_functions import SPARK_FUNCTIONS
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

FUNCTIONS = """
    ucase(s) | lcase(s) | len(s) | char_length(s) | character_length(s) | substr(s, 2) |
    substr(s, 1, 2) | char(a + 65) | space(a) | instr(s, ', ') |
    instr(s, '(') | instr(')', s) | log(abs(x) + 1) | log(2, abs(x) + 1) |
    position('b', s) | position('b', s, 2) | sha1(s) | ceiling(x) | ceiling(x, 1) | signum(x) |
    pow(x, 2) | mod(a, 3) | mod(a + 7, mod(a, 5) + 9) | log10(abs(x) + 1) | log2(abs(x) + 1) |
    bit_get(a, 1) | array_size(list) | size(list) | reduce(list, 0, (p, q) -> p + q) |
    date_sub(d, 1) | date_sub(d, -1) | date_sub(d, a) | date_sub(date_sub(d, 2), 3) |
    unix_date(d) | to_unix_timestamp(d) | to_char(a, '999') | to_varchar(a, '999') |
    ifnull(s, 'x') | nvl(s, 'x') | int(x) | string(a) | boolean(a) | double(a) | float(a) |
    date(s) | to_timestamp(s) |
    ltrim('a', s) | rtrim('a', s) | regexp_like(s, 'a') | rlike(s, 'a') | like(s, 'a%') |
    dateadd(day, 1, d) | date_diff(d, d) | named_struct('k', a).k
"""
WRITTEN = [text.strip() for text in FUNCTIONS.replace("|\n", "| ").split(" | ")]
VIEWS = {
    "of_rows": "select id, "
    + ", ".join(f"{text} as c{n}" for n, text in enumerate(WRITTEN))
    + " from @.words",
    "of_groups": "select substr(s, 1, 1) as k, mod(a, 3) as m, date_sub(d, 1) as p, "
    "sum(len(s)) as n, count(log10(x)) as c, max(ucase(s)) as t, count_if(instr(s, 'b') > 0) as i "
    "from @.words group by substr(s, 1, 1), mod(a, 3), date_sub(d, 1)",
    "of_quantiles": "select mod(a, 3) as m, approx_percentile(a, 0.5) as p, "
    "approx_percentile(a, array(0.1, 0.9), 50) as q from @.words group by mod(a, 3)",
    "of_some": "select id, s from @.words where instr(s, 'b') > 0 and char_length(s) < 9 "
    "and date_sub(d, a) < date'2024-06-01' or array_size(list) > 1",
    "of_two": "select w.id, o.id as other from @.words w join @.words o "
    "on mod(w.a, 3) = mod(o.a, 5) and lcase(w.s) = lcase(o.s)",
}
CHANGES = (
    "insert into @.words values (50, 4, -2.5D, 'abba', date'2024-02-29', array(1, null)), "
    "(51, null, null, null, null, null), (52, 0, 0D, '', date'1969-12-31', array())",
    "update @.words set s = concat(s, 'B'), a = a + 1 where id % 3 = 0",
    "delete from @.words where id in (1, 50, 51)",
)


@pytest.fixture(scope="module")
def words(lake: Warehouse) -> Warehouse:
    for run in (lake.sql, lake.spark):
        run("set spark.sql.ansi.enabled = false")
    lake.spark(
        "create table @.words (id bigint, a int, x double, s string, d date, list array<int>) "
        "using iceberg tblproperties ('write.delete.mode'='merge-on-read', "
        "'write.update.mode'='merge-on-read')"
    )
    lake.spark(
        "insert into @.words select id, cast(id as int), id * 1.37, concat('ab, ', id), "
        "date_add(date'2024-01-01', cast(id as int)), array(1, 2, cast(id as int)) from range(9)"
    )
    return lake


@pytest.mark.behaviour("D9")
@pytest.mark.parametrize("view", VIEWS)
def test_fast(words: Warehouse, view: str) -> None:
    words.sql(
        f"create materialized view @.{view} options (refresh_method = 'fast') as {VIEWS[view]}"
    )
    for change in CHANGES:
        words.spark(change)
        words.sql(f"select count(*) from @.{view}")
        assert words.history(view, "method")[-1] == ("fast",)
        assert_same(words, f"select * from @.{view}", VIEWS[view])


def test_nothing_else_is_respelled() -> None:
    """A function that is printed by another name is one of those above, or no function of rows."""
    known = " ".join([*WRITTEN, VIEWS["of_quantiles"]])
    found = set()
    for name in SPARK_FUNCTIONS:
        for count in range(1, 4):
            printed = _printed(f"{name}({', '.join('abc'[:count])})")
            if "(" in printed and printed.partition("(")[0] in SPARK_FUNCTIONS - {name}:
                found.add(name)
    assert {name for name in found if f"{name}(" not in known} <= OTHERS


def _printed(call: str) -> str:
    tree = parse(f"select {call} as z from r")
    try:
        return tree.expressions[0].unalias().sql("spark").lower() if tree else ""
    except KeyError:  # it has fewer arguments than it needs
        return ""


# Aggregates, which have usual names; and what has the wrong number of arguments.
OTHERS = frozenset(
    "array_agg var_samp string_agg random max min map_from_arrays log curdate to_number".split()
)
