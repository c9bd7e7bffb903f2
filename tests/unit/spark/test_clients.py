from __future__ import annotations

from typing import Any

from dbt.adapters.spark_mv.spark.clients import ConnectionExecutor


class _Handle:
    """A server connection that keeps what it is told."""

    description = None

    def __init__(self) -> None:
        self.told: list[str] = []

    def cursor(self) -> _Handle:
        return self

    def execute(self, sql: str) -> None:
        self.told.append(sql)

    def fetchall(self) -> list[Any]:
        return []

    def close(self) -> None:
        pass


def test_a_setting_with_backticks_stays_one_setting() -> None:
    handle = _Handle()
    with ConnectionExecutor(lambda: handle).isolated({"a`b": "x`=`y ${env:HOME}"}):
        pass
    assert handle.told[-1] == "SET `a``b`=`x``=``y ${env:HOME}`"
