"""What two plans may differ in without a difference in what they mean, and what they may not."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.planning.plan_text import comparable

ALIKE = {
    "invented": ("+- Project [id#1L, day#2]", "+- Project [id#7L, day#8]"),
    "qualified": (
        "+- HashAggregate(functions=[count(local.s.orders.id#1)])",
        "+- HashAggregate(functions=[count(orders.id#1)])",
    ),
    "renamed": (
        "+- HashAggregate(functions=[sum(1.5), count(`odd one`.id#1)])",
        "+- HashAggregate(functions=[sum(1.5), count(mv_relation_0.id#1)])",
    ),
    "groups": (
        "   +- HashAggregate(keys=[day, gid], functions=[partial_count(id) FILTER (WHERE (gid = 1))"
        ", partial_count(no) FILTER (WHERE (gid = 2))])\n"
        "      +- Expand [[day, null, no, 2], [day, id, null, 1]], [day, o.id, o.no, gid]",
        "   +- HashAggregate(keys=[day, gid], functions=[partial_count(id) FILTER (WHERE (gid = 2))"
        ", partial_count(no) FILTER (WHERE (gid = 1))])\n"
        "      +- Expand [[day, null, no, 1], [day, id, null, 2]], [day, o.id, o.no, gid]",
    ),
    "below_groups": (
        "+- HashAggregate(keys=[k])\n   +- BroadcastHashJoin [k], [k]\n      :- Project [k, day]",
        "+- HashAggregate(keys=[k])\n   +- BroadcastHashJoin [k], [k]\n      :- Project [day, k]",
    ),
    "names": (
        "+- Project [ucase(s#1) AS c0, len(lcase(s#1)) AS c1, position(c, s#1, 1) AS c2]",
        "+- Project [upper(s#4) AS c0, length(lower(s#4)) AS c1, locate(c, s#4, 1) AS c2]",
    ),
    "other_calls": (
        "+- Filter ((mod(mod(a, 7), 3) = 1) AND (n > date_sub(date_sub(d, n), 2)))",
        "+- Filter ((((a % 7) % 3) = 1) AND (n > date_add(date_add(d, (n * -1)), -2)))",
    ),
    "days_after": ("+- Project [date_sub(d, -3)]", "+- Project [date_add(d, 3)]"),
}
DIFFERENT = {
    "other_days": ("+- Project [date_sub(d, 3)]", "+- Project [date_add(d, 3)]"),
    "other_place": ("+- Project [mod(s, x)]", "+- Project [(x % s)]"),
    "sizes": ("+- Project [size(a, true)]", "+- Project [size(a, false)]"),
    "outputs": ("+- Project [id AS c0, day AS c1]", "+- Project [day AS c0, id AS c1]"),
    "top": ("AdaptiveSparkPlan\n+- Project [id, day]", "AdaptiveSparkPlan\n+- Project [day, id]"),
    "by_place": (
        "+- HashAggregate(keys=[k])\n   +- Union\n      :- Project [id, day]",
        "+- HashAggregate(keys=[k])\n   +- Union\n      :- Project [day, id]",
    ),
    "by_place_above_a_join": (
        "+- Union\n   :- BroadcastHashJoin [k], [k]\n   :  :- Project [k, day]",
        "+- Union\n   :- BroadcastHashJoin [k], [k]\n   :  :- Project [day, k]",
    ),
    "twice": (
        "+- HashAggregate(keys=[k])\n   +- Project [k, k, day]",
        "+- HashAggregate(keys=[k])\n   +- Project [k, day, k]",
    ),
    "other_columns": (
        "+- HashAggregate(keys=[k])\n   +- Project [k, day]",
        "+- HashAggregate(keys=[k])\n   +- Project [k, week]",
    ),
    "fields": ("+- Filter (address.city = x)", "+- Filter (origin.city = x)"),
    "numbers": (
        "+- HashAggregate(functions=[sum(1.5)])",
        "+- HashAggregate(functions=[sum(2.5)])",
    ),
    "other_aggregates": (
        "+- HashAggregate(keys=[day], functions=[count(id), count(no)])",
        "+- HashAggregate(keys=[day], functions=[count(no), count(id)])",
    ),
    "other_groups": (
        "+- HashAggregate(keys=[day, gid], functions=[partial_count(id) FILTER (WHERE (gid = 1))])",
        "+- HashAggregate(keys=[day, gid], functions=[partial_count(no) FILTER (WHERE (gid = 1))])",
    ),
    "column_gid": (
        "+- Union\n   :- Project [gid, day]",
        "+- Union\n   :- Project [day, gid]",
    ),
    "depth": ("+- Filter a\n   +- Sort b", "+- Filter a\n+- Sort b"),
}


@pytest.mark.parametrize("name", ALIKE)
def test_alike(name: str) -> None:
    """What Spark invents, how it numbers, and the order of columns that are read by name."""
    one, two = ALIKE[name]
    assert comparable(one) == comparable(two)


@pytest.mark.parametrize("name", DIFFERENT)
def test_different(name: str) -> None:
    """Anything else."""
    one, two = DIFFERENT[name]
    assert comparable(one) != comparable(two)
