"""How the view of a materialized view is told from views that are none."""

from __future__ import annotations

from functools import lru_cache

from dbt.adapters.spark_mv.catalog.resolver import Facts
from dbt.adapters.spark_mv.core.executor import ViewFacts
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.sql.words import words_of

_KNOWN_TEXTS = 4096


def storage_of(name: TableName, facts: Facts | None) -> TableName | None:
    """Storage table of the materialized view `name`, None if the relation is none."""
    if isinstance(facts, ViewFacts) and is_materialized_view(facts):
        return name.sibling(facts.properties["mv.storage_table"])
    return None


def is_materialized_view(facts: ViewFacts) -> bool:
    """Whether a view is that of a materialized view: it says so, and reads its storage table. One
    that another program has replaced still says so, as Iceberg keeps the properties of a view."""
    storage = facts.properties.get("mv.storage_table")
    return storage is not None and "mv.id" in facts.properties and _shows(facts.text, storage)


@lru_cache(_KNOWN_TEXTS)
def _shows(text: str, storage: str) -> bool:
    """Whether a text selects columns of a storage table, of all rows but spare ones."""
    words = words_of(text)
    plain = ["" if word.quoted else word.upper for word in words]
    if plain[:1] != ["SELECT"] or "FROM" not in plain:
        return False
    start = plain.index("FROM")
    end = plain.index("WHERE") if "WHERE" in plain else len(words)
    is_of_columns = set(plain[1:start]) <= {"", ",", "AS"}
    is_of_table = set(plain[start + 1 : end]) <= {"", "."}
    is_whole = plain[end:] in ([], ["WHERE", "NOT", ""])
    return is_of_columns and is_of_table and is_whole and words[end - 1].text == storage
