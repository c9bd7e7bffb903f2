"""Which catalogs have names in lower case only."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.catalog.resolver import folds_case

ICEBERG = "org.apache.iceberg.spark.SparkCatalog"
HIVE = "org.apache.iceberg.hive.HiveCatalog"
KEY = "spark.sql.catalog.lake"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, False),
        ({KEY: ICEBERG}, True),
        ({KEY: ICEBERG, f"{KEY}.type": "hive"}, True),
        ({KEY: ICEBERG, f"{KEY}.type": "HIVE"}, True),
        ({KEY: ICEBERG, f"{KEY}.catalog-impl": HIVE}, True),
        ({KEY: ICEBERG, f"{KEY}.catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog"}, False),
        ({KEY: ICEBERG, f"{KEY}.type": "glue"}, True),
        ({KEY: ICEBERG, f"{KEY}.type": "rest"}, False),
        ({KEY: ICEBERG, f"{KEY}.type": "jdbc"}, False),
        ({KEY: "org.example.Catalog", f"{KEY}.type": "hive"}, False),
        ({f"{KEY}.type": "hive"}, False),
    ],
)
def test_folds_case(settings: dict[str, str], expected: bool) -> None:
    assert folds_case("lake", settings) is expected


def test_that_of_spark() -> None:
    assert folds_case("spark_catalog", {})
