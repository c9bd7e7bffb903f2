"""Names of dbt's models in the arguments of operations: the relations that they stand for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dbt.adapters.spark_mv.sql.names import in_schema, quote_parts


def with_relations(view: Any, nodes: Iterable[Any]) -> Any:
    """The argument `view` of an operation, with the relations of models that have an alias in place
    of their names; `nodes` are those of the manifest.

    A model with versions stands for its latest one. What is the name of a relation stays.
    """
    models = [node for node in nodes if str(node.resource_type) == "model"]
    relations = {
        node.name: quote_parts(in_schema(node.schema, node.alias))
        for node in models
        if node.version is None or node.is_latest_version
    }
    taken = {node.alias for node in models}

    def renamed(item: Any) -> Any:
        if not isinstance(item, str):
            return item
        name = item.strip().removeprefix("+").removesuffix("+")
        return item if name in taken else item.replace(name, relations.get(name, name))

    return [renamed(item) for item in view] if isinstance(view, (list, tuple)) else renamed(view)
