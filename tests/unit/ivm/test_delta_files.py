"""The queries that bring a view's rows up to date are those that were read and found right."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.ivm.checks import holds
from tests.unit.ivm.delta_files import FILES, case_of, text_of
from tests.unit.ivm.formulas import Engine, first_rows_are_right, program_of, refresh_is_right

# The forms are those of queries.py, of which there are more rounds.
ROUNDS = 4


def _name(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_file_is_up_to_date(path: Path) -> None:
    assert path.read_text() == text_of(path), "`make deltas` writes it anew; read what differs"


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_view_is_brought_up_to_date(engine: Engine, path: Path) -> None:
    view = case_of(path).view
    # Of rows behind the first ones only some need to be in reserve.
    has_first = program_of(view).first is not None
    assert holds(first_rows_are_right if has_first else refresh_is_right, engine, view, ROUNDS)
