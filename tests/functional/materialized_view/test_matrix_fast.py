"""Types of keys, forms of queries and changes against each other: fast refreshes of a sample in
which most pairs meet. `make equivalence ARGS='--matrix'` runs all.
"""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.matrix_cases import Case
from tests.functional.materialized_view.matrix_run import run_cases
from tests.functional.materialized_view.matrix_sample import cases, fast_sample
from tests.functional.materialized_view.warehouse import Warehouse


@pytest.mark.parametrize("case", cases("f", fast_sample()), ids=lambda case: case.name)
def test_keys(lake: Warehouse, case: Case) -> None:
    """Views that are refreshed fast have the rows of their query after every change."""
    assert run_cases(lake, [case]).wrong == []
