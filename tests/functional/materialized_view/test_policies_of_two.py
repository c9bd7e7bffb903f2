"""A view over a stale view, each with a policy: whose rows are read, what is refreshed, and what is
said about it."""

from __future__ import annotations

import itertools

import pytest

from tests.functional.materialized_view.test_policies import read, read_with_warnings
from tests.functional.materialized_view.warehouse import Warehouse

POLICIES = {
    "refresh": "when_stale = 'refresh'",
    "serve": "when_stale = 'serve'",
    "fail": "when_stale = 'fail'",
    "young": "max_staleness = 'INTERVAL 1 HOUR'",
    "disabled": "enable_refresh = false",
}
# Policies by which rows are read as they are, without and with a warning.
QUIET, LOUD = {"young"}, {"serve", "disabled"}
_numbers = itertools.count()


@pytest.mark.behaviour("X1", "E2")
@pytest.mark.parametrize(("below", "above"), itertools.product(POLICIES, POLICIES))
def test_view_over_a_stale_view(lake: Warehouse, below: str, above: str) -> None:
    """Only a view that a read refreshes has the views refreshed that it reads."""
    number = next(_numbers)
    one, two = f"below{number}", f"above{number}"
    lake.sql(
        f"create materialized view @.{one} options ({POLICIES[below]}) as "
        "select customer, sum(amount) as total from @.orders group by customer"
    )
    lake.sql(
        f"create materialized view @.{two} options ({POLICIES[above]}) as "
        f"select customer, total from @.{one}"
    )
    before = lake.value("select sum(amount) from @.orders")
    lake.spark("insert into @.orders values (7, 'gus', 100)")
    lake.restart()
    is_served = below in QUIET | LOUD
    if (above == "fail" and not is_served) or (above == "refresh" and below == "fail"):
        with pytest.raises(Exception, match=rf"{two if above == 'fail' else one} is STALE"):
            read(lake, two)
        assert (lake.builds(one), lake.builds(two)) == (1, 1)
        return
    found, warnings = read_with_warnings(lake, two)
    refreshes = below == above == "refresh"
    assert found == before + 100 * refreshes
    assert (lake.builds(one), lake.builds(two)) == (1 + refreshes, 1 + refreshes)
    # A view over one that is served stale is as fresh as it can be.
    named = [one] * (below in LOUD) + [two] * (above in LOUD and not is_served)
    assert len(warnings) == len(named)
    assert all(name in warning for name, warning in zip(named, warnings, strict=True))
