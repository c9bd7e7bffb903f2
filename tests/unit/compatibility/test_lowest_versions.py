"""The lowest versions are read off the ranges of pyproject.toml."""

from pathlib import Path

import pytest
import tomllib
from packaging.requirements import Requirement

from tests.compatibility.__main__ import KINDS, asked
from tests.compatibility.constraints import lowest, requirements

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


def test_beginnings_of_ranges() -> None:
    wanted = [Requirement("a>=1.10.9,<2"), Requirement("b[x]~=3.1"), Requirement("c==2")]
    assert lowest(wanted) == ["a==1.10.9", "b==3.1", "c==2"]


@pytest.mark.parametrize("text", ["a", "a<2", "a>1,<2"])
def test_a_range_without_beginning(text: str) -> None:
    with pytest.raises(ValueError, match="does not say where its range begins"):
        lowest([Requirement(text)])


def test_every_dependency_has_a_lowest_version() -> None:
    wanted = requirements(tomllib.loads(PROJECT.read_text()))
    assert {"dbt-core", "sqlglot", "pyspark"} <= {one.name for one in wanted}
    assert len(lowest(wanted)) == len(wanted)


def test_sets_of_versions() -> None:
    assert tuple(asked([])) == KINDS
    assert asked(["lowest"]) == ["lowest"]


def test_a_misspelled_set(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        asked(["lowest", "lowets"])
    assert "lowets is not one of" in capsys.readouterr().err
