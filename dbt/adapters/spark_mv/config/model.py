"""From a dbt model to the CREATE MATERIALIZED VIEW statement that it stands for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.spark_mv.config.options import OPTION_NAMES, check_spelling, options_from
from dbt.adapters.spark_mv.core.errors import InvalidOption
from dbt.adapters.spark_mv.sql.dialect import CreateView, parse_view_statement
from dbt.adapters.spark_mv.sql.names import literal, quote


def create_statement(
    name: str, sql: str, model: Mapping[str, Any], query_columns: Sequence[str] = ()
) -> str:
    """CREATE OR REPLACE MATERIALIZED VIEW for a model; `name` is the rendered relation.

    Raises `InvalidOption` for a config that is wrong in name, type or range.
    """
    config = model["config"]
    check_spelling(config, name)
    given = _options(config)
    options_from(given, name)
    options = ", ".join(f"{key} = {_value(value)}" for key, value in given.items())
    clauses = [
        f"CREATE OR REPLACE MATERIALIZED VIEW {name}",
        _columns(model, query_columns),
        _list("PARTITIONED BY", _names(config, "partition_by", name)),
        _list("CLUSTER BY", [_quoted(key) for key in _names(config, "cluster_by", name)]),
        _comment(model),
        f"OPTIONS ({options})" if options else "",
        f"AS\n{sql.strip()}",
    ]
    return "\n".join(clause for clause in clauses if clause)


def parse_statement(statement: str) -> CreateView:
    """The statement that `create_statement` wrote, read back."""
    parsed = parse_view_statement(statement)
    assert isinstance(parsed, CreateView)
    return parsed


def _options(config: Mapping[str, Any]) -> dict[str, Any]:
    given = {
        name: config[name]
        for name in OPTION_NAMES
        if config.get(name) is not None and config[name] not in ([], {}, "")
    }
    tags = given.get("tags")
    if isinstance(tags, (list, tuple)):
        given["tags"] = sorted(set(tags))
    return given


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, str):
        return literal(value)
    if hasattr(value, "isoformat"):
        return literal(value.isoformat())
    return literal(json.dumps(value, default=str))


def _names(config: Mapping[str, Any], option: str, view: str) -> list[str]:
    value = config.get(option)
    if value is None:
        return []
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(n, str) and n for n in names):
        raise InvalidOption(
            f"{view}: {option} cannot be {value!r}.", "Expected a column or a list of columns."
        )
    return list(names)


def _quoted(name: str) -> str:
    return name if name.startswith("`") else quote(name)


def _list(keyword: str, items: Sequence[str]) -> str:
    return f"{keyword} ({', '.join(items)})" if items else ""


def _persists(model: Mapping[str, Any], what: str) -> bool:
    return bool((model["config"].get("persist_docs") or {}).get(what))


def _comment(model: Mapping[str, Any]) -> str:
    description = model.get("description")
    if not description or not _persists(model, "relation"):
        return ""
    return f"COMMENT {literal(description)}"


def _columns(model: Mapping[str, Any], query_columns: Sequence[str]) -> str:
    if not query_columns or not _persists(model, "columns"):
        return ""
    described = {
        name.lower(): column.get("description") for name, column in model["columns"].items()
    }
    return (
        "(" + ", ".join(_column(name, described.get(name.lower())) for name in query_columns) + ")"
    )


def _column(name: str, description: str | None) -> str:
    return quote(name) + (f" COMMENT {literal(description)}" if description else "")
