from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_mv.spark.local import cds_archive

GB = 1 << 30


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was announced, where there is no archive yet and all the memory that it takes."""
    said: list[str] = []
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(cds_archive, "archive_path", lambda conf: tmp_path / "x.jsa")
    monkeypatch.setattr(cds_archive, "available_memory", lambda: 8 * GB)
    monkeypatch.setattr(cds_archive, "fire_event", lambda event: said.append(event.msg))
    return said


@pytest.fixture
def scheduled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []
    monkeypatch.setattr(cds_archive.atexit, "register", lambda *given: found.append(given))
    return found


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []

    def popen(*given: Any, **_: Any) -> None:
        found.append(given)
        raise OSError

    monkeypatch.setattr(cds_archive.subprocess, "Popen", popen)
    return found


def test_what_is_left_running_is_announced(told: list[str], scheduled: list[Any]) -> None:
    cds_archive.use_class_archive({})
    (line,) = told
    assert "class_data_archive: false in the profile" in line and "\n" not in line
    assert len(scheduled) == 1


@pytest.mark.parametrize("age", [0, cds_archive.MOST_SECONDS + 60])
def test_it_is_announced_once(
    told: list[str], scheduled: list[Any], tmp_path: Path, age: int
) -> None:
    """Not by commands that begin while it is running, but again if that one has died."""
    lock = cds_archive.lock_of(tmp_path / "x.jsa")
    lock.touch()
    os.utime(lock, (time.time() - age,) * 2)
    cds_archive.use_class_archive({})
    assert len(told) == len(scheduled) == (age > 0)


@pytest.mark.parametrize("value", ["true", "TRUE", "1"])
def test_nothing_is_left_running_in_ci(
    told: list[str], scheduled: list[Any], monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("CI", value)
    cds_archive.use_class_archive({})
    assert told == scheduled == []


def test_nor_where_memory_is_short(
    told: list[str], scheduled: list[Any], started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Now, or when dbt has ended."""
    cds_archive.use_class_archive({})
    monkeypatch.setattr(cds_archive, "available_memory", lambda: 4 * GB - 1)
    ((write, conf),) = scheduled
    write(conf)
    assert started == []
    cds_archive.use_class_archive({})
    assert len(told) == len(scheduled) == 1
    monkeypatch.setattr(cds_archive, "available_memory", lambda: 4 * GB)
    write(conf)
    assert len(started) == 1


def test_an_archive_is_used_anywhere(
    told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    (tmp_path / "x.jsa").touch()
    conf: dict[str, str] = {}
    cds_archive.use_class_archive(conf)
    assert "x.jsa" in conf[cds_archive.OPTIONS] and told == []


@pytest.mark.parametrize(
    ("most", "expected"), [("max", 6 * GB), (str(3 * GB), 2 * GB), (str(20 * GB), 6 * GB)]
)
def test_memory_is_that_of_the_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: str, expected: int
) -> None:
    (tmp_path / "meminfo").write_text(f"MemTotal: 9 kB\nMemAvailable: {6 * GB >> 10} kB\n")
    (tmp_path / "memory.max").write_text(f"{most}\n")
    (tmp_path / "memory.current").write_text(f"{GB}\n")
    monkeypatch.setattr(cds_archive, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(cds_archive, "_CGROUP", tmp_path)
    assert cds_archive.available_memory() == expected
    monkeypatch.setattr(cds_archive, "_MEMINFO", tmp_path / "nowhere")
    assert cds_archive.available_memory() > 0
