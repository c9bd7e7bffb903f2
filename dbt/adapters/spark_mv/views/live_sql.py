"""Statements about live views, and how one is known."""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.spark_mv.core.errors import UnsupportedSource
from dbt.adapters.spark_mv.core.executor import ViewFacts
from dbt.adapters.spark_mv.sql.names import TableName, literal, quote
from dbt.adapters.spark_mv.views.definition import MaterializedView, encode

# The property by which a live view is known: the id of its materialized view.
LIVE_OF = "mv.live_of"
# What is known of the sessions that may read it, so that it is not asked again.
LIVE_SESSIONS = "mv.live_sessions"
# What its text was made for; another value says that there is a newer text.
LIVE_STATE = "mv.live_state"
_SUFFIX = "__live"


def live_name(name: TableName) -> TableName:
    """The name of the live view of a materialized view."""
    return name.sibling(name.name + _SUFFIX)


def owner_of(live: TableName) -> TableName:
    """The name of the materialized view of a live view."""
    return live.sibling(live.name.removesuffix(_SUFFIX))


def is_live_view(properties: Mapping[str, str]) -> bool:
    """Whether these are the properties of a live view."""
    return LIVE_OF in properties


def refuse_live_view(facts: object, reader: str, written: str) -> None:
    """Raise `UnsupportedSource` if these are the facts of a live view, which a definition reads."""
    if isinstance(facts, ViewFacts) and is_live_view(facts.properties):
        raise UnsupportedSource(
            f"{reader} reads {written}, which is a live view.",
            "Read the materialized view beside it; through dbt its rows are right, too.",
        )


def create_live_view(view: MaterializedView, text: str, state: str, sessions: str) -> str:
    """The live view of a materialized view, with the text of its query and what is said of it."""
    columns = ", ".join(quote(column.name) for column in view.definition.columns)
    comment = f"{view.name.name} as it is at the time of the read"
    said = {LIVE_OF: view.id, LIVE_STATE: state, LIVE_SESSIONS: encode(sessions)}
    properties = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in said.items())
    return (
        f"CREATE OR REPLACE VIEW {live_name(view.name).sql} ({columns}) "
        f"COMMENT {literal(comment)} TBLPROPERTIES ({properties}) AS\n{text}"
    )
