"""Upkeep of Iceberg tables: compaction, expiry of snapshots, removal of files nobody knows."""

from __future__ import annotations

from datetime import datetime, timezone

from dbt.adapters.spark_mv.core.executor import Executor, Row
from dbt.adapters.spark_mv.sql.names import TableName, literal

# Fewer small files than this are not worth a commit.
MIN_FILES = 5


def compact(executor: Executor, name: TableName) -> int:
    """Rewrite small files into larger ones; returns how many were rewritten."""
    options = f"map('min-input-files', '{MIN_FILES}')"
    rows = _call(executor, name, "rewrite_data_files", f"options => {options}")
    return int(rows[0][0]) if rows else 0


def expire(executor: Executor, name: TableName, before: float, retain: int) -> int:
    """Expire snapshots committed before an epoch second, except the last `retain` of a branch.

    Returns how many snapshots are gone.
    """
    count = f"SELECT count(*) FROM {name.sql}.`snapshots`"
    ((had,),) = executor.query(count)
    moment = f"TIMESTAMP '{_text(before)}'"
    _call(executor, name, "expire_snapshots", f"older_than => {moment}, retain_last => {retain}")
    ((has,),) = executor.query(count)
    return int(had) - int(has)


def remove_orphans(executor: Executor, name: TableName, before: float) -> int:
    """Delete files that no snapshot knows and that are older than an epoch second."""
    moment = f"TIMESTAMP '{_text(before)}'"
    return len(_call(executor, name, "remove_orphan_files", f"older_than => {moment}"))


def count_files(executor: Executor, name: TableName) -> int:
    """How many data files the current snapshot has."""
    ((files,),) = executor.query(f"SELECT count(*) FROM {name.sql}.`files`")
    return int(files)


def _call(executor: Executor, name: TableName, procedure: str, arguments: str) -> list[Row]:
    target = literal(".".join(f"`{part}`" for part in (*name.namespace, name.name)))
    sql = f"CALL `{name.catalog}`.system.{procedure}(table => {target}, {arguments})"
    return executor.query(sql)


def _text(moment: float) -> str:
    moment = max(moment, 0.0)  # nothing was committed before
    return datetime.fromtimestamp(moment, timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f+00:00")
