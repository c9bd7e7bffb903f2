"""Types of Iceberg by the names that Spark gives them."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.core.errors import NeedsSpark
from dbt.adapters.spark_mv.instant.column_types import spark_type


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("long", "bigint"),
        ("timestamptz", "timestamp"),
        ("timestamp", "timestamp_ntz"),
        ("decimal(10, 2)", "decimal(10,2)"),
        ("fixed[16]", "binary"),
        ({"type": "list", "element": "int"}, "array<int>"),
        ({"type": "map", "key": "string", "value": "long"}, "map<string,bigint>"),
        (
            {
                "type": "struct",
                "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "date"}],
            },
            "struct<a:int,b:date>",
        ),
    ],
)
def test_names(written: object, expected: str) -> None:
    assert spark_type(written) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("written", ["time", "timestamp_ns", "geometry", {"type": "union"}])
def test_types_that_spark_has_no_name_for(written: object) -> None:
    with pytest.raises(NeedsSpark, match="a column has the type"):
        spark_type(written)  # type: ignore[arg-type]
