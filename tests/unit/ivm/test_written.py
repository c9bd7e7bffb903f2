"""What is said of a query is said in the words of its author."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.planning.analysis import Analysis
from dbt.adapters.spark_mv.views.definition import Definition
from tests.sampling import WHOLE
from tests.unit.ivm.classified import FORMS, PARTITIONED
from tests.unit.ivm.constructs import Construct
from tests.unit.ivm.shop import against, analysis_of, definition_of

# Around an example, which becomes a relation `d`: names of it and of others are made anew by the
# rewriting of outer joins, aggregates, windows and subqueries.
AROUND = (
    "{}",
    "SELECT d.*, c2.name AS other FROM ({}) d LEFT JOIN customers c2 ON c2.score = 1 "
    "LEFT JOIN returns r2 ON r2.quantity = 1",
    "SELECT COUNT(DISTINCT c2.name) AS n FROM ({}) d LEFT JOIN customers c2 ON c2.score = 1",
    "SELECT c2.name, RANK() OVER (ORDER BY SUM(c2.score)) AS k FROM ({}) d "
    "FULL JOIN customers c2 ON c2.score = 1 GROUP BY c2.name",
    "SELECT FIRST(c2.name) AS one FROM customers c2 LEFT JOIN ({}) d ON c2.score = 1 "
    "GROUP BY c2.score + 1",
    "SELECT c2.name, (SELECT MAX(id) FROM returns r2 WHERE r2.quantity < c2.score) AS most "
    "FROM customers c2 LEFT JOIN ({}) d ON c2.score = 1",
)


def _title(value: object) -> str:
    return value.title if isinstance(value, Construct) else ""


def _reasons(definition: Definition) -> Iterator[Reason]:
    found = analysis_of(definition)
    columns = [column.name for column in definition.columns]
    tried = [against("fast", definition, found)]
    tried += [against("partition", definition, found, name) for name in columns]
    tried += [found.program.why_not_added] if isinstance(found, Analysis) else []
    yield from filter(None, tried)


def _of(query: str) -> list[str]:
    """The parts of a query that the reasons against it show."""
    return [reason.clause for reason in _reasons(definition_of(query, {})) if reason.clause]


# In a sample each construct stands by itself, or in one of the queries around it.
CASES = [
    (construct, AROUND if WHOLE else AROUND[number % len(AROUND) :][:1])
    for number, construct in enumerate([*FORMS, *PARTITIONED])
]


@pytest.mark.parametrize(("construct", "queries"), CASES, ids=_title)
def test_reasons_have_no_names_of_ours(construct: Construct, queries: tuple[str, ...]) -> None:
    """No example has a backtick, or a name that begins like ours."""
    for example in construct.examples:
        for around in queries:
            definition = definition_of(around.format(example), dict(construct.settings))
            for reason in _reasons(definition):
                assert "mv_" not in str(reason) and "`" not in str(reason)


@pytest.mark.parametrize(
    ("query", "clause"),
    [
        ("SELECT region, stddev(amount) AS s FROM orders GROUP BY region", "STDDEV(amount)"),
        ("SELECT region, stddev(o.amount) AS s FROM orders o GROUP BY 1", "STDDEV(o.amount)"),
        (
            "SELECT name, SUM(o.weight) AS w FROM customers LEFT JOIN orders o "
            "ON o.customer = customers.id GROUP BY name",
            "SUM(o.weight)",
        ),
        (
            "WITH w AS (SELECT id AS key FROM orders) SELECT COUNT(DISTINCT key) AS n FROM w",
            "COUNT(DISTINCT key)",
        ),
        ("SELECT COUNT(DISTINCT `region`) AS n FROM orders", "COUNT(DISTINCT `region`)"),
        (
            "SELECT id, (SELECT SUM(quantity) FROM orders o WHERE o.region = c.score) AS total "
            "FROM customers c",
            "c.score = o.region",
        ),
        (
            "SELECT name FROM customers c WHERE EXISTS (SELECT r.day FROM returns r "
            "WHERE r.region = c.score GROUP BY r.day HAVING COUNT(*) > 1)",
            "c.score = r.region",
        ),
    ],
)
def test_clause_is_as_it_was_written(query: str, clause: str) -> None:
    assert clause in _of(query)


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        (
            "SELECT FIRST(o.amount) AS one FROM orders o LEFT JOIN customers c "
            "ON c.id = o.customer GROUP BY c.name, o.day",
            "(c.name, o.day)",
        ),
        (
            "SELECT day, FIRST(SUM(amount)) OVER (PARTITION BY region) AS one "
            "FROM orders GROUP BY region, day",
            "(region)",
        ),
    ],
)
def test_keys_are_as_they_were_written(query: str, keys: str) -> None:
    (text,) = [r.text for r in _reasons(definition_of(query, {})) if r.code == "ORDER_DEPENDENT"]
    assert keys in text
