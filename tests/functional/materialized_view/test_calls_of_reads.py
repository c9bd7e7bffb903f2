"""How often a read asks the JVM: what a statement costs beside its rows, where no time is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from py4j.clientserver import JavaClient

from tests.functional.materialized_view.warehouse import Warehouse

_CHAIN = 5
# A third more than there were when this was written: 22 for a table, 8 for a view, and a mean of
# 4.5 for each view below that.
_OF_A_TABLE, _OF_A_VIEW, _OF_ONE_BELOW = 30, 11, 6


@contextmanager
def counted() -> Iterator[list[str]]:
    """The commands that go to the JVM meanwhile; what py4j sends to forget objects is none."""
    sent: list[str] = []
    send = JavaClient.send_command

    def noted(client: JavaClient, command: str, *given: object, **named: object) -> object:
        if not command.startswith("m\n"):
            sent.append(command)
        return send(client, command, *given, **named)

    with patch.object(JavaClient, "send_command", noted):
        yield sent


@pytest.fixture(scope="module")
def chain(lake: Warehouse) -> Warehouse:
    lake.sql("create materialized view @.v1 as select customer, amount from @.orders")
    for number in range(2, _CHAIN + 1):
        lake.sql(
            f"create materialized view @.v{number} as "
            f"select customer, amount + 1 as amount from @.v{number - 1}"
        )
    return lake


def calls_of(lake: Warehouse, sql: str) -> int:
    """The calls of a statement that its command has read before."""
    lake.restart()
    for _ in range(2):
        lake.sql(sql)
    with counted() as sent:
        lake.sql(sql)
    return len(sent)


def test_fresh_views(chain: Warehouse) -> None:
    """A fresh view costs a few calls beside those of a table, and each view below it a few more."""
    table = calls_of(chain, "select count(*) from @.orders")
    one = calls_of(chain, "select count(*) from @.v1")
    five = calls_of(chain, f"select count(*) from @.v{_CHAIN}")
    assert 0 < table <= _OF_A_TABLE, table
    assert one - table <= _OF_A_VIEW, (table, one)
    assert five - one <= (_CHAIN - 1) * _OF_ONE_BELOW, (one, five)
