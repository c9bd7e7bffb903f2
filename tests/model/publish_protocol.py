"""The publish protocol as a finite model: every interleaving up to a bound is visited.

One base table, one storage table, two refreshers that may die or sleep at any step, a foreign
writer, rollbacks, re-creation of the base table, hand writes, compactions, and a sweep that is
wrong about who is alive. A version stands for the rows of the query over it, so content and
version are numbers of one kind. `RULES` names what the code does; leaving one out is a mutant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

HAND, HALF = -1, -2
WRITES = 2
INCARNATION = 100

RULES = frozenset(
    {
        "label in the commit of the rows",
        "versions before rows",
        "pinned reads",
        "moves compared after unpinned reads",
        "publish compares main",
        "builds stand on the main they began with",
        "builds have all of their writes",
        "labels only through compactions",
        "identity of the table in its version",
        "freshness compares versions",
    }
)


class Snapshot(NamedTuple):
    """A commit of the storage table; `label` is None for hand writes."""

    sid: int
    content: int
    label: int | None
    compaction: bool = False


class Refresher(NamedTuple):
    """Where one refresh is: `observed` is the base version it read, `s0` the main it starts from,
    `parent` the snapshot below its build, `writes` how many of its writes the build has."""

    step: str = "idle"
    s0: int = 0
    observed: int = 0
    moves: int = 0
    branch: int = 0
    built: Snapshot | None = None
    parent: int = 0
    writes: int = 0


class Budget(NamedTuple):
    """How much may still happen around the refreshers."""

    writes: int = 2
    rollbacks: int = 1
    recreations: int = 1
    hands: int = 1
    compactions: int = 1
    crashes: int = 1
    sweeps: int = 1


class State(NamedTuple):
    """`base` is the current version, `moves` counts its commits; `lost` marks a lost build. States
    that differ in the order of their refreshers are one, unless these are `told_apart`."""

    base: int = 0
    top: int = 0
    moves: int = 0
    chain: tuple[Snapshot, ...] = (Snapshot(0, 0, 0),)
    branches: frozenset[tuple[int, int]] = frozenset()
    sids: int = 1
    refreshers: tuple[Refresher, ...] = (Refresher(), Refresher())
    budget: Budget = Budget()
    flag: bool = True
    lost: bool = False
    told_apart: bool = False


Step = tuple[str, State]


def label_of(state: State, rules: frozenset[str]) -> int | None:
    """The label that an observation finds on main."""
    for snapshot in reversed(state.chain):
        if snapshot.label is not None:
            return snapshot.label
        if "labels only through compactions" in rules and not snapshot.compaction:
            return None
    return None


def is_fresh(state: State, rules: frozenset[str]) -> bool:
    """What a reader is told."""
    if "freshness compares versions" not in rules:
        return state.flag
    label = label_of(state, rules)
    return label is not None and _same(label, state.base, rules)


def _same(one: int, other: int, rules: frozenset[str]) -> bool:
    if "identity of the table in its version" in rules:
        return one == other
    return one % INCARNATION == other % INCARNATION


def violation(state: State, rules: frozenset[str]) -> str | None:
    """Which promise a state breaks, None if none."""
    if is_fresh(state, rules) and state.chain[-1].content != state.base:
        return "FRESH, but the rows are not those of the base table"
    if any(s.label not in (None, s.content) for s in state.chain):
        return "a label that is not true"
    if state.lost:
        return "a published build was replaced by one that began before it"
    return None


def steps(state: State, rules: frozenset[str]) -> Iterator[Step]:
    """Everything that can happen next."""
    yield from _around(state)
    for number, refresher in enumerate(state.refreshers):
        for what, after, moved in _refresher_steps(state, refresher, rules):
            others = list(after.refreshers)
            others[number] = moved
            if not state.told_apart:
                others.sort(key=repr)
            yield f"{number}: {what}", after._replace(refreshers=tuple(others))


def _around(state: State) -> Iterator[Step]:
    left, head = state.budget, state.chain[-1]
    moved = {"moves": state.moves + 1, "flag": state.flag}
    if left.writes:
        top = state.top + 1
        new = state._replace(base=state.base // INCARNATION * INCARNATION + top, top=top, **moved)
        yield "base written", new._replace(budget=left._replace(writes=left.writes - 1))
    if left.rollbacks and state.base % INCARNATION:
        for older in range(state.base % INCARNATION):
            base = state.base // INCARNATION * INCARNATION + older
            new = state._replace(base=base, **moved)
            yield "base rolled back", new._replace(budget=left._replace(rollbacks=0))
    if left.recreations:
        base = (state.base // INCARNATION + 1) * INCARNATION + state.base % INCARNATION
        new = state._replace(base=base, **moved)
        yield "base re-created", new._replace(budget=left._replace(recreations=0))
    if left.hands:
        yield "hand write", _committed(state, Snapshot(state.sids, HAND, None), hands=0)
    if left.compactions:
        made = Snapshot(state.sids, head.content, None, compaction=True)
        yield "compaction", _committed(state, made, compactions=0)
    if left.sweeps:
        for branch in state.branches:
            swept = state._replace(branches=state.branches - {branch})
            yield "sweep", swept._replace(budget=left._replace(sweeps=0))


def _committed(state: State, made: Snapshot, **budget: int) -> State:
    return state._replace(
        chain=(*state.chain, made), sids=state.sids + 1, budget=state.budget._replace(**budget)
    )


def _refresher_steps(
    state: State, r: Refresher, rules: frozenset[str]
) -> Iterator[tuple[str, State, Refresher]]:
    if r.step != "idle" and state.budget.crashes:
        crashed = state._replace(budget=state.budget._replace(crashes=0))
        yield "dies", crashed, Refresher()
    act = {
        "idle": _look_at_main,
        "main seen": _look_at_base,
        "observed": _lock,
        "locked": _begin_to_write,
        "writing": _write,
        "half written": _write,
        "written": _check,
        "checked": _publish,
        "no reply": _seek_evidence,
        "published": _label_afterwards,
    }[r.step]
    yield from act(state, r, rules)


def _look_at_main(state: State, r: Refresher, rules: frozenset[str]):
    if not is_fresh(state, rules):
        yield "sees main", state, Refresher("main seen", state.chain[-1].sid)


def _look_at_base(state: State, r: Refresher, rules: frozenset[str]):
    yield "sees base", state, r._replace(step="observed", observed=state.base, moves=state.moves)


def _lock(state: State, r: Refresher, rules: frozenset[str]):
    taken = max((n for s0, n in state.branches if s0 == r.s0), default=0)
    if taken:
        yield "waits, then observes again", state, Refresher()
    if taken < 2:
        mine = (r.s0, taken + 1)
        locked = state._replace(branches=state.branches | {mine})
        yield "locks or takes over", locked, r._replace(step="locked", branch=taken + 1)


def _begin_to_write(state: State, r: Refresher, rules: frozenset[str]):
    if (r.s0, r.branch) in state.branches:
        yield "begins to write", state, r._replace(step="writing")
    else:
        yield "finds its branch gone", state, Refresher()


def _write(state: State, r: Refresher, rules: frozenset[str]):
    # Iceberg makes a branch that was dropped meanwhile anew, from what main is now.
    there = (r.s0, r.branch) in state.branches
    state = state._replace(branches=state.branches | {(r.s0, r.branch)})
    if not there:
        r = r._replace(parent=state.chain[-1].sid, writes=0)
    elif not r.writes:
        r = r._replace(parent=r.s0)
    first, r = r.step == "writing", r._replace(writes=r.writes + 1)
    if first:
        yield "takes rows away", state, r._replace(step="half written")
        return
    content = r.observed if "pinned reads" in rules else state.base
    label = r.observed if "versions before rows" in rules else None
    built = Snapshot(state.sids, content if r.writes == WRITES else HALF, label)
    yield "writes", state._replace(sids=state.sids + 1), r._replace(step="written", built=built)


def _check(state: State, r: Refresher, rules: frozenset[str]):
    assert r.built is not None
    if "versions before rows" not in rules:
        r = r._replace(built=r.built._replace(label=state.base))
    compared = "moves compared after unpinned reads" in rules
    moved = r.moves != state.moves if compared else r.observed != state.base
    if "builds stand on the main they began with" in rules and r.parent != r.s0:
        yield "discards: its branch was made anew", _released(state, r), Refresher()
    elif "builds have all of their writes" in rules and r.writes != WRITES:
        yield "discards: a write was lost", _released(state, r), Refresher()
    elif "pinned reads" not in rules and "versions before rows" in rules and moved:
        yield "discards: the base moved", _released(state, r), Refresher()
    else:
        yield "checks", state, r._replace(step="checked")


def _publish(state: State, r: Refresher, rules: frozenset[str]):
    assert r.built is not None
    moved = state.chain[-1].sid != r.s0
    there = (r.s0, r.branch) in state.branches
    diverged = state.chain[-1].sid != r.parent
    if "publish compares main" in rules and (diverged or not there):
        yield "is refused", _released(state, r), Refresher()
        return
    own_commit = "label in the commit of the rows" in rules
    made = r.built if own_commit else r.built._replace(label=None, compaction=True)
    done = state._replace(
        chain=(*state.chain, made),
        branches=frozenset(b for b in state.branches if b[0] != r.s0),
        lost=state.lost or (moved and state.chain[-1].content != HAND),
        flag=True,
    )
    yield "publishes", done, Refresher() if own_commit else r._replace(step="published")
    yield "publishes, reply lost", done, r._replace(step="no reply")
    yield "fails to publish, reply lost", state, r._replace(step="no reply")


def _seek_evidence(state: State, r: Refresher, rules: frozenset[str]):
    assert r.built is not None
    if any(snapshot.sid == r.built.sid for snapshot in state.chain):
        yield "finds itself on main", state, Refresher()
    elif state.chain[-1].sid != r.s0:
        yield "finds main moved", _released(state, r), Refresher()
    else:
        yield "tries again", state, r._replace(step="checked")


def _label_afterwards(state: State, r: Refresher, rules: frozenset[str]):
    head = state.chain[-1]._replace(label=r.observed)
    yield "labels main", state._replace(chain=(*state.chain[:-1], head)), Refresher()


def _released(state: State, r: Refresher) -> State:
    return state._replace(branches=state.branches - {(r.s0, r.branch)})
