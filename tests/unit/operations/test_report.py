from __future__ import annotations

from dbt.adapters.spark_mv.operations.report import Report


def test_columns_are_aligned() -> None:
    lines = Report(("view", "rows", "x"), (("db.v", 1234567, None), ("db.longer", 5, "y"))).lines()
    assert lines == [
        "view            rows  x",
        "---------  ---------  -",
        "db.v       1,234,567",
        "db.longer          5  y",
    ]


def test_kinds_of_values() -> None:
    report = Report(("a", "b", "c"), ((True, 1.005, "two\nlines"),))
    assert report.lines()[2].split() == ["true", "1.00", "two", "lines"]


def test_long_texts_are_cut() -> None:
    (line,) = Report(("a",), (("x" * 500,),)).lines()[2:]
    assert len(line) == 100 and line.endswith("...")


def test_nothing_to_show() -> None:
    assert Report(("a",), ()).lines() == ["nothing to show"]
    assert Report(("a",), (), notes=("no views",)).lines() == ["no views"]


def test_notes_come_last() -> None:
    assert Report(("a",), (("x",),), notes=("note",)).lines()[-1] == "note"
