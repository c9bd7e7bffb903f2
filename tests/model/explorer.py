"""Visits every state that a model can reach, shortest ways first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple, TypeVar

S = TypeVar("S", bound=Hashable)


class Found(NamedTuple):
    """How many states were visited, and the shortest way to a broken promise, if there is one."""

    states: int
    broken: str | None
    trace: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join((self.broken or "nothing is broken", *self.trace))


def explore(
    start: S, steps: Callable[[S], Iterable[tuple[str, S]]], violation: Callable[[S], str | None]
) -> Found:
    """Breadth first, so the first counterexample is a shortest one."""
    came: dict[S, tuple[S, str] | None] = {start: None}
    ahead = deque([start])
    while ahead:
        state = ahead.popleft()
        broken = violation(state)
        if broken is not None:
            return Found(len(came), broken, _trace(came, state))
        for what, after in steps(state):
            if after not in came:
                came[after] = (state, what)
                ahead.append(after)
    return Found(len(came), None, ())


def _trace(came: dict[S, tuple[S, str] | None], state: S) -> tuple[str, ...]:
    trace: list[str] = []
    step = came[state]
    while step is not None:
        trace.append(step[1])
        step = came[step[0]]
    return tuple(reversed(trace))
