"""A materialized view as a value, and how its view in the catalog describes it.

The view's properties make it self-describing: whoever holds the catalog can rebuild everything
we know. Texts are stored in base64, because Spark substitutes `${env:..}` in property literals.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from dbt.adapters.spark_mv.config.options import ALLOW_UNSAFE, Options
from dbt.adapters.spark_mv.config.schedule import Schedule, schedule_of
from dbt.adapters.spark_mv.core.errors import CorruptMetadata
from dbt.adapters.spark_mv.sql.names import Namespace, TableName
from dbt.adapters.spark_mv.sql.words import Word, words_of

FORMAT_VERSION = "1"
# A hidden column: whether the row comes after the first so many, which the view shows.
SPARE = "mv_spare_"
# What the storage table is called in statements that compute its rows from those it has.
STORED = "mv_stored"
_KNOWN_QUERIES = 4096
_NAME = re.compile(r"[^\W\d]\w*")
_UNREADABLE = (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Column:
    """An output column: name, Spark type and comment."""

    name: str
    type: str
    comment: str | None = None


@dataclass(frozen=True)
class Definition:
    """What determines the rows: the query and everything that gives it its meaning.

    `tables` are the base tables, `views` maps each logical view that the query reads to its
    text; `settings` are the session settings under which it is always refreshed.
    """

    query: str
    home: Namespace
    columns: tuple[Column, ...]
    tables: tuple[str, ...] = ()
    views: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def texts(self) -> tuple[str, ...]:
        """The query, and those of the logical views that it reads."""
        return (self.query, *self.views.values())

    @property
    def hash(self) -> str:
        """SHA-256 in hex; reformatting the query or commenting it does not change it."""
        content = {
            "query": _normalised(self.query),
            "home": [self.home.catalog, *self.home.namespace],
            "columns": [[column.name, column.type] for column in self.columns],
            "tables": sorted(self.tables),
            "views": {name: _normalised(text) for name, text in self.views.items()},
            "settings": dict(self.settings),
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def columns_in(term: str) -> list[str]:
    """The columns that a term of partition_by names.

    >>> columns_in("bucket(3, `A.b`)"), columns_in("day")
    (['A.b'], ['day'])
    """
    words = words_of(term)
    following = [*(word.text for word in words[1:]), ""]
    return [
        word.text
        for word, after in zip(words, following, strict=True)
        if word.quoted or (_NAME.fullmatch(word.text) and after != "(")
    ]


@dataclass(frozen=True)
class Layout:
    """How the rows lie in the storage table."""

    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()

    def partitioned(self, columns: Iterable[str]) -> list[str]:
        """Those of the columns that partition_by names."""
        named = {word.text.lower() for word in words_of(" ".join(self.partition_by))}
        return [column for column in columns if column.lower() in named]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of partition_by, in lower case; none if not all of it is columns."""
        terms = [[word.text.lower() for word in words_of(term)] for term in self.partition_by]
        return tuple(words[0] for words in terms) if all(len(t) == 1 for t in terms) else ()

    def begins_with(self, keys: Sequence[str]) -> bool:
        """Whether these are the first of partition_by."""
        plain = [[word.text.lower() for word in words_of(key)] for key in self.partition_by]
        return plain[: len(keys)] == [[word.text.lower() for word in words_of(key)] for key in keys]


@dataclass(frozen=True)
class MaterializedView:
    """A materialized view: identity, definition, layout, options, storage table.

    `reduced` says that the query is not the whole definition (--empty, --sample), `deferred` that
    it reads relations of another state than its model would (--defer).
    `hidden` are columns of the storage table that fast refreshes need and the view does not show;
    `plan_facts` is what Spark said of the query, so that it is not asked again. `methods` says
    for each method of refresh but the complete one "yes", or why it cannot be used.
    """

    id: str
    name: TableName
    definition: Definition
    definition_hash: str
    storage: TableName
    options: Options = Options()
    layout: Layout = Layout()
    comment: str | None = None
    reduced: bool = False
    deferred: bool = False
    hidden: tuple[str, ...] = ()
    plan_facts: Mapping[str, Any] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)

    @property
    def schedule(self) -> Schedule:
        """When it is refreshed by itself."""
        return schedule_of(self.options, self.time_zone)

    @property
    def time_zone(self) -> str:
        """The time zone of the session that created it."""
        return self.definition.settings.get("spark.sql.session.timeZone", "UTC")

    @property
    def spare(self) -> str | None:
        """The hidden column that says which stored rows the view leaves out; None if it shows
        all."""
        return next((name for name in self.hidden if name.startswith(SPARE)), None)

    def shown_rows(self, stored: int | None) -> int | None:
        """How many of so many stored rows the view shows; None if only its rows tell."""
        if stored is None or self.spare is None:
            return stored
        most = self.spare.removeprefix(SPARE)
        return min(stored, int(most)) if most.isdigit() else None

    def properties(self) -> dict[str, str]:
        """Properties of the view in the catalog that hold all of this."""
        details = {
            "home": [self.definition.home.catalog, *self.definition.home.namespace],
            "columns": [asdict(column) for column in self.definition.columns],
            "tables": list(self.definition.tables),
            "views": dict(self.definition.views),
            "settings": dict(self.definition.settings),
            "layout": asdict(self.layout),
            "comment": self.comment,
            "reduced": self.reduced,
            "deferred": self.deferred,
            "hidden": list(self.hidden),
            "answers": dict(self.plan_facts),
            "methods": dict(self.methods),
        }
        return {
            "mv.id": self.id,
            "mv.storage_table": self.storage.name,
            "mv.definition": encode(self.definition.query),
            "mv.definition_hash": self.definition_hash,
            "mv.details": encode(json.dumps(details, sort_keys=True)),
            "mv.format_version": FORMAT_VERSION,
            **self.option_properties(),
        }

    def option_properties(self) -> dict[str, str]:
        """The part of `properties` that ALTER may write whatever has become of the rest."""
        # Versions that do not know an option can read the views that do not use it.
        said = {key: value for key, value in asdict(self.options).items() if value is not None}
        return {"mv.options": encode(json.dumps(said, sort_keys=True))}


def new_storage(name: TableName) -> TableName:
    """A name for a storage table of a view, which no other has had."""
    return name.sibling(f"{name.name}__mv_{uuid.uuid4().hex[:8]}")


def has_our_format(properties: Mapping[str, str]) -> bool:
    """Whether this version of the adapter reads, and may change, the view of these properties."""
    return properties.get("mv.format_version") == FORMAT_VERSION


def from_properties(name: TableName, properties: Mapping[str, str]) -> MaterializedView:
    """The materialized view that a view's properties describe.

    Raises `CorruptMetadata` naming the view if they cannot be read.
    """
    if not has_our_format(properties):
        raise CorruptMetadata(
            f"{name} has format version {properties.get('mv.format_version')!r}, "
            f"this version of dbt-spark-mv reads {FORMAT_VERSION!r}.",
            "Use the version of dbt-spark-mv that wrote it, or run its model with --full-refresh.",
        )
    try:
        details = json.loads(decode(properties["mv.details"]))
        return MaterializedView(
            id=properties["mv.id"],
            name=name,
            definition=Definition(
                query=decode(properties["mv.definition"]),
                home=Namespace(details["home"][0], tuple(details["home"][1:])),
                columns=tuple(Column(**column) for column in details["columns"]),
                tables=tuple(details["tables"]),
                views=details["views"],
                settings=details["settings"],
            ),
            definition_hash=properties["mv.definition_hash"],
            storage=name.sibling(properties["mv.storage_table"]),
            options=_options(json.loads(decode(properties["mv.options"]))),
            layout=Layout(**{key: tuple(value) for key, value in details["layout"].items()}),
            comment=details["comment"],
            reduced=details["reduced"],
            deferred=details.get("deferred", False),
            hidden=tuple(details.get("hidden", ())),
            plan_facts=dict(details.get("answers", {})),
            methods=dict(details.get("methods", {})),
        )
    except _UNREADABLE as error:
        raise CorruptMetadata(
            f"The properties of the view {name} do not describe a materialized view: {error!r}.",
            "Run its model with --full-refresh to build it again.",
        ) from error


def encode(text: str) -> str:
    """A text as base64 that no substitution of Spark's touches."""
    return base64.b64encode(text.encode()).decode()


def decode(text: str) -> str:
    """The text behind `encode`."""
    return base64.b64decode(text.encode(), validate=True).decode()


def _options(stored: Mapping[str, Any]) -> Options:
    lists = {key: tuple(stored[key]) for key in ("unique_key", "tags")}
    lists["static_partition_by"] = tuple(stored.get("static_partition_by", ()))
    known = {key: value for key, value in stored.items() if key != ALLOW_UNSAFE}
    return Options(**{**known, **lists})


@lru_cache(_KNOWN_QUERIES)
def _normalised(sql: str) -> tuple[str, ...]:
    """The words of a query as they are written in one of all ways that mean the same: no comments,
    keywords and functions in upper case, and no AS, which no query of Spark's needs to be told
    from another."""
    words = words_of(sql)
    found = [
        _normalised_word(word, following is not None and following.text == "(")
        for word, following in zip_longest(words, words[1:])
    ]
    return tuple(word for word in found if word != "AS") or (sql,)


def _normalised_word(word: Word, is_called: bool) -> str:
    if word.string or word.quoted:
        return ("'" if word.string else "`") + word.text
    return word.text if word.variable and not is_called else word.upper
