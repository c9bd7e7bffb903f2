"""Branches of set operations, answered by groups where it does not matter how often a row is."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from pyspark.errors import AnalysisException

from dbt.adapters.spark_mv.statements.rewriting import search
from tests.functional.materialized_view.rewritten import of_small_tables, views_of
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE

GROUPS = "select shop, kind, count(*) as n, sum(x) as s from @.many group by shop, kind"
BRANCHES = (
    "select shop from @.many",
    "select kind from @.many where shop > 2",
    "select distinct shop from @.many where kind is not null",
    "select shop from @.few",
    "(select kind from @.many order by kind limit 7)",
    "((select shop from @.many) order by shop limit 9)",
    "((select kind from @.many order by kind) offset 1490)",
    "(((select shop from @.many where shop > 1)) order by shop limit 3)",
    "select kind from @.many group by kind having count(*) > 200",
    "select cast(null as int)",
)
SETS = ("union", "union all", "intersect", "intersect all", "except", "except all", "minus")
# Which of both branches may be of the view's groups: it is asked what rows there are.
BY_GROUPS = {"union", "intersect", "except", "minus"}
AROUND = (
    "{}",
    "select count(*) as c from ({}) as q",
    "select k, count(*) as c from ({}) as q(k) group by k",
    "select id from @.named where id in ({})",
    "with q as ({}) select * from q union all select * from q",
)
NESTED = (
    "select id from @.named where id in ((select shop from @.many) order by shop limit 4)",
    "select id from @.named where id in (((select shop from @.many order by shop)) limit 4)",
    "select id from @.named where exists ((select shop from @.many) offset 1500)",
    "select id from @.named where id in (select id from @.named where id in "
    "((select kind from @.many) order by kind nulls last limit 4))",
    "((select shop from @.many where shop in ((select kind from @.many) order by kind limit 200)) "
    "order by shop limit 4) union select 99",
    "select shop from @.many except (select kind from @.many union all select shop from @.few)",
    "(select shop from @.many union all select shop from @.many) except select 3",
    "select shop from @.many intersect select kind from @.many except select shop from @.few",
    "select shop, kind from @.many union select shop, shop from @.few",
    "select shop, count(*) over () as n from @.many union select 1, 2",
    "select shop from @.many where exists (select 1 from @.many intersect select 1) union select 9",
)


@pytest.fixture(scope="module")
def shop(lake: Warehouse) -> Warehouse:
    made = of_small_tables(lake)
    made.spark(
        "create table @.many using iceberg as select cast(id % 11 % 7 as int) as shop, "
        "cast(if(id % 13 = 0, null, id % 5) as int) as kind, cast(id % 300 as int) as x "
        "from range(1500)"
    )
    made.spark(
        "create table @.few using iceberg as select cast(id % 4 as int) as shop from range(9)"
    )
    made.spark("create table @.named using iceberg as select cast(id as int) as id from range(9)")
    made.sql(f"create materialized view @.grouped as {GROUPS}")
    return made


def queries() -> list[str]:
    """Each operation of each two branches, and what may stand around them."""
    pairs = list(product(BRANCHES, SETS, BRANCHES))
    plain = [f"{one} {operation} {other}" for one, operation, other in pairs]
    around = [AROUND[n % len(AROUND)].replace("{}", text) for n, text in enumerate(plain)]
    found = list(dict.fromkeys([*plain[::3], *around]))
    return [*NESTED, *(found if WHOLE else found[::5])]


def differing(shop: Warehouse, asked: list[str]) -> list[str]:
    """Queries with other rows than Spark's."""
    return [q for q in asked if Counter(shop.apart(q)) != Counter(shop.spark(q))]


@pytest.mark.behaviour("C20")
@pytest.mark.parametrize("part", range(4))
def test_same_rows(shop: Warehouse, part: int) -> None:
    assert differing(shop, queries()[part::4]) == []


# Values that are equal, and are not the same where another branch has them converted.
UNLIKE = {
    "f": "case id % 4 when 0 then -0.0D when 1 then 0.0D when 2 then double('NaN') else 2.5D end",
    "g": "if(id % 2 = 0, -0.0F, 0.0F)",
    "fs": "array(if(id % 2 = 0, -0.0D, 0.0D))",
    "st": "named_struct('a', if(id % 2 = 0, -0.0D, 0.0D))",
    "c": "cast(if(id % 2 = 0, 'a', 'a ') as char(3))",
    "t": "if(id % 2 = 0, '-0.0', '0')",
    "d": "cast(id % 3 as decimal(10, 2))",
}
OTHERS = (
    "'0.0'",
    "'-0.0'",
    "cast('a' as char(3))",
    "2.5D",
    "1L",
    "array('0.0')",
    "named_struct('a', '0.0')",
    "null",
)


@pytest.mark.parametrize("column", UNLIKE)
def test_values_that_are_converted(shop: Warehouse, column: str) -> None:
    columns = ", ".join(f"{value} as {name}" for name, value in UNLIKE.items())
    shop.spark(
        f"create or replace table @.unlike using iceberg as select id, {columns} from range(2000)"
    )
    asked = [
        f"select {column} from @.unlike {how} select {other}"
        for how in ("union", "except", "intersect")
        for other in OTHERS
    ]
    for key in [column, "cast(t as double)"] if column == "t" else [column]:
        shop.sql(
            f"create or replace materialized view @.alike as select {key} as k, count(*) as n "
            f"from @.unlike group by {key}"
        )
        texts = [text.replace(f"select {column} from", f"select {key} from") for text in asked]
        wrong = []
        for text in texts:
            try:
                expected = Counter(map(repr, shop.spark(text)))
            except AnalysisException:
                continue  # of these two is no common type
            if Counter(map(repr, shop.apart(text))) != expected:
                wrong.append(text)
        assert wrong == []
    shop.sql("drop materialized view @.alike")


@pytest.mark.parametrize("operation", SETS)
def test_which_are_answered(shop: Warehouse, operation: str) -> None:
    found = views_of(shop, f"select shop from @.many {operation} select id from @.named")
    assert bool(found) is (operation in BY_GROUPS)


def test_every_branch_as_a_set(shop: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: UNION ALL, too."""
    as_set = search.as_set

    def of_any(block, query):  # type: ignore[no-untyped-def]
        operation = query.parent
        if operation is not None and "distinct" in operation.args:
            operation.set("distinct", True)
        return as_set(block, query)

    monkeypatch.setattr(search, "as_set", of_any)
    text = "select shop from @.many union all select shop from @.few"
    assert differing(shop, [text]) == [text]
