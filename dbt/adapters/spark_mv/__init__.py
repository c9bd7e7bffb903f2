"""Materialized views for Apache Spark, from dbt.

Read the package from the bottom up: `errors`, `reasons`, `executor` know nothing; `sql` turns text
into trees; `views` and `base_tables` say what a materialized view is and what its sources can tell;
`metadata` and `freshness` remember and judge; `refresh` plans, runs and publishes; `pipeline` looks
at every statement; the modules named after dbt's own (`connections`, `impl`, `relation`,
`credentials`) are the glue.
"""

from dbt.adapters.base import AdapterPlugin

from dbt.adapters.spark_mv.connections import SparkMVConnectionManager
from dbt.adapters.spark_mv.credentials import SparkMVCredentials
from dbt.adapters.spark_mv.impl import SparkMVAdapter
from dbt.adapters.spark_mv.relation import SparkMVRelation
from dbt.include import spark_mv

__all__ = [
    "Plugin",
    "SparkMVAdapter",
    "SparkMVConnectionManager",
    "SparkMVCredentials",
    "SparkMVRelation",
]

Plugin = AdapterPlugin(
    adapter=SparkMVAdapter,
    credentials=SparkMVCredentials,
    include_path=spark_mv.PACKAGE_PATH,
    dependencies=["spark"],
)
