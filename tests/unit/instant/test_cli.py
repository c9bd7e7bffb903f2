"""What `spark-mv` says where it has no answer."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
import tomllib
import yaml

from dbt.adapters.spark_mv.instant.cli import FAILED, NEEDS_SPARK, main

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.fixture
def options(tmp_path: Path) -> list[str]:
    """Options that name a profile of a server."""
    target = {"type": "spark_mv", "method": "thrift", "schema": "s", "host": "h"}
    profiles = {"shop": {"target": "dev", "outputs": {"dev": target}}}
    (tmp_path / "profiles.yml").write_text(yaml.safe_dump(profiles))
    return ["--profiles-dir", str(tmp_path), "--profile", "shop"]


def test_the_program_is_there() -> None:
    scripts = tomllib.loads(PROJECT.read_text())["project"]["scripts"]
    module, _, function = scripts["spark-mv"].partition(":")
    assert getattr(importlib.import_module(module), function) is main


def test_needs_spark(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Two lines: why, and the command of dbt with everything that was said."""
    assert main(["history", "--view", "a b", "--limit", "3", *options]) == NEEDS_SPARK
    why, way_out = capsys.readouterr().err.splitlines()
    assert why == "history needs Spark: the target dev has the method thrift."
    asked = """dbt run-operation history --args '{"view": "a b", "limit": 3}' --profiles-dir"""
    assert way_out.startswith(f"Run `{asked}") and "--profile shop`" in way_out


def test_no_profile(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", *options, "--target", "prod"]) == FAILED
    assert len(capsys.readouterr().err.splitlines()) == 2


@pytest.mark.parametrize(
    "words", [[], ["verify"], ["explain", "--all"], ["status", "--limit", "1"]]
)
def test_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2 and "usage: spark-mv" in capsys.readouterr().err
