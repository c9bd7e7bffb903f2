"""Which table of a query is which of a view, where a table is read more than once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from dbt.adapters.spark_mv.rewrite.block import LEFT_OUT, Block

_MOST = 24


def maps(query: Block, view: Block) -> Iterator[dict[int, int]]:
    """The ways to find the occurrences of the view among those of the query, if they are many some
    of them: the number of each in the query. A table that was left out has one of its own."""

    def extended(number: int, taken: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if number == len(view.tables):
            yield taken
            return
        if view.tables[number] == LEFT_OUT:
            yield from extended(number + 1, (*taken, len(query.tables) + number))
            return
        for n, table in enumerate(query.tables):
            if table == view.tables[number] and n not in taken:
                yield from extended(number + 1, (*taken, n))

    for found in islice(extended(0, ()), _MOST):
        yield dict(enumerate(found))
