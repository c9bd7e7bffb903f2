"""Commands of Spark about tables alone: what to do instead for a materialized view, of which Spark
says that it is missing, or that somebody met a bug."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.spark_mv.core.errors import InvalidStatement
from dbt.adapters.spark_mv.sql.beginning import behind
from dbt.adapters.spark_mv.sql.words import name_at, words_of
from dbt.adapters.spark_mv.views.definition import MaterializedView

_WAYS_OUT = {
    ("ANALYZE", "TABLE"): "Leave it out: each refresh writes counts and bounds of the stored rows.",
    ("COMMENT", "ON", "TABLE"): "Describe it in YAML, with persist_docs in the model's config.",
    ("REFRESH", "TABLE"): "Leave it out, as reads find the newest rows; or use REFRESH "
    "MATERIALIZED VIEW, which computes them.",
    ("SHOW", "COLUMNS", "IN"): "Use DESCRIBE TABLE.",
    ("SHOW", "COLUMNS", "FROM"): "Use DESCRIBE TABLE.",
    ("SHOW", "PARTITIONS"): "Use SELECT * FROM {storage}.partitions.",
}


@dataclass(frozen=True)
class TableCommand:
    """A command about the table of this name, and what to do instead if it is a view."""

    command: str
    parts: tuple[str, ...]
    way_out: str

    def refused(self, view: MaterializedView) -> InvalidStatement:
        """The error for a materialized view."""
        problem = f"{view.name} is a materialized view, for which Spark has no {self.command}."
        return InvalidStatement(problem, self.way_out.format(storage=view.storage))


def table_command(sql: str) -> TableCommand | None:
    """The command that a text is, None if it is another statement.

    >>> table_command("analyze table db.v compute statistics").parts
    ('db', 'v')
    """
    for beginning, way_out in _WAYS_OUT.items():
        if rest := behind(sql, *beginning):
            parts, _ = name_at(words_of(rest), 0)
            command = " ".join(word for word in beginning if word not in ("IN", "FROM"))
            return TableCommand(command, parts, way_out) if parts else None
    return None
