"""What `make test` takes a sample of; `make whole` takes everything."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TypeVar

import pytest

WHOLE = os.environ.get("TEST_WHOLE") == "1"
only_whole = pytest.mark.skipif(not WHOLE, reason="left out of the sample: `make whole`")
K = TypeVar("K")
T = TypeVar("T")


def sample(always: Iterable[T], others: Iterable[T]) -> list[T]:
    """The cases of a class that are always taken, and the others if everything is wanted."""
    return [*always, *(others if WHOLE else ())]


def sample_of(cases: Mapping[K, T], left_out: Iterable[K]) -> dict[K, T]:
    """The cases without those that are left out of a sample, each of which has to be one."""
    names = set(left_out)
    assert names <= set(cases), names - set(cases)
    return {name: case for name, case in cases.items() if WHOLE or name not in names}
