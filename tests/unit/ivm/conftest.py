"""What the tests of the rules share."""

from __future__ import annotations

import pytest

from tests.unit.ivm.formulas import Engine


@pytest.fixture(scope="module")
def engine() -> Engine:
    """DuckDB with the tables of a module's tests."""
    return Engine()
