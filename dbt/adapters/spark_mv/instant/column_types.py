"""Iceberg's types by the names that Spark gives them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dbt.adapters.spark_mv.core.errors import NeedsSpark

_SAME = ("boolean", "float", "double", "date", "string", "binary", "variant")
_NAMES = {
    **{name: name for name in _SAME},
    "int": "int",
    "long": "bigint",
    "timestamp": "timestamp_ntz",
    "timestamptz": "timestamp",
    "uuid": "string",
    "unknown": "void",
}
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")
_FIXED = re.compile(r"fixed\[\d+\]")


def spark_type(written: str | Mapping[str, Any]) -> str:
    """Spark's name of a type as a schema of Iceberg's writes it; raises `NeedsSpark`.

    >>> spark_type({"type": "list", "element": "decimal(9, 2)"})
    'array<decimal(9,2)>'
    """
    if isinstance(written, str):
        return _primitive(written)
    kind = written["type"]
    if kind == "struct":
        fields = (f"{field['name']}:{spark_type(field['type'])}" for field in written["fields"])
        return f"struct<{','.join(fields)}>"
    if kind == "list":
        return f"array<{spark_type(written['element'])}>"
    if kind == "map":
        return f"map<{spark_type(written['key'])},{spark_type(written['value'])}>"
    raise NeedsSpark(f"a column has the type {kind}")


def _primitive(name: str) -> str:
    if name in _NAMES:
        return _NAMES[name]
    decimal = _DECIMAL.fullmatch(name)
    if decimal is not None:
        return f"decimal({decimal[1]},{decimal[2]})"
    if _FIXED.fullmatch(name):
        return "binary"
    raise NeedsSpark(f"a column has the type {name}")
