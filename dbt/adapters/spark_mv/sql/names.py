"""Names of relations: the only place where they are parsed, resolved, quoted and compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.core.errors import InvalidName
from dbt.adapters.spark_mv.sql.literals import VARIABLE
from dbt.adapters.spark_mv.sql.sqlglot_internals import Spark, SqlglotError, Token, TokenType

SESSION_CATALOG = "spark_catalog"
MAX_NAME_LENGTH = 100
STORAGE_NAME = re.compile(r"^(?P<view>.+)__mv_[0-9a-f]{8}$")
_QUOTED = re.compile(r"`((?:[^`]|``)*)`")
_PART = re.compile(rf"{_QUOTED.pattern}|[^.`]+")
_FORBIDDEN = re.compile(r"[`/\\\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, order=True)
class TableName:
    """A fully resolved name of a table or view."""

    catalog: str
    namespace: tuple[str, ...]
    name: str

    @property
    def parts(self) -> tuple[str, ...]:
        """Catalog, namespace and name."""
        return (self.catalog, *self.namespace, self.name)

    @property
    def schema(self) -> str:
        """The namespace with dots."""
        return ".".join(self.namespace)

    @property
    def schemas(self) -> tuple[str, str]:
        """What a project may write for the schema: without the catalog, and with it."""
        return self.schema, f"{self.catalog}.{self.schema}"

    @property
    def sql(self) -> str:
        """The name as SQL, each part quoted."""
        return quote_parts(self.parts)

    @property
    def shown(self) -> str:
        """The name for people: a storage table goes by the name of its materialized view."""
        stored = STORAGE_NAME.match(self.name)
        return str(self.sibling(stored["view"]) if stored else self)

    @property
    def lowered(self) -> TableName:
        """The name as a catalog has it that folds letter case."""
        namespace = tuple(part.lower() for part in self.namespace)
        return TableName(self.catalog, namespace, self.name.lower())

    def sibling(self, name: str) -> TableName:
        """The relation `name` beside this one."""
        return TableName(self.catalog, self.namespace, name)

    @property
    def full(self) -> str:
        """The name with its catalog, for people."""
        return f"{_plain(self.catalog)}.{self}"

    def __str__(self) -> str:
        return ".".join(_plain(part) for part in (*self.namespace, self.name))


def _plain(part: str) -> str:
    # Without quotes `a.b` in a schema and `b` in its schema `a` would be one name.
    return f"`{part}`" if "." in part else part


@dataclass(frozen=True)
class Namespace:
    """Where unqualified names are looked up: a session's current catalog and namespace."""

    catalog: str
    namespace: tuple[str, ...]


def in_schema(schema: str, name: str) -> tuple[str, ...]:
    """The parts of a name in a schema as a project writes that, which may be with its catalog.

    >>> in_schema("lake.sales", "orders")
    ('lake', 'sales', 'orders')
    """
    return (*schema.split("."), name)


def is_session_catalog(name: str) -> bool:
    """Whether a catalog is the one that Spark has of its own."""
    return name == SESSION_CATALOG


def resolve(
    parts: tuple[str, ...],
    current: Namespace,
    is_catalog: Callable[[str], bool],
    folds_case: Callable[[str], bool] = is_session_catalog,
) -> TableName:
    """The relation that `parts` names in `current`, by Spark's rules.

    The first part is a catalog if one of that name is registered. A catalog that folds letter case
    has names in lower case only; others keep theirs.
    """
    if len(parts) == 1:
        name = TableName(current.catalog, current.namespace, parts[0])
    elif is_catalog(parts[0]):
        name = TableName(parts[0], parts[1:-1], parts[-1])
    else:
        name = TableName(current.catalog, parts[:-1], parts[-1])
    return name.lowered if name != name.lowered and folds_case(name.catalog) else name


def use(home: Namespace) -> str:
    """The statement after which unqualified names are looked up there."""
    return f"USE {quote_parts((home.catalog, *home.namespace))}"


def quote_parts(parts: tuple[str, ...]) -> str:
    """Render a multi-part name, each part quoted."""
    return ".".join(quote(part) for part in parts)


def quote(identifier: str) -> str:
    """Render one identifier, quoted."""
    return exp.to_identifier(identifier, quoted=True).sql(dialect="spark")


def unquoted(name: str) -> str:
    """A name without the backticks in which Spark lists some of its parts.

    >>> unquoted("sales.`größe`")
    'sales.größe'
    """
    return _QUOTED.sub(lambda found: found[1].replace("``", "`"), name)


def listed_parts(name: str) -> tuple[str, ...]:
    """The parts of a name in the form in which Spark lists it.

    >>> listed_parts("local.`a.b`.2026_sales")
    ('local', 'a.b', '2026_sales')
    """
    return tuple(unquoted(found[0]) for found in _PART.finditer(name))


def literal(text: str) -> str:
    """Render a text as a Spark string literal."""
    return exp.Literal.string(text).sql(dialect="spark")


def parse_name(text: str) -> tuple[str, ...]:
    """Parts of a name written by a person, such as ``db.sales`` or ``db.`sales 1` ``.

    Raises `InvalidName` if the text is anything else.
    """
    try:
        found = list(Spark().tokenize(text)) if isinstance(text, str) else []
    except SqlglotError:
        found = []
    words, dots = found[::2], found[1::2]
    if (
        not words
        or len(dots) != len(words) - 1
        or any(dot.token_type != TokenType.DOT for dot in dots)
        or any(word.token_type == TokenType.STRING for word in words)
        or any(not re.match(r"^\w+$", word.text) for word in words if not _is_quoted(word))
    ):
        raise InvalidName(
            f"{text!r} is not the name of a materialized view.",
            "Write it as name or schema.name.",
        )
    return tuple(word.text for word in words)


def _is_quoted(token: Token) -> bool:
    return token.token_type == TokenType.IDENTIFIER


def check_view_name(name: TableName) -> None:
    """Raise `InvalidName` for names that no materialized view may have."""
    for part in (*name.namespace, name.name):
        problem = _problem_of(part)
        if problem:
            raise InvalidName(
                f"{str(name)!r} cannot be the name of a materialized view: {problem}.",
                "Use letters, digits and underscores, at most 100 characters.",
            )
    if STORAGE_NAME.match(name.name):
        raise InvalidName(
            f"{name} cannot be the name of a materialized view: "
            "names ending in __mv_ and 8 hex digits belong to storage tables.",
            "Choose another name.",
        )


def _problem_of(part: str) -> str | None:
    if not part.strip():
        return "it is empty"
    if len(part) > MAX_NAME_LENGTH:
        return f"it has {len(part)} characters, more than {MAX_NAME_LENGTH}"
    if part.startswith("."):
        return "it starts with a dot"
    if _FORBIDDEN.search(part):
        return "it has a path separator, backtick, control or direction character"
    if VARIABLE in part:
        return "it has '${', in whose place Spark would put the value of a variable"
    if part != part.strip():
        return "it starts or ends with a space"
    if unicodedata.normalize("NFC", part) != part:
        return "it is not in Unicode's composed form (NFC)"
    return None


def table_of_branch(name: TableName) -> TableName:
    """The table that a write to a name changes, if that is a branch of a storage table; else it."""
    is_branch = name.name.lower().startswith("branch_") and len(name.namespace) > 1
    if is_branch and STORAGE_NAME.match(name.namespace[-1]):
        return TableName(name.catalog, name.namespace[:-1], name.namespace[-1])
    return name
