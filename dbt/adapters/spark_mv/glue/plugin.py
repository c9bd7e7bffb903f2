"""The plugin by which dbt knows the adapter."""

from __future__ import annotations

from dbt.adapters.base import AdapterPlugin

from dbt.adapters.spark_mv.credentials import SparkMVCredentials
from dbt.adapters.spark_mv.impl import SparkMVAdapter
from dbt.include import spark_mv

Plugin = AdapterPlugin(
    adapter=SparkMVAdapter,
    credentials=SparkMVCredentials,
    include_path=spark_mv.PACKAGE_PATH,
    dependencies=["spark"],
)
