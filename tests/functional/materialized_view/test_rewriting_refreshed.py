"""Views that are refreshed for queries which do not name them, where the refresh fails."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.functional.materialized_view.rewritten import of_small_tables
from tests.functional.materialized_view.warehouse import Warehouse

QUERY = "select shop, max(id) as top from @.takings group by shop"
# Views of which the rows below give a key twice, and one over such a view; all are fast.
UNIQUE = "options (refresh_method = 'fast', unique_key = 'shop', suspend_after_failures = 2)"
DEFINITION = "select shop, max(id) as top, min(amount) as low from @.takings group by shop, late"
FAST = "options (refresh_method = 'fast', suspend_after_failures = 2)"
VIEWS = {
    "of the table": {"daily": f"{UNIQUE} as {DEFINITION}"},
    "of a view": {
        "below": f"{UNIQUE} as select *, id as key from @.takings".replace("'shop'", "'key'"),
        "above": f"{FAST} as select shop, max(id) as top from @.below group by shop",
    },
}
BAD = {
    "of the table": "insert into @.takings values (30001, 3, 5.5, true)",
    "of a view": "insert into @.takings values (1, 3, 5.5, true)",
}
GOOD = {
    "of the table": "delete from @.takings where id = 30001",
    "of a view": "delete from @.takings where late",
}


@pytest.fixture
def eager(lake: Warehouse) -> Warehouse:
    lake.spark(
        "create or replace table @.takings using iceberg as select cast(id as int) as id, "
        "cast(id % 7 as int) as shop, cast(id * 1.25 as decimal(10, 2)) as amount, "
        "id >= 30000 as late from range(2000)"
    )
    target = {**of_small_tables(lake).target, "query_rewrite_stale": "refresh"}
    return Warehouse(target, lake.schema)


def _asked(eager: Warehouse) -> None:
    assert Counter(eager.apart(QUERY)) == Counter(eager.spark(QUERY))


def _failures(eager: Warehouse, views: dict[str, str]) -> int:
    return sum(eager.history(view).count(("FAILED",)) for view in views)


@pytest.mark.parametrize("which", VIEWS)
def test_failures_are_not_repeated(eager: Warehouse, which: str) -> None:
    """One query tries and has its rows all the same; the others do not try, nothing is suspended,
    and a read by name, once the rows are healed, brings the view back."""
    views = VIEWS[which]
    for name, text in views.items():
        eager.sql(f"create materialized view @.{name} {text}")
    eager.spark(BAD[which])
    command, warnings = eager.command(), list[str]()
    command.core.services.warn = warnings.append
    assert Counter(command.sql(QUERY)) == Counter(eager.spark(QUERY))
    command.flush()
    (warning,) = warnings
    assert f"{eager.schema}.{[*views][0]} is not refreshed for a query: " in warning
    for _ in range(3):
        _asked(eager)
    assert _failures(eager, views) == 1
    assert "SUSPENDED" not in str(eager.operation("status").rows)
    eager.spark(GOOD[which])
    _asked(eager)
    assert _failures(eager, views) == 1
    wanted = eager.spark("select shop, max(id) from @.takings group by shop")
    assert Counter(eager.apart(f"select shop, top from @.{[*views][-1]}")) == Counter(wanted)
    eager.spark("insert into @.takings values (2500, 4, 1.0, false)")
    built = sum(map(eager.builds, views))
    _asked(eager)
    assert sum(map(eager.builds, views)) > built
    assert ("REWRITE",) in eager.history([*views][0], "trigger")
    for name in reversed(views):
        eager.sql(f"drop materialized view @.{name}")
