"""The rows of seeds: their statements, and the label by which a table is known to have them.

The commit that fills the table of a seed is labelled with what was written. A table whose newest
commit has the same label is not written to again, and the views over it stay fresh.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import available
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import client_for
from dbt.adapters.spark_mv.glue.container_methods import ContainerMethods
from dbt.adapters.spark_mv.glue.dbt_errors import dbt_errors
from dbt.adapters.spark_mv.refresh.written.expiry import LABEL_CONF
from dbt.adapters.spark_mv.sql.literals import seed_cell
from dbt.adapters.spark_mv.sql.names import use
from dbt.adapters.spark_mv.statements.pipeline import Passage
from dbt.adapters.spark_mv.statements.rewriting.search import BRANCH_SETTING
from dbt.adapters.spark_mv.views.settings import spelt_as

if TYPE_CHECKING:
    import agate

_LABEL = "mv.seed"
_COMPACTIONS = 20
_PART = "mv_seed_"
# The text of a temporary view is read once, and not at each use.
_ONCE = {"spark.sql.legacy.storeAnalyzedPlanForView": "true"}
_IN_UTC = {"spark.sql.session.timeZone": "UTC"}


class SeedMethods(ContainerMethods):
    """Mixed into the adapter before dbt-spark's class."""

    convert_type: Any
    quote_seed_column: Any

    @available
    def seed_types(self, table: agate.Table, overrides: dict[str, str]) -> dict[str, str]:
        """Type of each column of a seed, inferred once per column unless given."""
        return {
            name: overrides.get(name) or self.convert_type(table, index)
            for index, name in enumerate(table.column_names)
        }

    @available
    def seed_queries(
        self, table: agate.Table, types: dict[str, str], quoting: bool | None, size: int
    ) -> list[str]:
        """Queries that return the rows of a seed, so many at a time, or none: each cell is a
        string, cast once per column."""
        names = [f"c{index}" for index in range(len(table.column_names))]
        casts = ", ".join(
            f"cast({name} as {types[column]}) as {self._seed_column(column, quoting)}"
            for name, column in zip(names, table.column_names, strict=True)
        )
        head, tail = f"select {casts} from values\n", f"\nas t({', '.join(names)})"
        rows = ["(" + ", ".join(map(seed_cell, row)) + ")" for row in table.rows]
        if not rows:
            return [f"{head}({', '.join(['null'] * len(names))}){tail} where false"]
        batches = (rows[start : start + size] for start in range(0, len(rows), size))
        return [head + ",\n".join(batch) + tail for batch in batches]

    def _seed_column(self, column: Any, quoting: bool | None) -> str:
        found: str = self.quote_seed_column(str(column).replace("`", "``"), quoting)
        return found

    @available
    def seed_label(self, layout: str, queries: Sequence[str]) -> str:
        """A text that is another one if the layout of a seed's table, its rows, or settings under
        which these are cast, are others. Its first half is about all but the rows."""
        settings = spelt_as(self._container().context().settings(), _IN_UTC)
        return f"{_digest(layout, json.dumps(settings, sort_keys=True))}.{_digest(*queries)}"

    @available
    def seed_change(self, relation: Any, label: str) -> str | None:
        """What the table of a seed, which exists, needs to be as the label says: `rows`, `all`, or
        nothing."""
        services, name = self._container().services, self._name(relation)
        client = client_for(services.executor, name.catalog)
        if client is None or self._branch_of_session():
            return "all"
        with dbt_errors():
            services.resolver.forget()
            chain = iceberg.main_chain(services.executor, name, _COMPACTIONS)
            found = iceberg.label_of(chain, _LABEL)
            if found is None:
                return "all"
            snapshot, written = found
            # Columns may have been altered since; comments do not count.
            then = client.columns_at(name.parts, snapshot.snapshot_id)
            if not then or then != client.columns_at(name.parts, None):
                return "all"
        if written == label:
            return None
        return "rows" if written.split(".")[0] == label.split(".")[0] else "all"

    def _branch_of_session(self) -> str:
        """The branch that the session reads and writes instead of main, if it does."""
        (branch,) = self._container().context().values_of([BRANCH_SETTING])
        return branch

    @available
    def write_seed(self, relation: Any, write: str, queries: Sequence[str], label: str) -> None:
        """Run a statement that writes the rows of all queries to a relation, and whose commit gets
        the label; another process that does the same may be faster.

        In a session of its own, as that of dbt is shared by the threads of a command, which commit
        at the same time; there the rows need no table that other processes could see.
        """
        container = self._container()
        context = container.context()
        with dbt_errors():
            passage = container.before(f"{write} select 1")
        assert isinstance(passage, Passage)
        settings = {**context.settings(), LABEL_CONF + _LABEL: label, **_ONCE}
        if branch := self._branch_of_session():
            settings[BRANCH_SETTING] = branch
        try:
            with container.services.executor.isolated(settings) as session:
                session.query(use(context.namespace()))
                for number, query in enumerate(queries if len(queries) > 1 else ()):
                    session.query(f"create temporary view {_PART}{number} as {query}")
                parts = (f"select * from {_PART}{number}" for number in range(len(queries)))
                rows = " union all ".join(parts) if len(queries) > 1 else queries[0]
                session.query(f"{write} {rows}")
        except StatementFailed as error:
            if self.seed_change(relation, label) is not None:
                raise DbtDatabaseError(error.problem) from None
        finally:
            container.after(passage)


def _digest(*texts: str) -> str:
    found = hashlib.sha256()
    for text in texts:
        found.update(f"{len(text)}:{text}".encode(errors="surrogatepass"))
    return found.hexdigest()[:32]
