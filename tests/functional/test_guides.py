"""Every block of the guides is run, or checked against what it speaks of."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.functional.documents import ROOT, RUN_SQL, Reader, blocks, check_operation

GUIDES = {path.stem: path.read_text() for path in sorted((ROOT / "docs/guides").glob("*.md"))}
README = (ROOT / "README.md").read_text()
LANGUAGES = {"bash", "crontab", "python", "sql", "text", "yaml"}
# What these pages start from, and say so.
PROJECT_OF_THE_README = "the project of the [README](../../README.md)"


@pytest.fixture
def reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dbt_profile_target: dict[str, Any]
) -> Reader:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(tmp_path))
    monkeypatch.setenv("DBT_SEND_ANONYMOUS_USAGE_STATS", "false")
    reader = Reader(tmp_path, dbt_profile_target["spark_conf"])
    reader.write("macros/run_sql.sql", RUN_SQL)
    return reader


def make_project_of_the_readme(reader: Reader) -> None:
    """The files of its first example, without its commands of dbt."""
    first = blocks(README[: README.index("## Try it")])
    for language, text in first:
        if language in ("sql", "yaml") or text.startswith("mkdir"):
            reader.follow(language, text)


@pytest.mark.parametrize("page", [page for page, text in GUIDES.items() if blocks(text)])
def test_blocks_work(page: str, reader: Reader) -> None:
    if PROJECT_OF_THE_README in GUIDES[page]:
        make_project_of_the_readme(reader)
    for language, text in blocks(GUIDES[page]):
        reader.follow(language, text)


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
