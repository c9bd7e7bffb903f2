"""Interleaved timing of contenders, and the equality of what they produced."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import Any

Contender = Callable[[], object]


class Rounds:
    """Milliseconds per contender, of rounds in which they run in turn, in a shuffled order; and
    seconds of processor time of those that return them."""

    def __init__(self) -> None:
        self.samples: dict[str, list[float]] = {}
        self.cpu: dict[str, list[float]] = {}
        self._shuffle = random.Random(7)

    def run(self, contenders: Mapping[str, Contender], after: Contender | None = None) -> None:
        """Time each contender once; what is called after each is not timed."""
        for label in self._shuffle.sample(list(contenders), len(contenders)):
            began = time.perf_counter()
            used = contenders[label]()
            elapsed = (time.perf_counter() - began) * 1000
            self.samples.setdefault(label, []).append(elapsed)
            if isinstance(used, float):
                self.cpu.setdefault(label, []).append(used)
            if after is not None:
                after()

    def in_order(self, contenders: Mapping[str, Contender]) -> dict[str, list[float]]:
        """The samples in the order in which the contenders are given."""
        return {label: self.samples[label] for label in contenders}


def measure(
    contenders: Mapping[str, Contender],
    rounds: int,
    warm_up: int = 2,
    prepare: Contender | None = None,
) -> dict[str, list[float]]:
    """The samples of some rounds after `warm_up` more; before each `prepare` is called."""
    found = Rounds()
    for _ in range(warm_up + rounds):
        if prepare is not None:
            prepare()
        found.run(contenders)
    return {label: values[warm_up:] for label, values in found.in_order(contenders).items()}


def differences(session: Any, left: str, right: str) -> tuple[str, ...]:
    """Nothing if two queries return the same multiset of rows, else what differs, as one text.

    What EXCEPT ALL in both directions says, at the cost of one: each query runs once.
    """
    columns = ", ".join(f"`{column}`" for column in session.sql(left).columns)
    extra = session.sql(
        f"select {columns}, sum(mv_side) as mv_side from ("
        f"select *, 1 as mv_side from ({left}) union all select *, -1 from ({right})) "
        f"group by {columns} having sum(mv_side) <> 0 limit 1"
    ).collect()
    return (f"contents differ: {extra[0]}\n{left}\n{right}",) if extra else ()


def progress(text: str) -> None:
    """One line for whoever watches."""
    print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)
