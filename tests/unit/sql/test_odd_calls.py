"""Calls with too few or too many arguments: nothing but the tree is missing."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.sql.reads import parse, references_of
from dbt.adapters.spark_mv.sql.spark_functions import SPARK_FUNCTIONS


@pytest.mark.parametrize("count", range(6))
def test_any_number_of_arguments(count: int) -> None:
    """sqlglot has errors of Python for some: whoever asks gets none of them."""
    arguments = ", ".join(["x", "'y'", "1", "z.w", "null"][:count])
    read = 0
    for function in sorted(SPARK_FUNCTIONS):
        sql = f"select {function}({arguments}) from t"
        tree, found = parse(sql), references_of(sql)
        read += tree is not None
        assert (tree is None) == (found is None)
    assert read > 100
