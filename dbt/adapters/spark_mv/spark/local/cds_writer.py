"""Writes the class archive: one short Spark that does a little of everything, in its own folder.

Not the user's own Spark, because its archive would hold every class that Spark generated for
every query of a long run. Run as a module; the configuration comes on stdin.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dbt.adapters.spark_mv.spark import session
from dbt.adapters.spark_mv.spark.local import cds_archive, warehouse

_STATEMENTS = (
    "create schema if not exists warm",
    "create or replace table warm.t using iceberg as select id, id % 3 k, 'x' s from range(9)",
    "create or replace view warm.v as select k, count(*) n, max(s) s from warm.t group by k",
    "create temporary view tmp as select * from warm.v",
    "insert into warm.t select n, k, s from tmp",
    "merge into warm.t a using tmp b on a.id = b.k when matched then update set s = b.s"
    " when not matched then insert (id, k, s) values (b.n, b.k, b.s)",
    "select a.k, sum(b.n) from warm.t a join warm.v b on a.k = b.k group by a.k order by 1",
    "describe extended warm.t",
    "describe extended warm.v",
    "show table extended in warm like '*'",
    "show views in warm",
    "show databases",
)


def write_archive(conf: dict[str, str]) -> None:
    """Run Spark once with this configuration and keep the classes that it loaded."""
    archive = cds_archive.archive_path(conf)
    archive.parent.mkdir(parents=True, exist_ok=True)
    with _alone(archive) as is_mine:
        if not is_mine or archive.is_file():
            return
        part = archive.with_suffix(".part")
        part.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            if _run_spark(conf, folder, part) == 0 and part.is_file():
                os.replace(part, archive)
                cds_archive.forget_old_archives(archive.parent)


def _run_spark(conf: dict[str, str], folder: str, part: Path) -> int:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    log = warehouse.prepare_folder(folder)
    conf = warehouse.embedded_conf(folder, {**conf, **warehouse.catalog_conf(folder)})
    cds_archive.add_option(conf, f"-XX:ArchiveClassesAtExit={part}")
    session.start_java(conf, log)
    spark = SparkSession.builder.config(map=conf).getOrCreate()
    for statement in _STATEMENTS:
        spark.sql(statement).collect()
    spark.stop()
    process = SparkContext._gateway.proc
    process.stdin.close()
    return int(process.wait(cds_archive.MOST_SECONDS))


@contextlib.contextmanager
def _alone(archive: Path) -> Iterator[bool]:
    lock = cds_archive.lock_of(archive)
    if lock.exists() and not cds_archive.is_being_written(archive):
        lock.unlink(missing_ok=True)
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        yield False
        return
    try:
        yield True
    finally:
        lock.unlink(missing_ok=True)


if __name__ == "__main__":
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)
    write_archive(json.load(sys.stdin))
