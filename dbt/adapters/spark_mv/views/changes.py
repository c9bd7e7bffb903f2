"""How a wanted definition differs from the one that is stored, without asking Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from dbt.adapters.spark_mv.config.options import options_from
from dbt.adapters.spark_mv.sql.dialect import CreateView
from dbt.adapters.spark_mv.sql.names import Namespace
from dbt.adapters.spark_mv.views.definition import Layout, MaterializedView


def changes_of(
    view: MaterializedView,
    wanted: CreateView,
    home: Namespace,
    settings: Mapping[str, str],
) -> dict[str, Any]:
    """`definition`: the query or its settings differ; `options`: names of what else differs;
    `rebuild`: one of them needs another storage table."""
    stored = view.definition
    same = replace(stored, query=wanted.query, home=home, settings=dict(settings)).hash
    options = options_from(wanted.options, str(view.name))
    changed = [
        option.name
        for option in fields(options)
        if getattr(options, option.name) != getattr(view.options, option.name)
    ]
    layout = Layout(wanted.partition_by, wanted.cluster_by)
    changed += [
        field.name
        for field in fields(layout)
        if getattr(layout, field.name) != getattr(view.layout, field.name)
    ]
    if (wanted.comment or None) != (view.comment or None):
        changed.append("description")
    comments = tuple((column.name, column.comment) for column in stored.columns)
    if (wanted.columns or tuple((name, None) for name, _ in comments)) != comments:
        changed.append("column descriptions")
    return {
        "definition": view.reduced or same != stored.hash,
        "options": changed,
        "rebuild": any(name in ("partition_by", "cluster_by", "tblproperties") for name in changed),
    }
