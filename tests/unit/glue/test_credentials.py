import os
from typing import Any

import pytest
from dbt_common.dataclass_schema import ValidationError
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.spark_mv.credentials import SparkMVCredentials
from dbt.adapters.spark_mv.spark.local.warehouse import embedded_conf


def _credentials(**keys: Any) -> SparkMVCredentials:
    data = SparkMVCredentials.translate_aliases({"schema": "s", "database": None, **keys})
    SparkMVCredentials.validate(data)
    return SparkMVCredentials.from_dict(data)


def test_four_lines_are_a_profile() -> None:
    found = _credentials(method="embedded", path="somewhere")
    assert found.type == "spark_mv"
    assert found.warehouse_path == os.path.abspath("somewhere")
    assert (found.metadata_schema, found.refresh_timeout) == ("mv_metadata", 3600)


def test_method_is_session_unless_given() -> None:
    assert _credentials().method == "session"


def test_spark_conf_wins_also_over_what_dbt_spark_forces() -> None:
    conf = {"spark.sql.ansi.enabled": True, "spark.sql.shuffle.partitions": 7}
    found = _credentials(method="embedded", spark_conf=conf)
    assert found.server_side_parameters["spark.sql.ansi.enabled"] == "true"
    assert found.server_side_parameters["spark.sql.shuffle.partitions"] == "7"


def test_secret_in_the_host() -> None:
    """68: it is refused before anybody prints it."""
    with pytest.raises(DbtConfigError, match="contains '@'") as caught:
        _credentials(method="thrift", host="me:hunter22@spark.example")
    assert "hunter22" not in str(caught.value)


@pytest.mark.parametrize("method", ["thrift", "http"])
def test_a_thrift_server_is_told_settings_in_its_own_way(method: str) -> None:
    pytest.importorskip("pyhive")
    found = _credentials(method=method, host="localhost", spark_conf={"spark.a": 1})
    assert found.server_side_parameters["set:hiveconf:spark.a"] == "1"
    assert found.server_side_parameters["set:hiveconf:spark.sql.ansi.enabled"] == "false"


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"refresh_timeout": -1}, "refresh_timeout cannot be -1"),
    ({"refresh_timeout": 0}, "refresh_timeout cannot be 0"),
    ({"refresh_timeout": True}, "refresh_timeout cannot be True"),
    ({"refresh_timeout": "x"}, "refresh_timeout cannot be 'x'"),
    ({"refresh_timeout": 1.5}, "refresh_timeout cannot be 1.5"),
    ({"refresh_timeout": None}, "refresh_timeout cannot be None"),
    ({"metadata_schema": "a.b.c.d"}, "metadata_schema cannot be 'a.b.c.d'"),
    ({"metadata_schema": "x; drop table y"}, "metadata_schema cannot be 'x; drop table y'"),
    ({"metadata_schema": ""}, "metadata_schema cannot be ''"),
    ({"metadata_schema": "a`b"}, "metadata_schema cannot be 'a`b'"),
    ({"metadata_schema": 5}, "metadata_schema cannot be 5"),
    ({"refresh_timout": 60}, "Did you mean 'refresh_timeout'?"),
    ({"metadata_shema": "m"}, "Did you mean 'metadata_schema'?"),
    ({"spark_config": {}}, "Did you mean 'spark_conf'?"),
    ({"spark-conf": {}}, "Did you mean 'spark_conf'?"),
    ({"class_archive": False}, "Did you mean 'class_data_archive'?"),
    ({"spark_conf": "x"}, "spark_conf must be a mapping, and is text"),
    ({"spark_conf": {"spark.a": [1]}}, "the value of 'spark.a' is a list"),
    ({"spark_conf": {"spark": {"a": 1}}}, "the value of 'spark' is a mapping"),
    ({"class_data_archive": "maybe"}, "class_data_archive cannot be 'maybe'"),
    ({"allow_unsafe_sql": "true"}, "allow_unsafe_sql cannot be 'true'"),
    ({"allow_unsave_sql": True}, "Did you mean 'allow_unsafe_sql'?"),
    ({"path": ""}, "path cannot be ''"),
    ({"path": 3}, "path cannot be 3"),
    ({"method": "embeded"}, "method cannot be 'embeded'"),
    ({"port": "abc"}, "port must be a whole number, and is text"),
    ({"token": 3}, "token must be text or empty, and is a whole number"),
    ({"server_side_parameters": {"a": 3}}, "server_side_parameters.a must be text"),
]


@pytest.mark.parametrize(("keys", "text"), WRONG, ids=lambda value: str(value)[:40])
def test_what_is_wrong_is_named_by_its_key(keys: dict[str, Any], text: str) -> None:
    with pytest.raises(ValidationError) as caught:
        _credentials(**keys)
    assert text in caught.value.message and len(caught.value.message.splitlines()) <= 2


def test_a_wrong_secret_is_not_shown() -> None:
    with pytest.raises(ValidationError) as caught:
        _credentials(password=5551234)
    assert "5551234" not in caught.value.message


@pytest.mark.parametrize("key", ["catalog", "location", "metadata", "pool_timeout", "auth"])
def test_other_keys_are_left_to_dbt(key: str) -> None:
    assert _credentials(**{key: "x"}).method == "session"


def test_embedded_conf_keeps_everything_in_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbt.adapters.spark_mv.spark.local.jars.jar_paths", lambda: ["/jars/a.jar"])
    conf = embedded_conf("/data/wh", {"spark.master": "spark://host:7077"})
    assert conf["spark.sql.catalog.local.warehouse"] == "/data/wh"
    assert conf["spark.sql.catalog.local.uri"].startswith("jdbc:sqlite:/data/wh/catalog.db?")
    assert conf["spark.driver.extraClassPath"] == conf["spark.jars"] == "/jars/a.jar"
