"""Which of the registered views may answer a statement, by what they read."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property
from heapq import nsmallest

from dbt.adapters.spark_mv.metadata.events import Event
from dbt.adapters.spark_mv.metadata.projection import State, ViewState
from dbt.adapters.spark_mv.sql.names import STORAGE_NAME, TableName
from dbt.adapters.spark_mv.views.definition import MaterializedView

MOST_VIEWS = 64
_WORD = re.compile(r"\w+")


class ListedView:
    """A registered view, as it was last found in the catalog."""

    def __init__(self, known: ViewState) -> None:
        self.name, self._known = known.name, known
        self._found: tuple[Event | None, MaterializedView] | None = None

    @cached_property
    def words(self) -> frozenset[str]:
        """Those of its text, in lower case."""
        return frozenset(_WORD.findall(str(self._known.payload.get("definition", "")).lower()))

    @property
    def rows(self) -> int:
        """Those of its last build; 0 if that is not known."""
        build = self._known.last_build
        rows = build.payload.get("rows") if build is not None else None
        return rows if isinstance(rows, int) else 0

    @property
    def last_found(self) -> MaterializedView | None:
        """What it was in the catalog, if it was looked up after its last build."""
        build, view = self._found or (None, None)
        return view if build is self._known.last_build else None

    @last_found.setter
    def last_found(self, view: MaterializedView) -> None:
        self._found = self._known.last_build, view


class ViewIndex:
    """The registered views by what they read."""

    def __init__(self, state: State) -> None:
        self._state, self._registrations = state, state.registrations
        self._by_source: dict[TableName, list[ListedView]] = {}
        for view in list(state.views.values()):
            listed = ListedView(view)
            for source in view.sources:
                self._by_source.setdefault(source, []).append(listed)
        # The names of all that views read, without their schemas, in lower case.
        self.names = {source.name.lower() for source in self._by_source}

    def is_of(self, state: State) -> bool:
        """Whether it has the views that are registered now."""
        return self._state is state and self._registrations == state.registrations

    def of(
        self, tables: Collection[TableName], columns: Collection[str]
    ) -> tuple[list[ListedView], list[ListedView]]:
        """The views that read one of these tables, a storage table counting as its view: those to
        be tried, in whose texts all of these columns stand, and that have few rows; the others."""
        found: dict[ListedView, None] = {}
        for table in tables:
            stored = STORAGE_NAME.match(table.name)
            names = [table, table.sibling(stored["view"])] if stored else [table]
            for name in names:
                found.update(dict.fromkeys(self._by_source.get(name, ())))
        if len(found) <= MOST_VIEWS:
            return list(found), []
        wanted = {column.lower() for column in columns}
        tried = nsmallest(MOST_VIEWS, found, lambda one: (len(wanted - one.words), one.rows))
        for one in tried:
            del found[one]
        return tried, list(found)
