"""Events that the catalog does not take: whoever asked for them is told so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.spark_mv.core.errors import NotRecorded, StatementFailed
from dbt.adapters.spark_mv.metadata import events as kinds
from dbt.adapters.spark_mv.metadata.log import MetadataLog

OTHERS = (kinds.MARKED_STALE, kinds.REFRESH_STARTED, kinds.REFRESH_FAILED)


@contextmanager
def _busy() -> Iterator[Any]:
    def append(batch: Any) -> Any:
        raise StatementFailed("the catalog is busy")

    yield SimpleNamespace(version=lambda: None, append=append)


def _log_of(kind: str) -> tuple[MetadataLog, list[str]]:
    warned = list[str]()
    log = MetadataLog(_busy, warned.append, "i")
    log.record(kinds.new_event(kind, "id", "c.d.v", invocation_id="i", payload={}))
    return log, warned


@pytest.mark.parametrize("kind", kinds.ASKED)
def test_what_was_asked_for(kind: str) -> None:
    log, warned = _log_of(kind)
    with pytest.raises(NotRecorded, match="c.d.v: the operation could not be written"):
        log.flush_asked()
    assert len(warned) == 1 and "the catalog is busy" in warned[0]


@pytest.mark.parametrize("kind", OTHERS)
def test_history(kind: str) -> None:
    """A refresh is right without it."""
    log, warned = _log_of(kind)
    log.flush_asked()
    assert len(warned) == 1
