import datetime
import decimal

import pytest

from dbt.adapters.spark_mv.sql.literals import seed_cell, spark_literal


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (None, "null"),
        (True, "true"),
        (9007199254740993, "9007199254740993"),
        (decimal.Decimal("12345678901234567890123456789012"), "12345678901234567890123456789012"),
        (decimal.Decimal("1.50"), "1.50"),
        (0.1, "0.1"),
        (float("nan"), "double('nan')"),
        ("O'Brien \\ 100%", "'O\\'Brien \\\\ 100%'"),
        ("${env:HOME}", "'\\u0024{env:HOME}'"),
        (datetime.date(2020, 1, 2), "date'2020-01-02'"),
        (datetime.datetime(2020, 1, 2, 3, 4, 5, 6), "timestamp'2020-01-02 03:04:05.000006'"),
    ],
)
def test_spark_literal(value: object, literal: str) -> None:
    assert spark_literal(value) == literal


def test_seed_cells_are_texts() -> None:
    assert [seed_cell(decimal.Decimal("1E+2")), seed_cell(False), seed_cell(None)] == [
        "'100'",
        "'false'",
        "null",
    ]
