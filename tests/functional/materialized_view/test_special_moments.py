"""Keys and partitions that are words of which Spark makes a moment in some places only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from dbt.adapters.spark_mv.core.errors import InvalidArgument
from dbt.adapters.spark_mv.refresh.key_refresh import KeyRefresher
from tests.functional.materialized_view.warehouse import Warehouse

KINDS = ("date", "timestamp", "timestamp_ntz")
WORDS = ("today", "now", " Tomorrow ", "yesterday", "epoch", "today UTC")
ASKED = {
    "refresh": "keys",
    "invalidate": "keys",
    "invalidated partitions": "partitions",
}


def _query(kind: str) -> str:
    return f"select k, sum(v) as s from @.of_{kind} group by k"


@pytest.fixture(scope="module", params=["true", "false"])
def moments(lake: Warehouse, request: pytest.FixtureRequest) -> Iterator[Warehouse]:
    """Views by a moment, made with ANSI mode or without it."""
    lake.spark(f"set spark.sql.ansi.enabled = {request.param}")
    for kind in KINDS:
        lake.sql(f"drop materialized view if exists @.by_{kind}")
        lake.spark(f"create or replace table @.of_{kind} (k {kind}, v int) using iceberg")
        lake.spark(f"insert into @.of_{kind} values ({kind}'2024-02-29', 1), (null, 3)")
        lake.sql(
            f"create materialized view @.by_{kind} partitioned by (k) "
            f"options (unique_key = 'k') as {_query(kind)}"
        )
    yield lake
    lake.spark("reset spark.sql.ansi.enabled")


def _refusal(moments: Warehouse, operation: str, view: str, given: dict[str, list[str]]) -> str:
    try:
        return " ".join(moments.operation(operation, view=view, **given).failures)
    except InvalidArgument as error:
        return str(error)


@pytest.mark.parametrize("what", ASKED)
@pytest.mark.parametrize("kind", KINDS)
def test_refused(moments: Warehouse, kind: str, what: str) -> None:
    """Each is no value of the type, and no row is taken away; real ones are taken."""
    operation = what.split("d ")[0]
    view, stored = f"{moments.schema}.by_{kind}", moments.spark(f"select * from @.by_{kind}")
    for word in WORDS:
        assert "is no value of" in _refusal(moments, operation, view, {ASKED[what]: [word]}), word
    assert moments.freshness(f"by_{kind}") == "FRESH"
    assert Counter(moments.spark(f"select * from @.by_{kind}")) == Counter(stored)
    values = ["2024-02-29", None]
    assert not moments.operation(operation, view=view, **{ASKED[what]: values}).failures
    moments.apart(f"select * from @.by_{kind}")
    assert Counter(moments.spark(f"select * from @.by_{kind}")) == Counter(stored)


def test_mutant(moments: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unchecked, a word takes the row of NULL away in some of these views."""
    monkeypatch.setattr(KeyRefresher, "_are_of_types", lambda *_: True)
    wrong = []
    for kind in KINDS:
        stored = Counter(moments.spark(f"select * from @.by_{kind}"))
        moments.operation("refresh", view=f"{moments.schema}.by_{kind}", keys=["today"])
        wrong.append(Counter(moments.spark(f"select * from @.by_{kind}")) != stored)
        moments.operation("refresh", view=f"{moments.schema}.by_{kind}", method="complete")
    ((_, is_ansi),) = moments.spark("set spark.sql.ansi.enabled")
    assert any(wrong) or is_ansi == "true"
