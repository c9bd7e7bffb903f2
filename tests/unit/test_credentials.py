import os
from typing import Any

import pytest
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.spark_mv.credentials import SparkMVCredentials
from dbt.adapters.spark_mv.embedded import embedded_conf


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


def test_embedded_conf_keeps_everything_in_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbt.adapters.spark_mv.jars.jar_paths", lambda: ["/jars/a.jar"])
    conf = embedded_conf("/data/wh", {"spark.master": "spark://host:7077"})
    assert conf["spark.sql.catalog.local.warehouse"] == "/data/wh"
    assert conf["spark.sql.catalog.local.uri"].startswith("jdbc:sqlite:/data/wh/catalog.db?")
    assert conf["spark.driver.extraClassPath"] == conf["spark.jars"] == "/jars/a.jar"
