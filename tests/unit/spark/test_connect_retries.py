"""A Spark Connect server that is gone is waited for once, and not for long."""

from __future__ import annotations

import pytest
from pyspark.sql.connect.client.retries import DefaultPolicy, Retrying

from dbt.adapters.spark_mv.spark.connect_retries import RETRIES, ConnectRetries


class Gone(Exception):
    """Nobody answers."""


class Patient(DefaultPolicy):
    """PySpark's, for errors of the test."""

    def can_retry(self, exception: BaseException) -> bool:
        return isinstance(exception, Gone)


def _waits(policy: ConnectRetries, fails: int) -> tuple[list[float], bool]:
    """How long each attempt is waited for, in seconds, of a call that fails so many times; and
    whether it succeeds in the end."""
    waits: list[float] = []
    attempts = 0
    try:
        for attempt in Retrying([policy], sleep=waits.append):  # type: ignore[list-item]
            with attempt:
                attempts += 1
                if attempts <= fails:
                    raise Gone
    except Gone:
        return waits, False
    return waits, True


@pytest.mark.filterwarnings("ignore:.*RETRIES_EXCEEDED")
def test_gives_up_once() -> None:
    said: list[str] = []
    retries = ConnectRetries(Patient(max_retries=RETRIES), said.append)
    waits, succeeds = _waits(retries, fails=100)
    assert not succeeds
    assert len(waits) == 6 and 60 < sum(waits) < 90
    assert len(said) == 3 and "next attempt in" in said[0]
    assert _waits(retries, fails=100) == ([], False)  # and at once from then on


def test_a_server_that_comes_back() -> None:
    retries = ConnectRetries(Patient(max_retries=RETRIES), [].append)
    for fails in (3, 4):
        waits, succeeds = _waits(retries, fails)
        assert succeeds and len(waits) == fails


def test_other_errors_are_not_retried() -> None:
    retries = ConnectRetries(Patient(max_retries=RETRIES), [].append)
    assert not retries.can_retry(ValueError()) and retries.can_retry(Gone())
