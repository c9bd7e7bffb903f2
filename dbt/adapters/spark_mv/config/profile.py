"""What a profile may say, for dbt and for programs that read it without dbt; and what is wrong
with it, said by the name of the key before anything is started."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dbt.adapters.spark_mv.core.errors import InvalidProfile

# The name of the embedded folder's catalog.
CATALOG = "local"
# The setting of the namespace in which its sessions begin.
HOME_SETTING, HOME = f"spark.sql.catalog.{CATALOG}.default-namespace", "default"
PATH, METADATA_SCHEMA, REFRESH_TIMEOUT = "warehouse", "mv_metadata", 3600
# What to do about views that would answer a query, and are stale.
REWRITE_SKIPS, REWRITE_REFRESHES, REWRITE_MERGES = "skip", "refresh", "merge"
# A statement that reads fewer rows takes no longer than to find another text for it.
REWRITE_MIN_ROWS = 1_000_000
OUR_KEYS = (
    "path",
    "spark_conf",
    "metadata_schema",
    "refresh_timeout",
    "class_data_archive",
    "allow_unsafe_sql",
    "query_rewrite",
    "query_rewrite_min_rows",
    "query_rewrite_stale",
)
_NEAR = 0.8
_SCHEMA = re.compile(r"\w+")
_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "empty",
    "number": "a number",
    "object": "a mapping",
    "string": "text",
}

_KINDS = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    dict: "object",
    list: "array",
    type(None): "null",
}


def warehouse_path(path: str) -> str:
    """The embedded folder as an absolute path."""
    return os.path.abspath(os.path.expanduser(path))


def as_conf(values: Mapping[str, Any]) -> dict[str, str]:
    """Spark's spelling of YAML values."""
    return {
        str(key): str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in values.items()
    }


def check_profile(data: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raise `InvalidProfile` for a misspelt key of ours, or a value out of its range.

    `known` are all keys that there are; keys that look like none of ours are left to dbt.
    """
    for key in data:
        if key not in known:
            _check_spelling(str(key))
    for key, check in _CHECKS.items():
        if key in data:
            check(data[key])


def refusal(error: Any) -> str:
    """What a JSON schema refuses, by the name of the key; its value may be a secret."""
    key = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "enum":
        allowed = ", ".join(map(str, error.validator_value))
        return f"{key} cannot be {error.instance!r}.\nExpected one of {allowed}."
    if error.validator == "anyOf":
        expected = _types(option.get("type") for option in error.validator_value)
    else:
        expected = _types([error.validator_value])
    return f"{key} must be {expected}, and is {_type_of(error.instance)}."


def _types(names: Iterable[Any]) -> str:
    return " or ".join(_TYPES.get(str(name), str(name)) for name in names)


def _type_of(value: Any) -> str:
    return _TYPES[_KINDS[type(value)]] if type(value) in _KINDS else f"a {type(value).__name__}"


def _check_spelling(key: str) -> None:
    near = difflib.get_close_matches(key.lower().replace("-", "_"), OUR_KEYS, n=1, cutoff=_NEAR)
    if near:
        raise InvalidProfile(f"There is no key {key!r}.", f"Did you mean {near[0]!r}?")


def _check_timeout(value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidProfile(
            f"refresh_timeout cannot be {value!r}.",
            "Expected a whole number of seconds, at least 1.",
        )


def _check_rows(value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidProfile(
            f"query_rewrite_min_rows cannot be {value!r}.", "Expected a whole number from 0."
        )


def _check_stale(value: Any) -> None:
    if value not in (REWRITE_SKIPS, REWRITE_REFRESHES, REWRITE_MERGES):
        raise InvalidProfile(
            f"query_rewrite_stale cannot be {value!r}.", "Expected skip, refresh or merge."
        )


def _check_schema(value: Any) -> None:
    if not isinstance(value, str) or not _SCHEMA.fullmatch(value):
        raise InvalidProfile(
            f"metadata_schema cannot be {value!r}.",
            "Expected the name of one schema: letters, digits and underscores.",
        )


def _check_path(value: Any) -> None:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise InvalidProfile(f"path cannot be {value!r}.", "Expected the name of a folder.")


def _check_boolean(key: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise InvalidProfile(f"{key} cannot be {value!r}.", "Expected true or false.")


def _check_conf(value: Any) -> None:
    if not isinstance(value, Mapping):
        raise InvalidProfile(
            f"spark_conf must be a mapping, and is {_type_of(value)}.",
            "Write one line for each setting: `spark.sql.shuffle.partitions: 8`.",
        )
    for key, setting in value.items():
        if not isinstance(setting, (str, int, float)):
            raise InvalidProfile(
                f"spark_conf: the value of {key!r} is {_type_of(setting)}.",
                "Expected a text, a number, true or false.",
            )


_CHECKS: dict[str, Callable[[Any], None]] = {
    "refresh_timeout": _check_timeout,
    "metadata_schema": _check_schema,
    "path": _check_path,
    "spark_conf": _check_conf,
    "class_data_archive": lambda value: _check_boolean("class_data_archive", value),
    "allow_unsafe_sql": lambda value: _check_boolean("allow_unsafe_sql", value),
    "query_rewrite": lambda value: _check_boolean("query_rewrite", value),
    "query_rewrite_min_rows": _check_rows,
    "query_rewrite_stale": _check_stale,
}
