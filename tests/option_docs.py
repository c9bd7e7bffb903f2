"""The tables of options in docs/configuration.md and the JSON schema for editors, from `Options`.

`python -m tests.option_docs` writes them; a test compares them with what is committed.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from dbt.adapters.spark_mv.config.options import OPTION_TYPES, Options

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "configuration.md"
SCHEMA = DOCS / "model_config.schema.json"
SCHEDULED = (
    "refresh_interval_minutes",
    "refresh_start",
    "schedule",
    "warn_after",
    "error_after",
    "suspend_after_failures",
)
# Keys of dbt's own, and clauses of the statement: what they do is written by hand.
OTHERS = {
    "materialized": {"enum": ["bq_materialized_view", "materialized_view"]},
    "partition_by": OPTION_TYPES["unique_key"].schema,
    "cluster_by": OPTION_TYPES["unique_key"].schema,
    "on_configuration_change": {"enum": ["apply", "continue", "fail"]},
}


def rows(names: list[str]) -> str:
    """A table of options: name, type, default, effect."""
    described = {option.name: option.metadata for option in fields(Options)}
    lines = ["| key | type and range | default | effect |", "|---|---|---|---|"]
    for name in names:
        of = described[name]
        lines.append(f"| `{name}` | {of['type'].shown} | {of['default']} | {of['effect']} |")
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with its tables made again."""
    for mark, names in (
        ("options", [name for name in OPTION_TYPES if name not in SCHEDULED]),
        ("scheduling", list(SCHEDULED)),
    ):
        region = re.compile(rf"(<!-- {mark}: .*? -->\n).*?(\n<!-- /{mark} -->)", re.S)
        assert region.search(text), f"{PAGE.name} has no region {mark}"
        table = rows(names)
        text = region.sub(lambda found, table=table: found[1] + table + found[2], text)
    return text


def schema() -> dict[str, Any]:
    """A JSON schema of dbt's property files, as far as their models are materialized views."""
    described = {
        option.name: {
            **option.metadata["type"].schema,
            "description": option.metadata["effect"],
        }
        for option in fields(Options)
    }
    config = {"type": "object", "properties": {**OTHERS, **described}}
    model = {"type": "object", "properties": {"config": {"$ref": "#/$defs/config"}}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Models of dbt-spark-mv",
        "type": "object",
        "properties": {"models": {"type": "array", "items": model}},
        "$defs": {"config": config},
    }


def schema_text() -> str:
    """The schema as it is committed."""
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
    SCHEMA.write_text(schema_text())
