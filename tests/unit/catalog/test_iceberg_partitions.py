"""How partitions are told apart: the spec that a table describes, its texts, and whose they are."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.catalog import partition_lists, partitions
from dbt.adapters.spark_mv.catalog.partitions import Field, Spec
from dbt.adapters.spark_mv.sql.names import TableName
from tests.unit.catalog.asked import Rows, asked, failing

TABLE = TableName("local", ("db",), "t")
ID = Field("identity", "id", "int", "int")
DAY = Field("days", "at", "date", "timestamp")
BUCKET = Field("bucket", "id", "int", "bigint", 4)
PREFIX = Field("truncate", "name", "string", "string", 3)
MOMENT = Field("identity", "at", "timestamp", "timestamp")
NAME = Field("identity", "name", "string", "string")
SMALL = Field("identity", "n", "tinyint", "tinyint")
WALL = Field("identity", "at", "timestamp_ntz", "timestamp_ntz")


def answers(rows: Rows) -> Any:
    """An executor that gives these to whatever it is asked."""
    return asked(lambda sql: rows)


def described(*sections: list[tuple[str, str]]) -> Any:
    """What DESCRIBE TABLE EXTENDED says of a table with these columns and sections."""
    columns = [("Id", "int"), ("at", "timestamp"), ("name", "string"), ("score", "double")]
    end = [("# Detailed Table Information", ""), ("Owner", "x"), ("Location", "/lake/t"), ("", "")]
    rows = [*columns, *(row for section in sections for row in [("", ""), *section]), *end]
    return answers([(name, kind, None) for name, kind in rows])


def by_terms(*terms: str) -> Any:
    """A table that is partitioned by these terms."""
    parts = [(f"Part {number}", term) for number, term in enumerate(terms)]
    return described([("# Partitioning", ""), *parts], [("# Metadata Columns", ""), ("id", "int")])


def test_spec_of_whole_columns() -> None:
    """What follows the list of partition columns is not in it."""
    heads = [("# Partition Information", ""), ("# col_name", "data_type")]
    found = partitions.spec_of(
        described([*heads, ("Id", "int")], [("# Metadata Columns", ""), ("name", "string")]), TABLE
    )
    assert found == Spec((ID,), "/lake/t")
    loose = described([*heads, ("Id", "int"), ("", ""), ("name", "string")])
    assert partitions.spec_of(loose, TABLE) == Spec((ID,), "/lake/t")
    assert partitions.spec_of(described(), TABLE) == Spec((), "/lake/t")


@pytest.mark.parametrize(
    ("term", "field"),
    [
        ("ID", ID),
        ("`name`", NAME),
        ("days(at)", DAY),
        ("days(`at`)", DAY),
        ("hours(at)", Field("hours", "at", "int", "timestamp")),
        ("bucket(4, id)", Field("bucket", "id", "int", "int", 4)),
        ("bucket(16, name)", Field("bucket", "name", "int", "string", 16)),
        ("truncate(3, name)", PREFIX),
        ("truncate(name)", None),
        ("zorder(id)", None),
        ("zorder(4, id)", None),
        ("score", None),
        ("days(gone)", None),
    ],
)
def test_spec_of_terms(term: str, field: Field | None) -> None:
    """A field that is not understood leaves nothing that can be told."""
    expected = None if field is None else Spec((ID, field), "/lake/t")
    assert partitions.spec_of(by_terms("id", term), TABLE) == expected


@pytest.mark.parametrize(
    ("field", "text", "pushed", "condition"),
    [
        (ID, "7", False, "c = CAST('7' AS int)"),
        (NAME, "it's", False, "c = CAST(X'69742773' AS STRING)"),
        (MOMENT, "12", True, "c = timestamp_micros(12)"),
        (SMALL, "12", True, "c = CAST('12' AS tinyint)"),
        (WALL, "12", True, "c = CAST('12' AS timestamp_ntz)"),
        (ID, None, False, "c IS NULL"),
        (BUCKET, None, True, "c IS NULL"),
        (BUCKET, "3", True, "`local`.system.bucket(4, c) = CAST('3' AS int)"),
        (BUCKET, "3", False, "hex(CAST(`local`.system.bucket(4, c) AS STRING)) = '33'"),
        (PREFIX, "jo", False, "hex(CAST(`local`.system.truncate(3, c) AS STRING)) = '6A6F'"),
    ],
)
def test_holds(field: Field, text: str | None, pushed: bool, condition: str) -> None:
    assert field.holds("c", text, "local", pushed) == condition


def test_spec_of_a_column_called_location() -> None:
    """It is a column where columns are listed, and the path of the table below them."""
    heads = [("# Partition Information", ""), ("# col_name", "data_type")]
    rows = [("Location", "string", None), ("", "", None)]
    rows += [(name, kind, None) for name, kind in (*heads, ("Location", "string"), ("", ""))]
    rows += [("# Detailed Table Information", "", None), ("Location", "/lake/t", None)]
    found = partitions.spec_of(answers(rows), TABLE)
    assert found == Spec((Field("identity", "location", "string", "string"),), "/lake/t")


def test_values_of_rows() -> None:
    """A time has no size, a whole column no function; functions are not pushed unasked."""
    assert ID.value("c", "local") == "c" and NAME.value("c", "local") == "c"
    assert DAY.value("c", "local") == "`local`.system.days(c)"
    assert BUCKET.value("c", "local") == "`local`.system.bucket(4, c)"
    assert partitions.encoded("c", "timestamp") == "CAST(unix_micros(c) AS STRING)"
    assert partitions.encoded("c", "timestamp_ntz") == "CAST(c AS STRING)"
    assert BUCKET.holds("c", "3", "local") == BUCKET.holds("c", "3", "local", pushed=False)
    ranges = (DAY.holds("c", "2024-02-28", "local", pushed) for pushed in (True, False))
    assert all("system" not in text and ">=" in text for text in ranges)


def test_paths() -> None:
    """NULL has a name of its own, and what a path cannot hold is escaped."""
    spec = Spec((NAME, DAY, BUCKET), "/lake/t/")
    assert spec.uri(("a/b c:d", "2024-01-01", None)) == (
        "/lake/t/name=a%2Fb c:d/at_day=2024-01-01/id_bucket=__HIVE_DEFAULT_PARTITION__/"
    )
    assert Spec((), "/lake/t").uri(()) == "/lake/t/"
    with pytest.raises(ValueError):
        spec.uri(("a",))


@pytest.mark.parametrize(
    ("transform", "name"),
    [
        ("identity", "at"),
        ("years", "at_year"),
        ("months", "at_month"),
        ("days", "at_day"),
        ("hours", "at_hour"),
        ("bucket", "at_bucket"),
        ("truncate", "at_trunc"),
    ],
)
def test_names_of_fields(transform: str, name: str) -> None:
    """Each transform gives its field a name of its own."""
    assert Field(transform, "at", "int", "timestamp").name == name


def test_one_of_some() -> None:
    """The order is that of the texts, NULL last; no partition holds no row."""
    columns = [(ID, "c"), (NAME, "d")]
    found = [("2", "b"), (None, ""), ("1", None), ("1", "a")]
    terms = [f"c = CAST('{number}' AS int)" for number in (1, 1, 2)] + ["c IS NULL"]
    names = ["d = 'a'", "d IS NULL", "d = 'b'", "d = ''"]
    pairs = zip(terms, names, strict=True)
    expected = " OR ".join(f"({one} AND {other})" for one, other in pairs)
    assert partitions.is_one_of(columns, "local", found) == expected
    assert partitions.is_one_of(columns, "local", []) == "false"
    with pytest.raises(ValueError):
        partitions.is_one_of(columns, "local", [("1",)])
    unasked = partitions.is_one_of([(BUCKET, "c")], "local", [("3",)])
    assert unasked.startswith("(hex(")


def test_rows_are_asked_for_by_what_steers() -> None:
    """Beside a whole column the functions of it are left out, those of others are pushed."""
    spec = Spec((BUCKET, ID, PREFIX), "")
    assert partitions.steering(spec.fields) == (ID, PREFIX)
    assert partitions.steering((BUCKET, PREFIX)) == (BUCKET, PREFIX)
    for transform in ("truncate", "years", "months", "days", "hours"):
        function = Field(transform, "name", "string", "string")
        assert partitions.steering((NAME, function, BUCKET)) == (NAME, BUCKET)
    assert partitions.in_partitions(spec, "local", [("0", "8", "jo"), ("1", "8", "jo")]) == (
        "(`id` = CAST('8' AS int) AND `local`.system.truncate(3, `name`) = 'jo')"
    )


FOUND: dict[str, tuple[tuple[Field, ...], list[tuple[Any, ...]], set[Any] | None]] = {
    "of the spec": ((ID,), [(0, "id", "1", 5), (0, "id", "1", None)], {("5",), (None,)}),
    "letters": ((ID,), [(0, "ID", "1", "5")], {("5",)}),
    "name of a function": ((BUCKET,), [(0, "Id_bucket_4", "1", 3)], {("3",)}),
    "two fields": ((ID, DAY), [(0, "id,at_day", "2", 1, "d")], {("1", "d")}),
    "fields in another order": ((ID, DAY), [(0, "at_day,id", "2", 1, "d")], None),
    "two specs": ((ID,), [(0, "id", "1", 5), (1, "id", "1", 5)], None),
    "a later spec alone": ((ID,), [(3, "id", "1", 5)], {("5",)}),
    "other column": ((ID,), [(0, "ix", "1", 5)], None),
    "a column before": ((NAME,), [(0, "a", "1", 5)], None),
    "a column after": ((ID,), [(0, "z", "1", 5)], None),
    "longer name": ((ID,), [(0, "idle", "1", 5)], None),
    "one is known": ((ID, DAY), [(0, "id,at_day", "1", 1, "d")], None),
    "more are known": ((ID,), [(0, "id", "2", 5)], None),
    "more are listed": ((ID,), [(0, "id,at_day", "1", 5)], None),
    "fewer are listed": ((ID, DAY), [(0, "id", "2", 1, "d")], None),
    "the second file": ((ID,), [(0, "id", "1", 5), (0, "id", "0", 6)], None),
    "no fields": ((), [(0, "", "0"), (1, "id", "1")], {()}),
    "no file": ((ID,), [], set()),
}


@pytest.mark.parametrize("case", FOUND)
def test_partitions_of_files(case: str) -> None:
    """Files of another spec are noticed by its id, by their names, or by their manifests."""
    fields, rows, expected = FOUND[case]
    found = partition_lists.partitions_of(answers(rows), Spec(fields, ""), "select 1")
    assert found == expected


def test_what_cannot_be_read() -> None:
    """A failing statement is an answer: nothing is known."""
    spec, fails = Spec((ID,), ""), asked(failing)
    assert partition_lists.partitions_of(fails, spec, "select 1") is None
    assert partitions.last_modified(fails, TABLE, spec) == {}


def test_times_of_partitions() -> None:
    """Each partition has its own time, if that is known."""
    executor = answers([(1000, 5, "d"), (None, None, "e")])
    found = partitions.last_modified(executor, TABLE, Spec((ID, MOMENT), ""))
    assert found == {("5", "d"): 1000, (None, "e"): None}
    assert "CAST(p0 AS STRING), CAST(unix_micros(p1) AS STRING)" in executor.statements[0]


def test_files_have_the_values_of_their_fields() -> None:
    """A table without partitions has no column for them."""
    assert "partition.*" in partition_lists.files(TABLE, Spec((ID,), ""), "1")
    assert "partition.*" not in partition_lists.files(TABLE, Spec((), ""), "1")
    changed = partition_lists.changed_files(TABLE, Spec((ID, DAY), ""), "1", "2")
    assert changed.endswith("GROUP BY id, spec_id, names, known, p0, p1 HAVING sum(version) <> 0")
