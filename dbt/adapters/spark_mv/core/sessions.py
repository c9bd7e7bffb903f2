"""Runs statements of refreshes in sessions of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor

_Result = TypeVar("_Result")
# How Spark reports it from one stage, and from several at once.
_INSIDE = ("[INTERNAL_ERROR]", "NullPointerException")
_NOT_AT_RUN_TIME = {"spark.sql.optimizer.dynamicPartitionPruning.enabled": "false"}


def in_session(
    executor: Executor, settings: Mapping[str, str], act: Callable[[Executor], _Result]
) -> _Result:
    """The result of `act` in a session with these settings.

    If Spark fails inside of itself, once more without leaving out partitions at run time: Iceberg
    1.11 fails when it compares a partition of NULL with the texts that a join asks for.
    """
    try:
        with executor.isolated(settings) as session:
            return act(session)
    except StatementFailed as error:
        if not any(text in str(error) for text in _INSIDE):
            raise
    with executor.isolated({**settings, **_NOT_AT_RUN_TIME}) as session:
        return act(session)
