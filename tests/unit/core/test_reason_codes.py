"""Codes of reasons are declared in one place, and the page of errors and reasons is up to date."""

from __future__ import annotations

import ast
import re

import pytest

from dbt.adapters.spark_mv.core.reason_codes import CODES, FRESHNESS, METHODS, REFRESHES, REWRITING
from dbt.adapters.spark_mv.core.reasons import Reason
from tests import error_docs
from tests.texts import calls, trees


def _made() -> set[str]:
    return {code for call in calls(error_docs.MAKERS) if (code := error_docs.code_of(call))}


def test_page_is_made_of_the_source() -> None:
    assert error_docs.PAGE.read_text() == error_docs.page(), "`make docs` writes it anew"


def test_codes_made_are_declared_and_the_reverse() -> None:
    assert _made() == set(CODES)


def test_codes_are_literals() -> None:
    """Otherwise the test above would not see them; only that of another reason is none."""
    for call in calls(error_docs.MAKERS):
        code = call.node.args[0]
        passed = isinstance(code, ast.Attribute) and code.attr == "code"
        passed = passed or call.module.endswith(("ivm.algebra.terms", "rewrite.unmatched"))
        assert passed or error_docs.code_of(call), ast.unparse(call.node)


def test_no_reason_is_written_as_a_text() -> None:
    """It would have a code that nobody declares."""
    nodes = [node for tree in trees().values() for node in ast.walk(tree)]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    written = [t for t in texts if isinstance(t, str) and re.match(r"[A-Z]+(_[A-Z]+)*: [a-z]", t)]
    assert written == []


def test_code_is_declared_once() -> None:
    assert len(CODES) == len(FRESHNESS) + len(REFRESHES) + len(METHODS) + len(REWRITING)


@pytest.mark.parametrize("code", CODES)
def test_meaning_is_a_sentence(code: str) -> None:
    said = CODES[code]
    assert said.meaning[0].isupper() and said.meaning.endswith(".")
    assert said.way_out == "" or (said.way_out[0].isupper() and said.way_out.endswith("."))
    assert Reason(code, "text").way_out == said.way_out


def test_method_has_a_way_out() -> None:
    assert all(said.way_out for said in METHODS.values())


def test_every_error_says_what_it_means_and_is_raised() -> None:
    page = error_docs.page()
    for item in error_docs.error_classes():
        assert f"### {item.__name__}\n\n{item.__doc__}" in page
        assert any(calls({item.__name__})), item
