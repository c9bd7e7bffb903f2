"""What changes by itself, and what says where rows lie."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.views.volatile import (
    names_files,
    storage_columns,
    unstable,
    volatile_functions,
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select current_timestamp", ("current_timestamp",)),
        ("select now(), rand(), uuid(), now()", ("rand", "uuid", "now")),
        ("select current_date() + 1", ("current_date",)),
        ("select uniform(1, 6), aes_encrypt(a, b) from t", ("uniform", "aes_encrypt")),
        ("select now, rand as uuid from t", ()),
        ("select 'now()' from t -- rand()", ()),
        ("select `now` from t", ()),
        ("select sum(x) from t", ()),
        ("select * from t where day >= date'today'", ("'today'",)),
        ("select * from t where at < TIMESTAMP' Now UTC '", ("'Now UTC'",)),
        ('select cast("yesterday" as date) from t', ("'yesterday'",)),
        ("select * from t where day = r'tomorrow'", ("'tomorrow'",)),
        ("select cast('to' || 'day' as date) from t", ("'today'",)),
        ("select `rand`(), 'uuid' from t", ("rand",)),
        ("select cast('to' 'day' as date) from t", ("'today'",)),
        ("select * from t where day > date'epoch' and note = 'nowhere'", ()),
    ],
)
def test_unstable(query: str, expected: tuple[str, ...]) -> None:
    assert unstable(query) == expected


def test_the_clock_is_not_volatile() -> None:
    """Its value at one instant is the same for ever, so rows that depend on it can be verified."""
    query = "select now(), rand(), date'today' from t where cast('to' || 'day' as date) > d"
    assert volatile_functions(query) == ("rand",)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select _file, count(*) from t group by _file", ("_file",)),
        ("select `_POS` from t", ("_POS",)),
        ("select _metadata.file_path from t", ("_metadata",)),
        ("select file from t where note = '_files'", ()),
    ],
)
def test_storage_columns(query: str, expected: tuple[str, ...]) -> None:
    assert storage_columns(query) == expected


def test_names_of_files() -> None:
    assert names_files("select input_file_name() from t") and names_files("select _file from t")
    assert not names_files("select input_file_name, rand() from t")
