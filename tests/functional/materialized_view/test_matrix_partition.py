"""Types, partitions of base tables and views, time zones, changes and methods against each other: a
sample in which most pairs meet. `make equivalence ARGS='--matrix'` runs all.
"""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.matrix_cases import Case
from tests.functional.materialized_view.matrix_run import run_cases
from tests.functional.materialized_view.matrix_sample import cases, corners, partition_sample
from tests.functional.materialized_view.warehouse import Warehouse


@pytest.mark.parametrize("case", corners(), ids=lambda case: case.name)
def test_corners(lake: Warehouse, case: Case) -> None:
    """Combinations that lost rows once."""
    assert run_cases(lake, [case]).wrong == []


@pytest.mark.parametrize("case", cases("p", partition_sample()), ids=lambda case: case.name)
def test_partitions(lake: Warehouse, case: Case) -> None:
    """Views that are refreshed by partition, and in turn by the other methods, have the rows of
    their query after every change."""
    assert run_cases(lake, [case]).wrong == []
