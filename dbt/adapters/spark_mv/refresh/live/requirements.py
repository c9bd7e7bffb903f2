"""Which views can have a live view that is right."""

from __future__ import annotations

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.config.option_types import NEVER
from dbt.adapters.spark_mv.expiry.next_change import reads_clock, shows_instant
from dbt.adapters.spark_mv.planning.pinning import is_readable
from dbt.adapters.spark_mv.refresh.live.sessions import other_settings
from dbt.adapters.spark_mv.refresh.live.sources import Sources, sources_of
from dbt.adapters.spark_mv.refresh.live.text import live_query
from dbt.adapters.spark_mv.sql.literals import VARIABLE
from dbt.adapters.spark_mv.sql.words import words_of
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.volatile import storage_columns, volatile_functions

_MOST_TABLES = 8


def why_not(resolver: Resolver, view: MaterializedView) -> tuple[str, str] | None:
    """What stands against a live view, and the way out."""
    without = "Leave out `live`; reads through dbt are right without it."
    sources = sources_of(resolver, view)
    if not all(is_readable(found.definition) for found in sources.views):
        return "only Spark can read its query", without
    texts = [text for found in sources.views for text in found.definition.texts]
    volatile = [call for text in texts for call in volatile_functions(text)]
    if volatile:
        return f"its query calls {volatile[0]}, which has another value at each read", without
    if any(word.upper == "TABLESAMPLE" for text in texts for word in words_of(text)):
        return "it reads a sample", without
    if any(VARIABLE in text for text in texts):
        return "its query has '${', in whose place Spark would put the value of a variable", (
            without
        )
    if any("collate" in column.type.lower() for column in view.definition.columns):
        return "its query returns texts with a collation, which stored ones lack", without
    if any(storage_columns(text) for text in texts):
        return "its query asks where rows are stored", without
    if any(v.options.expiry == NEVER and reads_clock(v.definition) for v in sources.views):
        return "expiry 'never' says that its rows do not follow the clock", without
    if shows_instant(live_query(resolver, view, "")):
        return "its query shows when its rows were computed", without
    if settings := other_settings(sources.views):
        return f"its rows depend on the setting {settings[0]} of a session", without
    if len(sources.tables) > _MOST_TABLES:
        return f"it reads {len(sources.tables)} tables, and each read would ask each of them", (
            f"Read at most {_MOST_TABLES}, or leave out `live`."
        )
    return _without_log(resolver, sources, without)


def _without_log(resolver: Resolver, sources: Sources, without: str) -> tuple[str, str] | None:
    for table in sources.tables:
        facts = resolver.lookup(table)
        if getattr(facts, "provider", "") != iceberg.FORMAT:
            return f"the base table {table} has no versions that a view could ask for", without
    return None
