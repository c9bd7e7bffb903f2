"""Every block of the guides is run, or checked against what it speaks of."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import tomllib
import yaml
from packaging.version import Version

from dbt.adapters.spark_mv.spark.local import jars, java
from tests.compatibility.constraints import lowest, requirements
from tests.functional.documents import ROOT, Reader, blocks, check_operation, reader_in
from tests.functional.servers import hive_server, postgres_server, rest_server

GUIDES = {path.stem: path.read_text() for path in sorted((ROOT / "docs/guides").glob("*.md"))}
README = (ROOT / "README.md").read_text()
LANGUAGES = {"bash", "crontab", "python", "sql", "text", "yaml"}
# What these pages start from, and say so.
PROJECT_OF_THE_README = "the project of the [README](../../README.md)"


@pytest.fixture
def reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dbt_profile_target: dict[str, Any]
) -> Reader:
    return reader_in(tmp_path, monkeypatch, dbt_profile_target)


def make_project_of_the_readme(reader: Reader) -> None:
    """The files of its first example, without its commands of dbt."""
    first = blocks(README[: README.index("## Try it")])
    for language, text in first:
        if language in ("sql", "yaml") or text.startswith("mkdir"):
            reader.follow(language, text)


@pytest.mark.parametrize("page", [page for page, text in GUIDES.items() if blocks(text)])
def test_blocks_work(page: str, reader: Reader) -> None:
    if PROJECT_OF_THE_README in " ".join(GUIDES[page].split()):
        make_project_of_the_readme(reader)
    for language, text in blocks(GUIDES[page]):
        reader.follow(language, text)


def test_a_line_that_was_not_printed_is_found(tmp_path: Path) -> None:
    """Times and widths may differ, values, words and their order may not."""
    reader = Reader(tmp_path, {}, ["last_refresh         rows", "2026-11-21 04:22:11     2", "OK"])
    reader.compare("last_refresh  rows\n2026-01-01 00:00:00  2\nOK\n")
    for wrong in ("2026-11-21 04:22:11  3", "OK\nlast_refresh", "missing"):
        with pytest.raises(AssertionError, match="is not in"):
            reader.compare(wrong)


def test_arguments_that_no_operation_has_are_found() -> None:
    check_operation(["run-operation", "refresh", "--args", "{view: sales, method: fast}"])
    with pytest.raises(AssertionError):
        check_operation(["run-operation", "refresh", "--args", "{model: sales}"])


@pytest.mark.parametrize("page", GUIDES)
def test_every_fence_is_a_block_with_a_language(page: str) -> None:
    found = blocks(GUIDES[page])
    assert GUIDES[page].count("```") == 2 * len(found)
    assert {language for language, _ in found} <= LANGUAGES


@pytest.mark.parametrize("page", GUIDES)
def test_operations_named_in_sentences_exist(page: str) -> None:
    """Also where a command is only spoken of."""
    for command in re.findall(r"`dbt (run-operation [^`]+)`", GUIDES[page]):
        check_operation(shlex.split(command))


def test_versions_are_those_that_are_pinned() -> None:
    """What docs/guides/compatibility.md calls tested is what the tests run with, and the lowest
    of each range, which `make compat` runs."""
    section = GUIDES["compatibility"].split("\n## ")[1]
    rows = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|", section, re.M)
    tested = {name.split()[0].lower(): version for name, version in rows}
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.M))
    packages = ("pyspark", "dbt-core", "dbt-adapters", "dbt-spark", "sqlglot")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    begins = dict(line.split("==") for line in lowest(requirements(project)))
    for name in packages:
        first, last = (tested[name].split(", ") * 2)[:2]
        assert (Version(first), last) == (Version(begins[name]), pinned[name])
    iceberg, sqlite = jars.JARS
    assert (tested["iceberg"], tested["sqlite"]) == (iceberg.version, sqlite.version)
    assert f"the driver {postgres_server.DRIVER.version}" in GUIDES["compatibility"]
    assert tested["java"] == str(java.OLDEST_JAVA)


def test_settings_of_the_catalog_are_those_of_the_tests() -> None:
    """Those of docs/guides/production.md are those of tests/functional/servers."""
    texts = [text for _, text in blocks(GUIDES["production"])]
    (target,) = [text for text in texts if text.startswith("# target")]
    found = [yaml.safe_load(target)["spark_conf"]]
    found += [yaml.safe_load(text) for text in texts if text.startswith("# spark_conf")]
    assert set(found[0]) == set(postgres_server.catalog_conf("", ""))
    # The second is for servers that have clients of their own.
    rest, hive, session = found[2:]
    for conf, tested in (
        (rest, rest_server.catalog_conf("")),
        (hive, hive_server.catalog_conf("")),
        (session, hive_server.session_catalog_conf("")),
    ):
        assert set(conf) == set(tested)
        assert all(conf[key] == value for key, value in tested.items() if value)


def test_requirements_are_those_of_the_package() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    said = GUIDES["compatibility"]
    for requirement, sentence in (
        ('requires-python = ">=3.10"', "| 3.10 and newer |"),
        ('"dbt-core>=1.10.9,<1.12"', "| 1.10.9 and newer, 1.11 | 1.12 and newer |"),
        ('"dbt-adapters>=1.24.1,<2"', "| 1.24.1 and newer, below 2 |"),
        ('"dbt-spark>=1.11,<1.12"', "| 1.11 | others |"),
        ('"sqlglot>=30.19,<31"', "| 30.19 and newer, below 31 | others |"),
        ('"pyspark>=4.1,<4.2"', "| 4.1 | others |"),
    ):
        assert requirement in project and sentence in said


@pytest.mark.parametrize("page", GUIDES)
def test_named_tests_exist(page: str) -> None:
    modules = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    assert set(re.findall(r"`(test_\w+)`", GUIDES[page])) <= modules


@pytest.mark.parametrize("page", GUIDES)
def test_headings_that_are_linked_exist(page: str) -> None:
    """Links to files are the business of test_readme.py."""
    for file, anchor in re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", GUIDES[page]):
        target = (ROOT / "docs/guides" / file) if file else (ROOT / "docs/guides" / f"{page}.md")
        headings = re.findall(r"^#+ (.+)$", target.read_text(), re.M)
        assert anchor in {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}
