"""Tables of plain files (parquet, ORC, CSV ...): their only version is their file listing."""

from __future__ import annotations

from dbt.adapters.spark_mv.executor import Executor
from dbt.adapters.spark_mv.sql.names import TableName

FORMATS = frozenset({"parquet", "orc", "csv", "json", "text", "avro"})


def listing_digest(executor: Executor, name: TableName) -> str:
    """Digest of path, size and modification time of every file with rows, as text.

    A rewrite in place within one tick of the file system's clock, of equal size, is not seen.
    """
    executor.query(f"REFRESH TABLE {name.sql}")
    ((count, digest),) = executor.query(
        "SELECT count(*), bit_xor(xxhash64(path, size, modified)) FROM (SELECT DISTINCT "
        "_metadata.file_path AS path, _metadata.file_size AS size, "
        f"_metadata.file_modification_time AS modified FROM {name.sql})"
    )
    return f"{count}:{digest}"
