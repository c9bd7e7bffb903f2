import hashlib
import os
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_mv.spark.local import jars


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("DBT_SPARK_MV_JARS_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("DBT_SPARK_MV_MAVEN_URL", (tmp_path / "mirror").as_uri())
    folder = tmp_path / "mirror" / "org" / "x" / "a" / "1"
    folder.mkdir(parents=True)
    (folder / "a-1.jar").write_bytes(b"content")
    return folder


def _jar(content: bytes) -> jars.Jar:
    return jars.Jar("org.x", "a", "1", hashlib.sha256(content).hexdigest())


def test_a_missing_jar_is_downloaded_once(mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "JARS", (_jar(b"content"),))
    (path,) = jars.jar_paths()
    (mirror / "a-1.jar").unlink()
    assert jars.jar_paths() == [path] and path.read_bytes() == b"content"


def test_another_content_is_refused(mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "JARS", (_jar(b"other"),))
    with pytest.raises(DbtRuntimeError, match="SHA-256 differs") as caught:
        jars.jar_paths()
    assert len(str(caught.value.msg).splitlines()) == 2
    assert list((jars.cache_folder() / "jars").iterdir()) == []


def test_a_folder_of_the_users_comes_first(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a-1.jar").write_bytes(b"content")
    monkeypatch.setenv("DBT_SPARK_MV_JARS_DIR", str(tmp_path))
    monkeypatch.setattr(jars, "JARS", (_jar(b"content"),))
    assert jars.jar_paths() == [tmp_path / "a-1.jar"]


def test_another_content_in_that_folder_is_an_error(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a-1.jar").write_bytes(b"mine")
    monkeypatch.setenv("DBT_SPARK_MV_JARS_DIR", str(tmp_path))
    monkeypatch.setattr(jars, "JARS", (_jar(b"content"),))
    with pytest.raises(DbtRuntimeError, match="is not the published file") as caught:
        jars.jar_paths()
    assert str(tmp_path / "a-1.jar") in str(caught.value)
    assert len(str(caught.value.msg).splitlines()) == 2


def test_another_content_in_the_cache_is_replaced(
    mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one of the same size and time: it is the content that is checked, at each use."""
    monkeypatch.setattr(jars, "JARS", (_jar(b"content"),))
    told: list[str] = []
    (path,) = jars.jar_paths()
    before = path.stat()
    path.write_bytes(b"tampers")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    monkeypatch.setattr(jars, "fire_event", lambda event: told.append(event.msg))
    assert jars.jar_paths() == [path] and path.read_bytes() == b"content"
    assert "is not the published file" in told[0] and "Downloading" in told[1]
