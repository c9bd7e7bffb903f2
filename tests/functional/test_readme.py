"""Every block of README.md is run, or checked against what it speaks of."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.functional.documents import ROOT, blocks, reader_in

README = (ROOT / "README.md").read_text()
BLOCKS = blocks(README)


def test_blocks_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dbt_profile_target: dict[str, Any]
) -> None:
    reader = reader_in(tmp_path, monkeypatch, dbt_profile_target)
    for language, text in BLOCKS:
        reader.follow(language, text)
    reader.follow("bash", "dbt build")
    assert any("PASS matches_its_query_sales_" in line for line in reader.output)


def test_every_fence_is_a_block_with_a_language() -> None:
    assert README.count("```") == 2 * len(BLOCKS)
    assert {language for language, _ in BLOCKS} == {"bash", "yaml", "sql", "text"}


def test_promise_fits_on_one_screen() -> None:
    lines = README.splitlines()
    assert len(lines) <= 200
    assert lines.index("## Try it") <= 47


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))])
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text())
    local = [link for link in links if "://" not in link]
    assert not [link for link in local if not (page.parent / link).exists()]
