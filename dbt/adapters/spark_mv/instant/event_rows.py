"""Rows of a small Iceberg table, by pyiceberg, which honours its deletes as Spark does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from functools import cached_property
from typing import Any, NoReturn

from dbt.adapters.spark_mv.core.errors import NeedsSpark
from dbt.adapters.spark_mv.core.executor import Texts

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class FileTable:
    """A `SmallTable` as one metadata file says it is; it only reads."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._read: dict[tuple[str, ...], list[Texts]] = {}

    def rows(self, columns: Sequence[str]) -> list[Texts]:
        """Its rows, each value as a text, a timestamp as ISO 8601 writes it; read once.

        Raises `NeedsSpark` if pyiceberg is not there, or cannot read it.
        """
        wanted = tuple(columns)
        if wanted not in self._read:
            self._read[wanted] = self._rows(wanted)
        return self._read[wanted]

    def _rows(self, columns: tuple[str, ...]) -> list[Texts]:
        try:
            found = self._scan(columns)
            texts = [_texts(found.column(name)) for name in columns]
        except Exception as error:  # whatever it is that pyiceberg does not read
            raise NeedsSpark(f"pyiceberg cannot read {self._location}: {error}") from None
        return list(zip(*texts, strict=True))

    def _scan(self, columns: tuple[str, ...]) -> Any:
        return self._table.scan(selected_fields=columns).to_arrow()

    @cached_property
    def _table(self) -> Any:
        # Its import takes longer than all the rest.
        from pyiceberg.table import StaticTable

        return StaticTable.from_metadata(self._location)

    def append(self, rows: Sequence[Mapping[str, str | int | None]]) -> NoReturn:
        """Nothing is written here: raises `NeedsSpark`."""
        raise NeedsSpark("rows are to be appended")

    def compact(self, before_ms: int, retain: int) -> NoReturn:
        """Nothing is written here: raises `NeedsSpark`."""
        raise NeedsSpark("files are to be compacted")


def _texts(column: Any) -> list[str | None]:
    import pyarrow

    if not pyarrow.types.is_timestamp(column.type):
        return [None if value is None else str(value) for value in column.to_pylist()]
    instants = column.cast(pyarrow.timestamp("us")).cast(pyarrow.int64()).to_pylist()
    return [None if at is None else _moment(at) for at in instants]


def _moment(microseconds: int) -> str:
    return (_EPOCH + timedelta(microseconds=microseconds)).isoformat()
