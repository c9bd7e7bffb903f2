"""What all tests of rewriting run on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.rewrite.lake import Lake


@pytest.fixture(scope="module")
def lake() -> Iterator[Lake]:
    """Small random tables."""
    made = Lake()
    yield made
    made.connection.close()
