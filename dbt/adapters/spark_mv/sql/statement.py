"""What kind of statement a text is and what it writes, read off its words.

A statement that cannot be parsed still has a target.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dbt.adapters.spark_mv.sql.names import listed_parts
from dbt.adapters.spark_mv.sql.words import Word, depths, name_at, words_of

Targets = tuple[tuple[str, ...], ...]
_SKIPPED_BEFORE_NAME = frozenset({"IF", "NOT", "EXISTS", "TABLE", "ONLY"})
_QUERIES = frozenset({"SELECT", "FROM", "VALUES", "TABLE", "WITH", "MAP", "REDUCE"})
# Commands that neither read nor write rows, whatever follows.
_HARMLESS = frozenset(
    "SHOW DESCRIBE DESC RESET REFRESH ANALYZE COMMENT UNCACHE CLEAR ADD LIST GRANT REVOKE "
    "MSCK".split()
)
_WITHOUT_READS = frozenset({"ALTER", "CALL", "TRUNCATE", "LOAD"})


class Kind(Enum):
    """How the pipeline treats a statement."""

    QUERY = "query"
    WRITE = "write"
    CREATE_VIEW = "create view"
    CREATE_TEMPORARY_VIEW = "create temporary view"
    CREATE_FUNCTION = "create function"
    CACHE = "cache"
    EXECUTE = "execute immediate"
    SCRIPT = "script"
    DROP = "drop"
    DROP_SCHEMA = "drop schema"
    USE = "use"
    HARMLESS = "neither reads nor writes rows"
    OTHER = "other"


@dataclass(frozen=True)
class Statement:
    """A classified statement; `targets` are the relations that it changes, or the temporary view
    or function that it makes."""

    kind: Kind
    verb: str
    targets: Targets
    words: tuple[Word, ...]

    @property
    def writes(self) -> Targets:
        """The relations whose dependents may be stale after it."""
        made = (Kind.CREATE_TEMPORARY_VIEW, Kind.CREATE_FUNCTION, Kind.CACHE, Kind.DROP_SCHEMA)
        return () if self.kind in made else self.targets

    @property
    def redefines(self) -> bool:
        """Whether a view or a function is another one after it, or none."""
        is_drop = self.kind is Kind.DROP and self.words[1].upper == "VIEW"
        return is_drop or self.kind in (Kind.CREATE_VIEW, Kind.CREATE_FUNCTION)

    @property
    def reads_relations(self) -> bool:
        """Whether the statement reads, or may read, relations that have to be fresh."""
        if self.kind is Kind.WRITE:
            return self.verb not in _WITHOUT_READS
        return self.kind in (
            Kind.QUERY,
            Kind.CREATE_TEMPORARY_VIEW,
            Kind.CACHE,
            Kind.EXECUTE,
            Kind.SCRIPT,
            Kind.OTHER,
        )


def classify(sql: str) -> Statement:
    """Kind, verb and targets of one statement.

    >>> classify("insert overwrite table db.t select 1").targets
    (('db', 't'),)
    """
    words = words_of(sql)
    first = _first_keyword(words)
    if first in _QUERIES:
        verb, targets = _written_by_query(words)
        kind = Kind.WRITE if verb else Kind.QUERY
        return Statement(kind, verb or first, targets, words)
    if any(word.upper == "BEGIN" for word in words[:3]):
        return Statement(Kind.SCRIPT, "BEGIN", written_anywhere(words), words)
    if first in _HARMLESS:
        return Statement(Kind.HARMLESS, first, (), words)
    reader = _READERS.get(first)
    if reader is None:
        return Statement(Kind.OTHER, first, (), words)
    kind, targets = reader(words)
    return Statement(kind, first, targets, words)


def _first_keyword(words: tuple[Word, ...]) -> str:
    return next((word.upper for word in words if word.text != "("), "")


def _name_after(words: tuple[Word, ...], index: int) -> Targets:
    while index < len(words) and words[index].upper in _SKIPPED_BEFORE_NAME:
        index += 1
    parts, _ = name_at(words, index)
    return (parts,) if parts else ()


def _written_by_query(words: tuple[Word, ...]) -> tuple[str, Targets]:
    """The verb and the targets of INSERT, DELETE, UPDATE or MERGE that follows a WITH or a FROM;
    no verb if the statement only reads."""
    targets: list[tuple[str, ...]] = []
    verb = ""
    for index, (word, depth) in enumerate(zip(words, depths(words), strict=True)):
        # Others come right after a WITH only; columns may have such names.
        may_be = word.upper == "INSERT" or (index > 0 and words[index - 1].text == ")" and not verb)
        if depth == 0 and may_be and word.upper in _TARGET_AT:
            found = _TARGET_AT[word.upper](words, index)
            if found is not None:
                verb = word.upper
                targets.extend(found)
    return verb, tuple(targets)


def written_anywhere(words: tuple[Word, ...]) -> Targets:
    """The targets of every statement of a script, or more."""
    found: list[tuple[str, ...]] = []
    for index, word in enumerate(words):
        following = words[index + 1].upper if index + 1 < len(words) else ""
        if word.upper in _TARGET_AT:
            found.extend(_TARGET_AT[word.upper](words, index) or ())
        elif word.upper == "IMMEDIATE" and following == "" and index + 1 < len(words):
            found.extend(written_anywhere(words_of(words[index + 1].text)))
        elif word.upper in ("TRUNCATE", "DROP", "ALTER", "CREATE", "REPLACE") and (
            following in ("TABLE", "VIEW")
        ):
            found.extend(_name_after(words, index + 2))
    return tuple(dict.fromkeys(found))


def _without_evolution(words: tuple[Word, ...], index: int) -> int:
    """The index after WITH SCHEMA EVOLUTION, if that is what comes."""
    ahead = [word.upper for word in words[index : index + 3]]
    return index + 3 if ahead == ["WITH", "SCHEMA", "EVOLUTION"] else index


def _insert_target(words: tuple[Word, ...], index: int) -> Targets | None:
    index = _without_evolution(words, index + 1)
    if index >= len(words) or words[index].upper not in ("INTO", "OVERWRITE"):
        return None
    if any(word.upper == "DIRECTORY" for word in words[index + 1 : index + 3]):
        return ()
    return _name_after(words, index + 1)


def _delete_target(words: tuple[Word, ...], index: int) -> Targets | None:
    is_delete = index + 1 < len(words) and words[index + 1].upper == "FROM"
    return _name_after(words, index + 2) if is_delete else None


def _update_target(words: tuple[Word, ...], index: int) -> Targets | None:
    parts, end = name_at(words, index + 1)
    sets = any(word.upper == "SET" for word in words[end : end + 3])
    return (parts,) if parts and sets and parts[0].upper() != "SET" else None


def _merge_target(words: tuple[Word, ...], index: int) -> Targets | None:
    index = _without_evolution(words, index + 1)
    is_merge = index < len(words) and words[index].upper == "INTO"
    return _name_after(words, index + 1) if is_merge else None


_TARGET_AT = {
    "INSERT": _insert_target,
    "DELETE": _delete_target,
    "UPDATE": _update_target,
    "MERGE": _merge_target,
}


def _read_insert(words: tuple[Word, ...]) -> tuple[Kind, Targets]:
    return Kind.WRITE, _insert_target(words, 0) or ()


def _after(words: tuple[Word, ...], keyword: str) -> Targets:
    for index, word in enumerate(words):
        if word.upper == keyword:
            return _name_after(words, index + 1)
    return ()


def _read_merge(words: tuple[Word, ...]) -> tuple[Kind, Targets]:
    return Kind.WRITE, _merge_target(words, 0) or ()


def _read_update(words: tuple[Word, ...]) -> tuple[Kind, Targets]:
    return Kind.WRITE, _name_after(words, 1)


def _read_delete(words: tuple[Word, ...]) -> tuple[Kind, Targets]:
    return Kind.WRITE, _after(words, "FROM")


def _read_table_verb(words: tuple[Word, ...]) -> tuple[Kind, Targets]:
    return Kind.WRITE, _after(words, "TABLE")


def _read_create(words: tuple[Word, ...]) -> tuple[Kind, Targets]:
    is_temporary = False
    for index, word in enumerate(words[:8]):
        is_temporary = is_temporary or word.upper in ("TEMPORARY", "TEMP")
        if word.upper == "VIEW":
            kind = Kind.CREATE_TEMPORARY_VIEW if is_temporary else Kind.CREATE_VIEW
            return kind, _name_after(words, index + 1)
        if word.upper == "TABLE":
            return Kind.WRITE, _name_after(words, index + 1)
        if word.upper == "FUNCTION":
            return Kind.CREATE_FUNCTION, _name_after(words, index + 1)
        if word.upper in ("SCHEMA", "DATABASE", "NAMESPACE"):
            return Kind.HARMLESS, ()
    return Kind.OTHER, ()


def _read_alter(words: tuple[Word, ...]) -> tuple[Kind, Targets]:
    if len(words) < 3 or words[1].upper not in ("TABLE", "VIEW"):
        return Kind.HARMLESS, ()
    targets = _name_after(words, 2)
    for index, word in enumerate(words[:-2]):
        if word.upper == "RENAME" and words[index + 1].upper == "TO":
            targets += _name_after(words, index + 2)
    return Kind.WRITE, targets


def _read_drop(words: tuple[Word, ...]) -> tuple[Kind, Targets]:
    noun = words[1].upper if len(words) > 1 else ""
    if noun in ("TABLE", "VIEW"):
        return Kind.DROP, _name_after(words, 2)
    if noun in ("SCHEMA", "DATABASE", "NAMESPACE"):
        return Kind.DROP_SCHEMA, _name_after(words, 2)
    return Kind.HARMLESS, ()


def _read_call(words: tuple[Word, ...]) -> tuple[Kind, Targets]:
    text = next((word.text for word in words if word.string), "")
    parts = listed_parts(text)
    return Kind.WRITE, (parts,) if parts else ()


def _read_use(words: tuple[Word, ...]) -> tuple[Kind, Targets]:
    return Kind.USE, ()


def _read_cache(words: tuple[Word, ...]) -> tuple[Kind, Targets]:
    return Kind.CACHE, _after(words, "TABLE")


def _read_execute(words: tuple[Word, ...]) -> tuple[Kind, Targets]:
    return Kind.EXECUTE, written_anywhere(words)


def _read_explain(words: tuple[Word, ...]) -> tuple[Kind, Targets]:
    # Spark runs a command that EXECUTE IMMEDIATE stands for to explain it.
    runs = any(word.upper == "EXECUTE" for word in words[1:3])
    return (Kind.EXECUTE if runs else Kind.HARMLESS), ()


def _read_set(words: tuple[Word, ...]) -> tuple[Kind, Targets]:
    is_variable = len(words) > 1 and words[1].upper in ("VAR", "VARIABLE")
    return (Kind.OTHER if is_variable else Kind.HARMLESS), ()


_READERS = {
    "INSERT": _read_insert,
    "MERGE": _read_merge,
    "UPDATE": _read_update,
    "DELETE": _read_delete,
    "TRUNCATE": _read_table_verb,
    "LOAD": _read_table_verb,
    "REPLACE": _read_table_verb,
    "CREATE": _read_create,
    "ALTER": _read_alter,
    "DROP": _read_drop,
    "CALL": _read_call,
    "USE": _read_use,
    "CACHE": _read_cache,
    "EXECUTE": _read_execute,
    "EXPLAIN": _read_explain,
    "SET": _read_set,
}
