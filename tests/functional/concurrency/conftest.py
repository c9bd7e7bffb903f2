"""The fixtures of the materialized-view tests, for races."""

from collections.abc import Iterator

import pytest

from dbt.adapters.spark_mv.planning import incremental
from tests.functional.materialized_view.conftest import lake, project

__all__ = ["lake", "project"]


@pytest.fixture(scope="module", autouse=True)
def _in_part() -> Iterator[None]:
    # Fast refreshes of two writes have all the steps that those of one have.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(incremental, "is_better_in_part", lambda *_: True)
        yield
