"""Which registered views an operation is about, in order of refresh."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any

from dbt.adapters.spark_mv.core.errors import AmbiguousName, InvalidName, UnknownMaterializedView
from dbt.adapters.spark_mv.metadata.projection import State, ViewState
from dbt.adapters.spark_mv.sql.names import TableName, parse_name


class Selection:
    """Selects views by name, `schema.name`, list, `tag:x`, `+name` and `name+`."""

    def __init__(self, state: State, target_schema: str, schemas: Iterable[str]) -> None:
        self._state = state
        self._views = state.views
        self._target_schema = target_schema
        self._schemas = {schema.lower() for schema in (*schemas, target_schema)}
        self._upstream = {
            view.name: {source for source in view.sources if source in self._views}
            for view in self._views.values()
        }

    def of_project(self, everything: bool = False) -> list[ViewState]:
        """The views in this project's schemas, or all, upstream first."""
        return self._ordered(
            view.name for view in self._views.values() if everything or self._is_of_project(view)
        )

    def _is_of_project(self, view: ViewState) -> bool:
        return _is_in(view, self._schemas)

    def select(self, given: Any) -> list[ViewState]:
        """The views that `given` (a text or a list of texts) names, upstream first.

        Raises `InvalidName`, `UnknownMaterializedView` or `AmbiguousName`.
        """
        items: Sequence[Any] = given if isinstance(given, (list, tuple)) else [given]
        if not items:
            raise InvalidName("The list of views is empty.", "Name at least one, or leave it out.")
        return self._ordered({name for item in items for name in self._select_one(item)})

    def _ordered(self, names: Iterable[Any]) -> list[ViewState]:
        wanted = set(names)
        return [self._views[name] for name in _in_order(self._upstream) if name in wanted]

    def _select_one(self, item: Any) -> set[Any]:
        if not isinstance(item, str) or not item.strip():
            raise InvalidName(
                f"{item!r} does not name a materialized view.",
                "Write name, schema.name, tag:x, +name or name+.",
            )
        text = item.strip()
        if text.startswith("tag:"):
            return self._tagged(text.removeprefix("tag:"))
        up, down = text.startswith("+"), text.endswith("+")
        name = self.one(text.removeprefix("+").removesuffix("+")).name
        found = {name}
        found |= _reached(name, self._upstream) if up else set()
        found |= {view.name for view in self._state.dependents_of(name)} if down else set()
        return found

    def _tagged(self, tag: str) -> set[Any]:
        here = (view for view in self._views.values() if self._is_of_project(view))
        found = {view.name for view in here if tag in view.option("tags", ())}
        if not found:
            raise UnknownMaterializedView(
                f"No materialized view here has the tag {tag!r}.", "See `dbt run-operation status`."
            )
        return found

    def one(self, text: str) -> ViewState:
        """The registered view of one name: in the target schema, else the only one so named in
        those of the project, else the only one."""
        parts = self._parts_of(text)
        if len(parts) > 3:
            raise InvalidName(
                f"{text!r} has {len(parts)} parts.",
                "Write name, schema.name or catalog.schema.name.",
            )
        matches = self._named(parts) or self._named(parts, str.lower)
        if len(parts) == 1:
            here = [view for view in matches if _is_in(view, {self._target_schema.lower()})]
            matches = here or list(filter(self._is_of_project, matches)) or matches
        if len(matches) == 1:
            return matches[0]
        if not matches:
            raise UnknownMaterializedView(
                f"{text} is no registered materialized view.",
                "`dbt run-operation status --args '{all: true}'` lists them; "
                "`rebuild_metadata` registers those that were lost.",
            )
        names = ", ".join(sorted(str(view.name) for view in matches))
        raise AmbiguousName(f"{text} could be any of: {names}.", "Write schema.name.")

    def _named(self, parts: tuple[str, ...], folded: Callable[[str], str] = str) -> list[ViewState]:
        """Views whose names end so, with the letters as `folded` makes them."""
        wanted = tuple(map(folded, parts))
        return [
            view
            for view in self._views.values()
            if tuple(map(folded, view.name.parts))[-len(parts) :] == wanted
        ]

    def _parts_of(self, text: str) -> tuple[str, ...]:
        """The parts of a name; one that needs backticks may be without, as operations print it."""
        try:
            return parse_name(text)
        except InvalidName:
            for name in (view.name for view in self._views.values()):
                printed = {name.full: 0, str(name): 1, name.name: -1}
                if text in printed:
                    return name.parts[printed[text] :]
            raise


def _in_order(upstream: Mapping[TableName, set[TableName]]) -> Iterator[TableName]:
    """Upstream first; of those that could be next, the first by name."""
    sorter = TopologicalSorter(upstream)
    sorter.prepare()
    ready: list[TableName] = []
    while sorter.is_active():
        for name in sorter.get_ready():
            heapq.heappush(ready, name)
        name = heapq.heappop(ready)
        yield name
        sorter.done(name)


def _reached(name: TableName, upstream: Mapping[TableName, set[TableName]]) -> set[TableName]:
    """Everything upstream of a view."""
    found: set[TableName] = set()
    frontier = {name}
    while frontier:
        frontier = {one for each in frontier for one in upstream[each]} - found
        found |= frontier
    return found


def _is_in(view: ViewState, schemas: set[str]) -> bool:
    """Whether a view is in one of these schemas, which are in lower case."""
    return not schemas.isdisjoint(map(str.lower, view.name.schemas))
