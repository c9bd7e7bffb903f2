from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dbt.adapters.spark_mv.config.options import OPTION_NAMES, Options, check_spelling, options_from
from dbt.adapters.spark_mv.core.errors import InvalidOption
from tests import option_docs

MADE = "`make docs` writes it"


def test_defaults() -> None:
    found = options_from({}, "db.v")
    assert found == Options()
    assert (found.enable_refresh, found.refresh_interval_minutes, found.when_stale) == (
        True,
        30,
        "refresh",
    )
    assert (found.on_refresh_error, found.refresh_method, found.suspend_after_failures) == (
        "fail",
        "auto",
        5,
    )
    assert found.max_staleness_seconds is None


@pytest.mark.parametrize(
    ("given", "name", "expected"),
    [
        ({"enable_refresh": False}, "enable_refresh", False),
        ({"refresh_interval_minutes": 1}, "refresh_interval_minutes", 1),
        ({"refresh_interval_minutes": 10080}, "refresh_interval_minutes", 10080),
        ({"when_stale": "INLINE"}, "when_stale", "inline"),
        ({"max_staleness": "0-0 0 4:0:0"}, "max_staleness_seconds", 14400.0),
        ({"refresh_start": "2026-01-31 06:00:00"}, "refresh_start", "2026-01-31 06:00:00"),
        ({"refresh_start": datetime(2026, 1, 31, 6)}, "refresh_start", "2026-01-31T06:00:00"),
        ({"schedule": "0 6 * * mon"}, "schedule", {"cron": "0 6 * * MON"}),
        ({"schedule": '{"cron": "0 0 6 ? * MON"}'}, "schedule", {"cron": "0 6 * * MON"}),
        (
            {"schedule": {"cron": "0 6 * * *", "time_zone_value": "Europe/Berlin"}},
            "schedule",
            {"cron": "0 6 * * *", "time_zone_value": "Europe/Berlin"},
        ),
        (
            {"schedule": {"cron": "0 6 * * *", "time_zone_value": "+01:00"}},
            "schedule",
            {"cron": "0 6 * * *", "time_zone_value": "+01:00"},
        ),
        ({"unique_key": "id"}, "unique_key", ("id",)),
        ({"unique_key": '["a", "b"]'}, "unique_key", ("a", "b")),
        ({"tags": ["x", "y"]}, "tags", ("x", "y")),
        ({"tblproperties": {"a": 1}}, "tblproperties", {"a": "1"}),
        ({"tblproperties": '{"a": "b"}'}, "tblproperties", {"a": "b"}),
        (
            {"warn_after": '{"count": 2, "period": "hour"}'},
            "warn_after",
            {"count": 2, "period": "hour"},
        ),
        ({"enable_refresh": None}, "enable_refresh", True),
        (
            {"allow_non_incremental_definition": True, "max_staleness": "INTERVAL 1 DAY"},
            "allow_non_incremental_definition",
            True,
        ),
    ],
)
def test_values(given: dict[str, Any], name: str, expected: Any) -> None:
    assert getattr(options_from(given, "db.v"), name) == expected


@pytest.mark.parametrize(
    "given",
    [
        {"enable_refresh": "true"},
        {"enable_refresh": 1},
        {"refresh_interval_minutes": 0},
        {"refresh_interval_minutes": 10081},
        {"refresh_interval_minutes": True},
        {"refresh_interval_minutes": "30"},
        {"refresh_interval_minutes": 1.0},
        {"max_staleness": 5},
        {"max_staleness": "soon"},
        {"when_stale": "never"},
        {"when_stale": True},
        {"on_refresh_error": "ignore"},
        {"refresh_method": "quick"},
        {"refresh_start": "tomorrow"},
        {"refresh_start": 5},
        {"schedule": ""},
        {"schedule": 5},
        {"schedule": "61 * * * *"},
        {"schedule": "0 0 6 ? * 2"},
        {"schedule": {"cron": 5}},
        {"schedule": {"every": "2 HOURS"}},
        {"schedule": {"cron": "0 6 * * *", "time_zone": "UTC"}},
        {"schedule": {"cron": "0 6 * * *", "time_zone_value": ""}},
        {"schedule": {"cron": "0 6 * * *", "time_zone_value": "Mars/Olympus"}},
        {"schedule": {"cron": "0 6 * * *", "time_zone_value": "Europe"}},
        {"schedule": {"cron": "0 6 * * *", "time_zone_value": "+99:00"}},
        {"schedule": {"cron": "0 6 * * *", "time_zone_value": "../etc/passwd"}},
        {"schedule": "0 6 * * *", "refresh_start": "2026-01-31 06:00:00"},
        {"suspend_after_failures": 0},
        {"suspend_after_failures": -1},
        {"warn_after": {"count": 1}},
        {"warn_after": {"count": 0, "period": "day"}},
        {"warn_after": {"count": 1, "period": "year"}},
        {"warn_after": 5},
        {"warn_after": {"count": 1, "period": "day", "more": 1}},
        {"warn_after": {"count": True, "period": "day"}},
        {"error_after": "{broken"},
        {
            "warn_after": {"count": 2, "period": "day"},
            "error_after": {"count": 47, "period": "hour"},
        },
        {"unique_key": 5},
        {"unique_key": []},
        {"unique_key": [""]},
        {"tags": [1]},
        {"tblproperties": "x"},
        {"tblproperties": {"mv.id": "x"}},
        {"nothing": 1},
        {"allow_non_incremental_definition": True},
        {"allow_non_incremental_definition": "x"},
    ],
)
def test_wrong_values(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption) as caught:
        options_from(given, "db.v")
    assert "db.v" in caught.value.problem and next(iter(given)) in str(caught.value)
    assert caught.value.way_out


@pytest.mark.parametrize(
    ("given", "way_out"),
    [
        ({"tags": 5}, "Expected a text or a list of them."),
        ({"unique_key": 5}, "Expected a column name or a list of them."),
    ],
)
def test_what_is_expected(given: dict[str, Any], way_out: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        options_from(given, "db.v")
    assert caught.value.way_out == way_out


@pytest.mark.parametrize("value", [True, False])
def test_what_belongs_to_the_profile(value: bool) -> None:
    for check in (options_from, check_spelling):
        with pytest.raises(InvalidOption, match="Set allow_unsafe_sql: true in the profile"):
            check({"allow_unsafe_sql": value}, "db.v")


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("enable_refreshs", "enable_refresh"),
        ("refresh_interval_minute", "refresh_interval_minutes"),
        ("max_stalenes", "max_staleness"),
        ("When_Stale", "when_stale"),
        ("on_refresh_errors", "on_refresh_error"),
        ("partitioned_by", "partition_by"),
        ("clusterby", "cluster_by"),
        ("on_configuration_changes", "on_configuration_change"),
    ],
)
def test_misspelt_keys(key: str, meant: str) -> None:
    with pytest.raises(InvalidOption, match=repr(meant)):
        check_spelling({key: 1}, "db.v")


@pytest.mark.parametrize(
    "key", [*OPTION_NAMES, "materialized", "meta", "grants", "clustered_by", "my_own_key", "docs"]
)
def test_keys_that_are_left_alone(key: str) -> None:
    check_spelling({key: 1}, "db.v")


def test_docs_are_made_of_the_options() -> None:
    assert option_docs.page(option_docs.PAGE.read_text()) == option_docs.PAGE.read_text(), MADE
    assert option_docs.SCHEMA.read_text() == option_docs.schema_text(), MADE


def test_schema_for_editors() -> None:
    """What the schema takes the checks take, and the reverse."""
    Draft202012Validator.check_schema(option_docs.schema())
    validator = Draft202012Validator(option_docs.schema())
    right = {
        "when_stale": "serve",
        "unique_key": ["a"],
        "warn_after": {"count": 1, "period": "day"},
        "schedule": {"cron": "0 6 * * *", "time_zone_value": "Europe/Berlin"},
    }
    assert validator.is_valid({"models": [{"name": "v", "config": right}]})
    assert options_from(right, "db.v").when_stale == "serve"
    for wrong in ({"when_stale": "never"}, {"schedule": {"every": "1 DAY"}}, {"unique_key": []}):
        assert not validator.is_valid({"models": [{"name": "v", "config": wrong}]})
        with pytest.raises(InvalidOption):
            options_from(wrong, "db.v")
