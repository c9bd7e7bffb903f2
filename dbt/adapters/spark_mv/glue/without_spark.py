"""Answers of an operation that start no Spark, if it is one that may do without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.spark_mv.core.errors import NeedsSpark
from dbt.adapters.spark_mv.credentials import SparkMVConnectionMethod, SparkMVCredentials
from dbt.adapters.spark_mv.instant.folder import QUESTIONS, Folder, ask
from dbt.adapters.spark_mv.operations.report import Report
from dbt.adapters.spark_mv.spark.process import has_spark

logger = AdapterLogger("SparkMV")


def answer_of_files(
    credentials: SparkMVCredentials,
    operation: str,
    arguments: Mapping[str, Any],
    schemas: Iterable[str],
) -> Report | None:
    """What the files of an embedded folder answer; None if Spark has to be asked, or is there.

    `schemas` are those of the project's nodes.
    """
    is_embedded = credentials.method == SparkMVConnectionMethod.EMBEDDED
    if operation not in QUESTIONS or not is_embedded or has_spark():
        return None
    folder = Folder(
        credentials.warehouse_path,
        credentials.schema,
        credentials.metadata_schema,
        credentials.refresh_timeout,
        credentials.server_side_parameters,
    )
    try:
        return ask(folder, operation, arguments, schemas, logger.warning)
    except NeedsSpark as error:
        logger.debug(f"{operation} starts Spark: {error.why}.")
        return None
