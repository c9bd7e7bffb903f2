"""Staging tables and swapping as a finite model: creations, changes of meaning, drops, clean-up.

Who creates a view, rebuilds it because a view it reads means something else, drops it, or drops the
storage tables of builds that have ended, may be interleaved in any way and die at any step. Rows
are named by definition and base version. `RULES` names what the code does; leaving one out is a
mutant.

That a view is compared and swapped in one step is an assumption: catalogs offer no such statement,
the code compares immediately before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

MEANS_MORE = 10

RULES = frozenset(
    {
        "storage before view",
        "old storage dropped after the swap",
        "every build has a table of its own",
        "builds end after their swap",
        "ended builds are listed before the view is observed",
        "refreshes swap only what they observed",
    }
)


class Table(NamedTuple):
    """A storage table: whose rows they are, of which base version, and what its label says."""

    definition: int
    content: int
    label: int


class View(NamedTuple):
    """The view in the catalog."""

    definition: int
    storage: str


class Actor(NamedTuple):
    """Where one command is; `job` is create, rebuild, drop or clean."""

    job: str
    definition: int = 0
    step: str = "idle"
    seen: View | None = None
    version: int = 0
    moves: int = 0
    name: str = ""
    names: frozenset[str] = frozenset()


class State(NamedTuple):
    """`wanted` is the definition that the user asked for last, None after a drop; `ended` are the
    storage tables of builds that have ended."""

    actors: tuple[Actor, ...]
    view: View | None = View(0, "of 0")
    tables: frozenset[tuple[str, Table]] = frozenset({("of 0", Table(0, 0, 0))})
    ended: frozenset[str] = frozenset({"of 0"})
    wanted: int | None = 0
    base: int = 0
    moves: int = 0
    writes: int = 1
    rollbacks: int = 1
    crashes: int = 1
    builds: int = 0
    pinned: bool = True

    def table(self, name: str) -> Table | None:
        """The table of a name."""
        return dict(self.tables).get(name)

    def without(self, *names: str) -> State:
        """After tables were dropped."""
        return self._replace(tables=frozenset(t for t in self.tables if t[0] not in names))


Step = tuple[str, State, Actor]


def violation(state: State) -> str | None:
    """Which promise a state breaks, None if none."""
    if state.view is None:
        return None
    table = state.table(state.view.storage)
    if table is None:
        return "a view without its storage table"
    if table.definition != state.view.definition:
        return "a view over the rows of another definition"
    if table.label == state.base != table.content:
        return "FRESH, but the rows are not those of the base table"
    if state.wanted is None or state.view.definition % MEANS_MORE != state.wanted:
        return "a refresh has undone what the user asked for"
    return None


def steps(state: State, rules: frozenset[str]) -> Iterator[tuple[str, State]]:
    """Everything that can happen next."""
    if state.writes:
        moved = state._replace(base=state.base + 1, moves=state.moves + 1)
        yield "base written", moved._replace(writes=state.writes - 1)
    if state.rollbacks and state.base:
        moved = state._replace(base=state.base - 1, moves=state.moves + 1)
        yield "base rolled back", moved._replace(rollbacks=0)
    for number, actor in enumerate(state.actors):
        for what, after, moved_actor in _acts(state, actor, rules):
            actors = list(after.actors)
            actors[number] = moved_actor
            yield f"{number} {actor.job}: {what}", after._replace(actors=tuple(actors))


def _acts(state: State, actor: Actor, rules: frozenset[str]) -> Iterator[Step]:
    if actor.step == "done":
        return
    if actor.step != "idle" and state.crashes:
        # Nothing of it runs any more, so its build has ended.
        died = state._replace(crashes=0, ended=state.ended | ({actor.name} - {""}))
        yield "dies", died, _done(actor)
    act = {
        "idle": _begin,
        "named": _make_storage,
        "made": _compare_base,
        "compared": _swap,
        "swapped": _end,
        "dropping": _drop_storage,
        "cleaning": _look_at_view,
        "observed": _clean,
    }[actor.step]
    yield from act(state, actor, rules)


def _done(actor: Actor) -> Actor:
    return Actor(actor.job, step="done")


def _begin(state: State, actor: Actor, rules: frozenset[str]) -> Iterator[Step]:
    view = state.view
    if actor.job == "clean":
        late = "ended builds are listed before the view is observed" not in rules
        if late:
            yield "observes the view", state, actor._replace(step="cleaning", seen=view)
        else:
            yield "lists", state, actor._replace(step="cleaning", names=state.ended)
    elif actor.job == "drop" and view is not None:
        dropped = state._replace(view=None, wanted=None)
        yield "drops the view", dropped, actor._replace(step="dropping", seen=view)
    elif actor.job == "create":
        yield "observes", *_named(state, actor, actor.definition, rules)
    elif actor.job == "rebuild" and view is not None:
        definition = view.definition % MEANS_MORE + MEANS_MORE
        yield "observes", *_named(state, actor, definition, rules)


def _named(
    state: State, actor: Actor, definition: int, rules: frozenset[str]
) -> tuple[State, Actor]:
    name = f"of {definition}"
    if "every build has a table of its own" in rules:
        name = f"{state.builds}"
        state = state._replace(builds=state.builds + 1)
    if "builds end after their swap" not in rules:
        state = state._replace(ended=state.ended | {name})
    if "storage before view" not in rules:
        state = state._replace(view=View(definition, name), wanted=definition % MEANS_MORE)
    named = actor._replace(step="named", name=name, definition=definition, seen=state.view)
    return state, named._replace(version=state.base, moves=state.moves)


def _make_storage(state: State, actor: Actor, rules: frozenset[str]) -> Iterator[Step]:
    table = state.table(actor.name)
    if table is not None:
        yield "adopts what is there", state, actor._replace(step="compared")
        return
    content = actor.version if state.pinned else state.base
    made = (actor.name, Table(actor.definition, content, actor.version))
    after = state._replace(tables=state.tables | {made})
    if "old storage dropped after the swap" not in rules and actor.seen is not None:
        after = after.without(actor.seen.storage)
    yield "makes the storage table", after, actor._replace(step="made")


def _compare_base(state: State, actor: Actor, rules: frozenset[str]) -> Iterator[Step]:
    if not state.pinned and state.moves != actor.moves:
        again = Actor(actor.job, actor.definition % MEANS_MORE)
        ended = state.ended | {actor.name}
        discarded = state.without(actor.name)._replace(ended=ended)
        yield "discards: the base moved", discarded, again
    else:
        yield "compares", state, actor._replace(step="compared")


def _swap(state: State, actor: Actor, rules: frozenset[str]) -> Iterator[Step]:
    is_refresh = actor.job == "rebuild"
    compares = is_refresh and "refreshes swap only what they observed" in rules
    if compares and state.view != actor.seen:
        refused = state if _reads(state, actor.name) else state.without(actor.name)
        yield "is refused", refused._replace(ended=state.ended | {actor.name}), _done(actor)
        return
    swapped = state._replace(
        view=View(actor.definition, actor.name),
        wanted=state.wanted if is_refresh else actor.definition,
    )
    yield "swaps", swapped, actor._replace(step="swapped")


def _reads(state: State, name: str) -> bool:
    return state.view is not None and state.view.storage == name


def _end(state: State, actor: Actor, rules: frozenset[str]) -> Iterator[Step]:
    yield "ends", state._replace(ended=state.ended | {actor.name}), _done(actor)


def _drop_storage(state: State, actor: Actor, rules: frozenset[str]) -> Iterator[Step]:
    assert actor.seen is not None
    yield "drops the storage table", state.without(actor.seen.storage), _done(actor)


def _look_at_view(state: State, actor: Actor, rules: frozenset[str]) -> Iterator[Step]:
    if "ended builds are listed before the view is observed" in rules:
        yield "observes the view", state, actor._replace(step="observed", seen=state.view)
    else:
        yield "lists", state, actor._replace(step="observed", names=state.ended)


def _clean(state: State, actor: Actor, rules: frozenset[str]) -> Iterator[Step]:
    in_use = {actor.seen.storage} if actor.seen is not None else set()
    yield "drops the others", state.without(*(actor.names - in_use)), _done(actor)
