"""Views and queries by hand: the exact text, or why there is none; and the same rows on DuckDB."""

from __future__ import annotations

import pytest

from tests.unit.rewrite.fixture_files import Case, every_case
from tests.unit.rewrite.harness import Tables, answered, stored_view, text_of
from tests.unit.rewrite.lake import SETS, Lake

CASES = every_case()
ANSWERED = [case for case in CASES if not case.expected.startswith("no: ")]


def name(case: Case) -> str:
    return case.name


def test_names_are_those_of_one_case() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=name)
def test_text(case: Case) -> None:
    assert case.found == case.expected


@pytest.mark.parametrize("case", ANSWERED, ids=name)
def test_rows(case: Case, lake: Lake) -> None:
    tables = Tables()
    view = stored_view(case.view, [*case.types], tables)
    for number in range(SETS):
        lake.use(number)
        lake.store(case.view, [column.name for column in view.columns])
        assert lake.rows(case.expected) == lake.rows(case.query)


@pytest.mark.parametrize("case", ANSWERED, ids=name)
def test_text_is_its_own_normal_form(case: Case) -> None:
    """A view of the stored rows as they are answers the text with the same rows again."""
    stored = dict(zip(names(case), case.types, strict=True))
    tables = Tables({**Tables().known, "mv_rows": stored})
    whole = stored_view(f"SELECT {', '.join(stored)} FROM mv_rows", [*case.types], tables)
    text = case.expected.replace("mv_table_", "mv_other_")
    once = text_of(answered(text, whole, tables))
    twice = once.replace("mv_table_", "mv_other_")
    assert text_of(answered(twice, whole, tables)) == once


def names(case: Case) -> list[str]:
    view = stored_view(case.view, [*case.types], Tables())
    return [column.name for column in view.columns]
