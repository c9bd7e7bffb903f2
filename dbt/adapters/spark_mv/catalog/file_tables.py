"""Tables of plain files (parquet, ORC, CSV ...): their only version is their file listing, and how
the files are read."""

from __future__ import annotations

import hashlib
import re
from itertools import takewhile

from dbt.adapters.spark_mv.core.executor import Executor, Row
from dbt.adapters.spark_mv.sql.names import TableName, quote

FORMATS = frozenset({"parquet", "orc", "csv", "json", "text", "avro"})
# What says how rows are made of the files; the rest of a description changes by itself.
_READ_BY = frozenset(
    "Provider|Location|Serde Library|InputFormat|OutputFormat|Storage Properties|"
    "Table Properties|Partition Provider|Collation".split("|")
)
_CHANGED_BY_WRITES = re.compile(r"(?:transient_lastDdlTime|numFiles|totalSize|numRows)=[^,\]]*")


def listing_digest(executor: Executor, name: TableName) -> str:
    """Digest of path, size, modification time and partition of every file with rows, and of how
    the table reads files, as text.

    A rewrite in place within one tick of the file system's clock, of equal size, is not seen.
    """
    executor.query(f"REFRESH TABLE {name.sql}")
    described = executor.query(f"DESCRIBE TABLE EXTENDED {name.sql}")
    # Two partitions may exchange their folders: then the same files make other rows.
    partition = [f"CAST({quote(column)} AS STRING)" for column in _partition_columns(described)]
    columns = ", ".join(
        [
            "_metadata.file_path",
            "_metadata.file_size",
            "_metadata.file_modification_time",
            *partition,
        ]
    )
    names = ", ".join(f"c{number}" for number in range(3 + len(partition)))
    ((count, digest),) = executor.query(
        f"SELECT count(*), bit_xor(xxhash64({names})) FROM "
        f"(SELECT DISTINCT {columns} FROM {name.sql}) AS files({names})"
    )
    return f"{count}:{digest}:{_reading_digest(described)}"


def _partition_columns(described: list[Row]) -> list[str]:
    names = [str(row[0]) for row in described]
    if "# Partition Information" not in names:
        return []
    listed = names[names.index("# Partition Information") + 1 :]
    return [name for name in takewhile(bool, listed) if not name.startswith("#")]


def _reading_digest(described: list[Row]) -> str:
    """Digest of the columns, and of how files are read."""
    rows = [(str(row[0]), str(row[1])) for row in described]
    end = next((n for n, (key, _) in enumerate(rows) if key.startswith("#") or not key), len(rows))
    kept = rows[:end] + [(key, value) for key, value in rows[end:] if key in _READ_BY]
    text = _CHANGED_BY_WRITES.sub("", re.sub(r"\s+", " ", repr(kept)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
