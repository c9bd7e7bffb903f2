"""A view over a view as a finite model: two labels, one base table, refreshes in any order.

The upper view reads the storage table of the lower one at a snapshot, and its label says which.
Rows are named by the version of the base table that they come from. Publishing is one step here:
what makes it one is the matter of `publish_protocol.py`.

A reader of the upper view goes step by step: what it has seen of a view may be old when it has seen
the other. It is promised no rows of an older base version than the one it began with, as long as
nothing is rolled back: a refresh from before the rollback may publish after the observation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

READS_LOWER_FIRST = (
    "the lower view is observed before the version that the upper one is compared with"
)
RULES = frozenset(
    {
        "a view is fresh only if what it reads is",
        "labels name what was read",
        "upstream views are read at one snapshot",
        READS_LOWER_FIRST,
    }
)


class Build(NamedTuple):
    """A published build: its snapshot, its rows, and the version or snapshot it was made from."""

    sid: int
    rows: int
    label: int


class Refresher(NamedTuple):
    """A refresh of the lower view, or of the upper one, which refreshes the lower one first.

    `target` is the view that it refreshes now, `main` its observed head, `version` what
    it is going to read.
    """

    of_upper: bool
    step: str = "idle"
    target: str = ""
    main: int = 0
    version: int = 0
    rows: int = 0


class Reader(NamedTuple):
    """A read of the upper view. `began_with` is the version of the base table then, `pin` the
    snapshot of the lower view that the upper one is held against."""

    step: str = "idle"
    began_with: int = 0
    pin: int = 0
    rows: int = 0


class State(NamedTuple):
    """`lower` and `upper` are the builds that were published, the current one last."""

    refreshers: tuple[Refresher, ...]
    reader: Reader | None = None
    base: int = 0
    lower: tuple[Build, ...] = (Build(0, 0, 0),)
    upper: tuple[Build, ...] = (Build(0, 0, 0),)
    sids: int = 1
    writes: int = 2
    base_rollbacks: int = 1
    storage_rollbacks: int = 1
    crashes: int = 1


Step = tuple[str, State, Refresher]


def lower_is_fresh(state: State) -> bool:
    """Whether a reader of the lower view is told so."""
    return state.lower[-1].label == state.base


def upper_is_fresh(state: State, rules: frozenset[str]) -> bool:
    """Whether a reader of the upper view is told so."""
    same = state.upper[-1].label == state.lower[-1].sid
    if "a view is fresh only if what it reads is" not in rules:
        return same
    return same and lower_is_fresh(state)


def violation(state: State, rules: frozenset[str]) -> str | None:
    """Which promise a state breaks, None if none."""
    if lower_is_fresh(state) and state.lower[-1].rows != state.base:
        return "the lower view is FRESH, but its rows are not those of the base table"
    if upper_is_fresh(state, rules) and state.upper[-1].rows != state.base:
        return "the upper view is FRESH, but its rows are not those of the base table"
    reader = state.reader
    if reader and reader.step == "served" and reader.rows < reader.began_with:
        return "a reader got rows from before it began"
    return None


def steps(state: State, rules: frozenset[str]) -> Iterator[tuple[str, State]]:
    """Everything that can happen next."""
    if state.writes:
        yield "base written", state._replace(base=state.base + 1, writes=state.writes - 1)
    if state.base_rollbacks and state.base:
        yield "base rolled back", state._replace(base=state.base - 1, base_rollbacks=0)
    if state.storage_rollbacks and len(state.lower) > 1:
        older = (*state.lower, state.lower[-2])
        yield "lower view rolled back by hand", state._replace(lower=older, storage_rollbacks=0)
    if state.reader:
        yield from _read_upper(state, state.reader, rules)
    for number, refresher in enumerate(state.refreshers):
        for what, after, moved in _acts(state, refresher, rules):
            others = list(after.refreshers)
            others[number] = moved
            yield f"{number}: {what}", after._replace(refreshers=tuple(others))


def _read_upper(state: State, reader: Reader, rules: frozenset[str]) -> Iterator[tuple[str, State]]:
    if reader.step == "idle":
        begun = Reader("begun", state.base, state.lower[-1].sid)
        yield "the reader observes the upper view", state._replace(reader=begun)
    elif reader.step == "begun":
        yield "the reader observes the lower view", _lower_made_fresh(state, reader)
    elif reader.step == "observed":
        pin = state.lower[-1].sid if READS_LOWER_FIRST in rules else reader.pin
        pinned = reader._replace(step="pinned", pin=pin)
        yield "the reader takes the version of the lower view", state._replace(reader=pinned)
    elif reader.step == "pinned":
        yield "the reader judges the upper view", _upper_made_fresh(state, reader)
    elif reader.step == "judged":
        served = reader._replace(step="served", rows=state.upper[-1].rows)
        yield "the reader is served", state._replace(reader=served)


def _lower_made_fresh(state: State, reader: Reader) -> State:
    observed = reader._replace(step="observed")
    if lower_is_fresh(state):
        return state._replace(reader=observed)
    made = Build(state.sids, state.base, state.base)
    after = state._replace(sids=state.sids + 1, lower=(*state.lower, made))
    return after._replace(reader=observed._replace(pin=made.sid))


def _upper_made_fresh(state: State, reader: Reader) -> State:
    judged = reader._replace(step="judged")
    if state.upper[-1].label == reader.pin:
        return state._replace(reader=judged)
    (rows,) = {build.rows for build in state.lower if build.sid == reader.pin}
    made = Build(state.sids, rows, reader.pin)
    return state._replace(reader=judged, sids=state.sids + 1, upper=(*state.upper, made))


def _acts(state: State, r: Refresher, rules: frozenset[str]) -> Iterator[Step]:
    idle = Refresher(r.of_upper)
    if r.step != "idle" and state.crashes:
        yield "dies", state._replace(crashes=0), idle
    if r.step == "idle":
        yield from _look(state, r, rules)
    elif r.step == "observed":
        yield f"reads for the {r.target} view", state, _read(state, r, rules)
    else:
        yield from _publish(state, r, idle, rules)


def _look(state: State, r: Refresher, rules: frozenset[str]) -> Iterator[Step]:
    if not lower_is_fresh(state):
        observed = r._replace(step="observed", target="lower", main=state.lower[-1].sid)
        yield "observes the lower view", state, observed._replace(version=state.base)
    elif r.of_upper and not upper_is_fresh(state, rules):
        observed = r._replace(step="observed", target="upper", main=state.upper[-1].sid)
        yield "observes the upper view", state, observed._replace(version=state.lower[-1].sid)


def _read(state: State, r: Refresher, rules: frozenset[str]) -> Refresher:
    rows = r.version
    if r.target == "upper":
        pinned = "upstream views are read at one snapshot" in rules
        builds = [b for b in state.lower if b.sid == r.version] if pinned else state.lower
        rows = builds[-1].rows
    return r._replace(step="read", rows=rows)


def _publish(state: State, r: Refresher, idle: Refresher, rules: frozenset[str]) -> Iterator[Step]:
    builds = state.upper if r.target == "upper" else state.lower
    if builds[-1].sid != r.main:
        yield "is refused", state, idle
        return
    label = r.version
    if "labels name what was read" not in rules:
        label = state.lower[-1].sid if r.target == "upper" else state.base
    made = (*builds, Build(state.sids, r.rows, label))
    after = state._replace(sids=state.sids + 1, **{r.target: made})
    yield f"publishes the {r.target} view", after, idle
