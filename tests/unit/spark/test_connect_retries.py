"""A Spark Connect server that is gone is waited for once, and not for long."""

from __future__ import annotations

import pytest
from pyspark.sql.connect.client.retries import DefaultPolicy, Retrying, RetryPolicy

from dbt.adapters.spark_mv.spark.connect_retries import RETRIES, ConnectRetries


class Gone(Exception):
    """Nobody answers."""


class Patient(DefaultPolicy):
    """PySpark's, for errors of the test."""

    def can_retry(self, exception: BaseException) -> bool:
        return isinstance(exception, Gone)


def _waited(policy: RetryPolicy | ConnectRetries, fails: int) -> list[float]:
    """How long each attempt is waited for, in seconds, of a call that fails so many times."""
    waited: list[float] = []
    attempts = 0
    for attempt in Retrying([policy], sleep=waited.append):  # type: ignore[list-item]
        with attempt:
            attempts += 1
            if attempts <= fails:
                raise Gone
    return waited


@pytest.mark.filterwarnings("ignore:.*RETRIES_EXCEEDED")
def test_gives_up_once() -> None:
    said: list[str] = []
    retries = ConnectRetries(Patient(max_retries=RETRIES), said.append)
    waited = retries_of(retries)
    assert len(waited) == 6 and 60 < sum(waited) < 90
    assert len(said) == 3 and "next attempt in" in said[0]
    assert retries_of(retries) == []  # and at once from then on


def retries_of(policy: ConnectRetries) -> list[float]:
    """The waits of a call that never succeeds."""
    waited: list[float] = []
    with pytest.raises(Gone):
        for attempt in Retrying([policy], sleep=waited.append):  # type: ignore[list-item]
            with attempt:
                raise Gone
    return waited


def test_a_server_that_comes_back() -> None:
    retries = ConnectRetries(Patient(max_retries=RETRIES), [].append)
    assert len(_waited(retries, fails=3)) == 3
    assert len(_waited(retries, fails=4)) == 4


def test_other_errors_are_not_retried() -> None:
    retries = ConnectRetries(Patient(max_retries=RETRIES), [].append)
    assert not retries.can_retry(ValueError()) and retries.can_retry(Gone())
