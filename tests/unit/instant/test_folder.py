"""What files cannot answer is said, and never guessed."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_mv.core.errors import InvalidArgument, NeedsSpark
from dbt.adapters.spark_mv.core.executor import ViewFacts
from dbt.adapters.spark_mv.instant.executor import FileExecutor
from dbt.adapters.spark_mv.instant.file_catalog import FileCatalog, local_path
from dbt.adapters.spark_mv.instant.folder import Folder, ask

TABLE = ("local", "shop", "orders")
METADATA = {
    "format-version": 2,
    "current-schema-id": 0,
    "schemas": [{"schema-id": 0, "fields": [{"name": "id", "type": "long"}]}],
    "default-spec-id": 0,
    "partition-specs": [{"spec-id": 0, "fields": []}],
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with an empty catalog."""
    with sqlite3.connect(tmp_path / "catalog.db") as database:
        database.execute(
            "create table iceberg_tables(catalog_name, table_namespace, table_name, "
            "metadata_location, previous_metadata_location, iceberg_type)"
        )
    return tmp_path


def put(home: Path, content: bytes | dict[str, Any] | None, kind: str | None = "TABLE") -> Path:
    """Put the table `orders` into the catalog; None as content is a file that is not there."""
    file = home / "v1.metadata.json"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with sqlite3.connect(home / "catalog.db") as database:
        database.execute(
            "insert into iceberg_tables values ('local', 'shop', 'orders', ?, null, ?)",
            (str(file), kind),
        )
    return file


def catalog(home: Path) -> FileCatalog:
    return FileCatalog(str(home), ("default",))


@pytest.mark.parametrize("content", [METADATA, gzip.compress(json.dumps(METADATA).encode())])
@pytest.mark.parametrize("kind", ["TABLE", None])
def test_a_table(home: Path, content: Any, kind: str | None) -> None:
    put(home, content, kind)
    facts = catalog(home).lookup(TABLE)
    assert facts is not None and not isinstance(facts, ViewFacts)
    assert (facts.provider, facts.snapshot_id, facts.schema_id) == ("iceberg", None, 0)
    assert catalog(home).lookup(("local", "shop", "Orders")) is None


@pytest.mark.parametrize(
    ("content", "kind", "why"),
    [
        (None, "TABLE", "metadata of local.shop.orders is gone"),
        (b"{", "TABLE", "cannot be read"),
        (b"\x1f\x8b{", "TABLE", "cannot be read"),
        ({**METADATA, "format-version": 4}, "TABLE", "of an unknown format"),
        ({"format-version": 2}, "TABLE", "of an unknown form"),
        ({**METADATA, "current-snapshot-id": 7}, "TABLE", "of an unknown form"),
        (METADATA, "FUNCTION", "what the catalog has as local.shop.orders"),
        (METADATA, "VIEW", "of an unknown form"),
    ],
)
def test_what_cannot_be_read(home: Path, content: Any, kind: str, why: str) -> None:
    put(home, content, kind)
    with pytest.raises(NeedsSpark, match=why):
        catalog(home).lookup(TABLE)


def test_a_part_of_a_table(home: Path) -> None:
    put(home, METADATA)
    with pytest.raises(NeedsSpark, match="part of a table"):
        catalog(home).lookup((*TABLE, "history"))


def test_a_new_commit_is_seen(home: Path) -> None:
    """The same client reads what another process has committed since, though it keeps files."""
    put(home, METADATA)
    client = catalog(home)
    client.lookup(TABLE)
    other = home / "v2.metadata.json"
    other.write_text(json.dumps({**METADATA, "current-schema-id": 1}))
    with sqlite3.connect(home / "catalog.db") as database:
        database.execute("update iceberg_tables set metadata_location = ?", (f"file:{other}",))
    facts = client.lookup(TABLE)
    assert facts is not None and not isinstance(facts, ViewFacts) and facts.schema_id == 1


def test_nothing_is_written(home: Path) -> None:
    put(home, METADATA)
    client = catalog(home)
    small = client.small_table(TABLE, ["id"])
    assert small is not None
    writes = (
        lambda: client.create_branch(TABLE, "b", "1", 1),
        lambda: client.publish(TABLE, "b", []),
        lambda: client.drop_branches(TABLE, []),
        lambda: small.append([]),
        lambda: small.compact(0, 1),
    )
    for write in writes:
        with pytest.raises(NeedsSpark):
            write()


def test_small_tables(home: Path) -> None:
    spec = {"spec-id": 0, "fields": [{"transform": "identity", "source-id": 1}]}
    put(home, {**METADATA, "partition-specs": [spec]})
    assert catalog(home).small_table(TABLE, ["id"]) is None
    assert catalog(home).small_table((*TABLE[:2], "others"), ["id"]) is None


def test_a_column_that_is_not_there(home: Path) -> None:
    put(home, METADATA)
    assert catalog(home).small_table(TABLE, ["id", "at"]) is None


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("/a b/c", "/a b/c"),
        ("file:/a", "/a"),
        ("file:///a%20b", "/a%20b"),
        ("/odd:name/x", "/odd:name/x"),
    ],
)
def test_paths(location: str, path: str) -> None:
    assert local_path(location) == path


@pytest.mark.parametrize("location", ["s3a://bucket/a", "hdfs:/a", "a/b", ""])
def test_files_elsewhere(location: str) -> None:
    with pytest.raises(NeedsSpark, match="is not a"):
        local_path(location)


def test_columns(home: Path) -> None:
    """Names and types are those that Spark gives; a table that is not there has none."""
    put(home, METADATA)
    assert catalog(home).columns(TABLE) == [("id", "bigint")]
    assert catalog(home).columns(("local", "shop", "others")) is None


def test_statements(home: Path) -> None:
    """None is answered, nor what only a session knows."""
    put(home, METADATA)
    for sql in ("SELECT 1", "DESCRIBE QUERY SELECT * FROM `local`.`shop`.`orders`"):
        with pytest.raises(NeedsSpark, match="Spark has to be asked"):
            FileExecutor(catalog(home)).query(sql)
    with pytest.raises(NeedsSpark, match="settings of a session"):
        catalog(home).settings()
    with pytest.raises(NeedsSpark, match="the setting x is asked for"):
        catalog(home).setting("x")


@pytest.mark.parametrize(
    "settings",
    [
        {"spark.sql.catalog.local.uri": "jdbc:postgresql:x"},
        {"spark.sql.catalog.other": "org.apache.iceberg.spark.SparkCatalog"},
        {"spark.sql.defaultCatalog": "other"},
        {"spark.hadoop.fs.defaultFS": "hdfs://x"},
    ],
)
def test_other_catalogs(home: Path, settings: dict[str, str]) -> None:
    with pytest.raises(NeedsSpark, match="the profile sets"):
        ask(Folder(str(home), "shop", settings=settings), "status", {}, (), print)


@pytest.mark.parametrize("way", ["arguments", "file"])
def test_settings_of_the_machine(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """They may have catalogs, too; others change nothing."""
    folder, line = Folder(str(home), "shop"), "spark.sql.catalog.other=x"
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    (tmp_path / "spark-defaults.conf").write_text("spark.master local")
    assert ask(folder, "status", {}, (), print).notes == ("no materialized views",)
    if way == "arguments":
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--conf {line} pyspark-shell")
    else:
        (tmp_path / "spark-defaults.conf").write_text(line)
    with pytest.raises(NeedsSpark, match="has settings of catalogs"):
        ask(folder, "status", {}, (), print)


def test_harmless_settings(home: Path) -> None:
    settings = {
        "spark.sql.catalog.local.default-namespace": "a.b",
        "spark.sql.defaultCatalog": "local",
        "spark.driver.memory": "1g",
    }
    folder = Folder(str(home), "shop", settings=settings)
    assert folder.home == ("a", "b")
    assert ask(folder, "history", {}, (), print).rows == ()


@pytest.mark.parametrize("damage", ["no folder", "no database", "no table"])
def test_no_catalog(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "lake"
    if damage != "no folder":
        path.mkdir()
        (path / "catalog.db").write_bytes(b"text" * 100 if damage == "no database" else b"")
    with pytest.raises(NeedsSpark, match=r"catalog\.db"):
        ask(Folder(str(path), "shop"), "status", {}, (), print)
    assert path.exists() is (damage != "no folder")


def test_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="limit cannot be 0"):
        ask(Folder(str(tmp_path), "shop"), "history", {"limit": 0}, (), print)
