"""The cases of tests/unit/rewrite/fixtures on Spark: the same rows, names and types.

Those of the papers; with TEST_WHOLE all of them.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from tests.functional.materialized_view.test_rewriting_pairs import random_rows, rows
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import sample
from tests.unit.rewrite.atoms import COLUMNS
from tests.unit.rewrite.fixture_files import FOLDER, Case, cases, every_case
from tests.unit.rewrite.harness import Tables, stored_view

OF_PAPERS = [case for name in ("datafusion.sql", "paper.sql") for case in cases(FOLDER / name)]
OTHERS = [case for case in every_case() if case not in OF_PAPERS]
ANSWERED = [case for case in sample(OF_PAPERS, OTHERS) if not case.expected.startswith("no: ")]
REFUSED = {
    "filter over groups mixed with a key 2": "Spark finds no column of a call in ORDER BY, if "
    "HAVING has a call that SELECT has not by itself; such a statement runs as it was written"
}


@pytest.fixture(scope="module")
def shelf(lake: Warehouse) -> Warehouse:
    """All tables of the cases as temporary views, with rows and without."""
    lake.spark("set spark.sql.ansi.enabled = false")
    lake.spark("set time zone 'UTC'")
    for table in COLUMNS:
        lake.spark(f"create or replace temporary view {table} as {random_rows(Random(5), table)}")
    return lake


def found(shelf: Warehouse, text: str) -> tuple[Any, Counter[Any]]:
    """Names, types and rows."""
    kinds = [(name, kind) for name, kind, *_ in shelf.spark(f"describe query {text}")]
    return kinds, rows(shelf, text)


def parameter(case: Case) -> Any:
    why = REFUSED.get(case.name)
    marks = [pytest.mark.xfail(strict=True, reason=why)] if why is not None else []
    return pytest.param(case, id=case.name, marks=marks)


@pytest.mark.parametrize("case", map(parameter, ANSWERED))
def test_same_rows(shelf: Warehouse, case: Case) -> None:
    view = stored_view(case.view, [*case.types], Tables())
    shelf.keep("mv_rows", case.view, [column.name for column in view.columns])
    kinds = [kind for _, kind, *_ in shelf.spark("describe query select * from mv_rows")]
    assert kinds == [*case.types]
    limited = " limit " in case.query.lower()
    asked, answered = found(shelf, case.query), found(shelf, case.expected)
    assert answered[0] == asked[0]
    assert limited or answered[1] == asked[1]
