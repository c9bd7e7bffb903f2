"""docs/behaviours.md says which tests prove what, and no other text says that something is open."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from tests import behaviours

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(test_\w+)::(test_\w+)`")
# Words may be apart by a line break, a mark of a comment, or quotes between parts of a text.
OPEN = re.compile(r"""\b(?:not[\s#"'*_>]+yet|for[\s#"'*_>]+now)\b""", re.I)
SENTENCE = re.compile(r"\n\s*\n|\n(?=\|)|(?<=[.;])\s")
CODE = re.compile(r"\b[A-Z]\d{1,2}\b")
# What `make demo` leaves in its folder is not written by anybody.
MADE = {"target", "warehouse", "logs"}
TEXTS = sorted(
    path
    for folder in ("docs", "dbt/adapters", "macros", "integration_tests")
    for path in [*(ROOT / folder).rglob("*.*")]
    if path.suffix in {".md", ".json", ".py", ".sql", ".yml"}
    and path != behaviours.PAGE
    and MADE.isdisjoint(path.relative_to(ROOT).parts)
)


def open_ends(text: str, known: set[str]) -> list[str]:
    """The sentences that say "not yet" or "for now" and name no row that is open."""
    return [
        sentence
        for sentence in SENTENCE.split(text)
        if OPEN.search(sentence) and not set(CODE.findall(sentence)) & known
    ]


def test_page_is_made_of_the_marks() -> None:
    assert behaviours.PAGE.read_text() == behaviours.page(), "`make docs` writes it anew"


def test_marks() -> None:
    """Each has codes of the table that need a test, and stands where it is read."""
    rows = behaviours.rows()
    wrong = [
        (test, code)
        for test, codes in behaviours.marked()
        for code in codes
        if rows.get(code, "unknown")
    ]
    assert wrong == []
    written = [
        node
        for path in behaviours.TESTS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "behaviour"
    ]
    assert len(written) == len(list(behaviours.marked()))


def test_names_of_test_files() -> None:
    """No two are the same: the page names a file without its folder."""
    stems = Counter(path.stem for path in behaviours.TESTS.rglob("test_*.py"))
    assert [stem for stem, files in stems.items() if files > 1] == []


def test_rows() -> None:
    """Every row is read as one, and no code is there twice."""
    lines = re.findall(r"^\| (?!code)", behaviours.ROWS.read_text(), re.M)
    assert len(lines) == len(behaviours.rows())


def test_rows_without_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page says of each that is open that it is."""
    assert behaviours.page().count(f"| {behaviours.NOT_YET} |") == len(behaviours.open_codes())
    monkeypatch.setattr(behaviours, "marked", lambda: iter(()))
    lacking = behaviours.page().count(f"| {behaviours.NOT_YET} |")
    assert lacking == len(behaviours.open_codes()) > 100


def test_named_tests_exist() -> None:
    existing = {
        (path.stem, node.name)
        for path in behaviours.TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    }
    pages = [path.read_text() for path in (ROOT / "docs").rglob("*.md")]
    named = {test for page in pages for test in NAMED.findall(page)}
    assert named and named - existing == set()


def test_what_is_open_is_in_the_table() -> None:
    """A sentence that says so names the row, which no test proves: `not yet (C20)`."""
    known = behaviours.open_codes()
    found = {
        str(path.relative_to(ROOT)): open_ends(path.read_text(), known)
        for path in [*TEXTS, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    }
    assert {path: sentences for path, sentences in found.items() if sentences} == {}


def test_an_open_end_is_found() -> None:
    for text in ("| NOT yet | x |", "x is not\n# yet done (A1)", '"Wrong for "\n"now."'):
        assert open_ends(text, {"C20"}) == [text]
    assert open_ends("It is. Not yet, though. (C20)", {"C20"}) == ["Not yet, though."]
    right = "Rewriting is not yet built (C20).\n\nNot, yet; for nowhere."
    assert open_ends(right, {"C20"}) == []
