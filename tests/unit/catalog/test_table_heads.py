"""Heads of Iceberg tables: what the answers of SQL mean, and what is sent."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.catalog import table_heads
from dbt.adapters.spark_mv.sql.names import TableName
from tests.unit.catalog.asked import Rows, StatementResult, asked, failing

ONE, TWO = (TableName("local", ("db",), name) for name in ("one", "two"))


def scan(table: str, snapshot: str, schema: int = 0) -> str:
    return f"+- IcebergScan(table=local.db.{table}, schemaId={schema}, snapshotId={snapshot}, ..)"


SCANS = {"one": scan("one", "11", 3), "two": scan("two", "null", 1)}


def plan(sql: str) -> Rows:
    """The plan of a union, in one row."""
    return [("\n".join(line for name, line in SCANS.items() if f"`{name}`" in sql),)]


def test_heads() -> None:
    """All from one statement; no snapshot is None."""
    executor = asked(plan)
    assert table_heads.heads(executor, [ONE, TWO]) == {ONE: ("11", 3), TWO: (None, 1)}
    assert len(executor.statements) == 1 and " UNION ALL " in executor.statements[0]


def test_heads_one_by_one() -> None:
    """If Spark shows fewer scans than tables, each is asked for; one that is none has no head."""

    def answer(sql: str) -> Rows:
        if "UNION" in sql or "`two`" in sql:
            return [("Error occurred during query planning:",), ("no such table",)]
        return [(scan("one", "11"),)]

    executor = asked(answer)
    assert table_heads.heads(executor, [ONE, TWO]) == {ONE: ("11", 0)}
    assert len(executor.statements) == 3
    assert table_heads.heads(asked(), []) == {}


def test_heads_of_a_scan_too_many() -> None:
    """Which of them is that of the name cannot be told."""
    both = [(scan("one", "11") + scan("two", "12"),)]
    assert table_heads.heads(asked(lambda _: both), [ONE]) == {}


def test_scans_are_of_the_names() -> None:
    """A view of the name, an error or a scan too many: nothing is taken for its head."""
    assert table_heads.heads_if_tables(asked(plan), [ONE]) == {ONE: ("11", 3)}
    assert table_heads.heads_if_tables(asked(plan), [ONE, TWO]) == {ONE: ("11", 3), TWO: (None, 1)}
    for other in ("onf", "ond", "onesie"):
        assert (
            table_heads.heads_if_tables(asked(lambda _, o=other: [(scan(o, "11"),)]), [ONE]) == {}
        )
    both = [(scan("one", "11") + scan("two", "12"),)]
    assert table_heads.heads_if_tables(asked(lambda _: both), [ONE]) == {}
    assert table_heads.heads_if_tables(asked(lambda _: [("",)]), [ONE]) == {}
    assert table_heads.heads_if_tables(asked(failing), [ONE]) == {}
    none = asked(failing)
    assert table_heads.heads_if_tables(none, []) == {} and not none.statements


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda _: [(scan("one", "11", 3), "x")], 3),
        (lambda _: [(scan("one", "10", 3), "x")], None),
        (lambda _: [(scan("one", "12", 3), "x")], None),
        (lambda _: [("no scan", "x")], None),
        (failing, None),
    ],
)
def test_schema_of_a_snapshot(answer: StatementResult, expected: int | None) -> None:
    assert table_heads.snapshot_schema(asked(answer), ONE, "11") == expected


@pytest.mark.parametrize(
    ("head", "schema_id", "expected"),
    [
        ((None, 3), None, True),
        (("11", 0), 2, True),
        (("11", 3), 3, True),
        (("11", 3), 2, False),
        (("11", 3), None, False),
    ],
)
def test_own_columns(head: table_heads.Head, schema_id: int | None, expected: bool) -> None:
    """Without rows, as they were at first, or those of the snapshot, which has to say so."""
    assert table_heads.has_own_columns(head, schema_id) == expected


def versions_of(schemas: dict[str, int], *entries: tuple[int, str, int]) -> StatementResult:
    """Snapshots with these schemas, and these entries in the logs of metadata files."""

    def answer(sql: str) -> Rows:
        if "metadata_log_entries" in sql:
            return entries
        scans = [scan(one, "11", schema) for one, schema in schemas.items() if f"`{one}`" in sql]
        return [("\n".join(scans),)]

    return answer


def test_altered_tables() -> None:
    """Two statements for all: how their snapshots are read, and which metadata file each has now,
    whose name is never that of another."""
    heads = {ONE: ("11", 3), TWO: ("11", 3)}
    entries = [(0, "/w/one/1.json", 5), (0, "/w/one/2.json", 4)]
    executor = asked(versions_of({"one": 2, "two": 3}, *entries))
    found = table_heads.altered(executor, heads)
    assert found == {ONE: table_heads.metadata_digest("s3://b/one/2.json", 4)}
    assert found[ONE] != table_heads.metadata_digest("/w/one/2.json", 5)
    assert len(executor.statements) == 2 and "`two`" not in executor.statements[1]


def test_tables_that_were_not_altered() -> None:
    """One statement, or none if all schemas are the first ones."""
    executor = asked(versions_of({"one": 3}))
    assert not table_heads.altered(executor, {ONE: ("11", 3), TWO: ("11", 0)})
    assert len(executor.statements) == 1 and "`two`" not in executor.statements[0]
    none = asked()
    assert not table_heads.altered(none, {ONE: ("11", 0), TWO: (None, 4)}) and not none.statements


def test_snapshots_that_cannot_be_read() -> None:
    """What is not known to be the snapshot's is not."""

    def answer(sql: str) -> Rows:
        return [(0, "1.json", 5)] if "metadata_log_entries" in sql else failing(sql)

    assert list(table_heads.altered(asked(answer), {ONE: ("11", 3)})) == [ONE]
