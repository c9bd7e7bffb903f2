"""The files in deltas/: a view, a change of its tables, and the queries that bring its rows up to
date, to be read.

A file begins with what it is about, the view, and the change. The rest is written by `make deltas`,
after a rule was changed on purpose: read what then differs.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import sqlglot

from dbt.adapters.spark_mv.ivm.algebra.terms import named_columns
from dbt.adapters.spark_mv.ivm.program import Rows, rows_after
from tests.unit.ivm.formulas import TABLES, program_of

FOLDER = Path(__file__).parent / "deltas"
FILES = sorted(FOLDER.glob("*.sql"))
# In this file the rows that come of a net change are written out.
APPLIED_IN = "filter_deletes"
_HEAD = re.compile(
    r"(?P<about>(?:-- .*\n)+)\n(?P<view>[^;]+);\n\n"
    r"-- Changed: (?P<tables>[\w, ]+?)(?P<inserts> \(inserts only\))?\n"
)


@dataclass(frozen=True)
class Case:
    """What a file is about: `head` is its text so far."""

    head: str
    view: str
    changed: frozenset[str]
    inserts_only: bool


def case_of(path: Path) -> Case:
    """What a file is about."""
    found = _HEAD.match(path.read_text())
    assert found is not None, f"{path.name} has not the form that {__name__} describes"
    changed = frozenset(found["tables"].split(", "))
    assert changed <= set(TABLES)
    return Case(found[0], found["view"], changed, found["inserts"] is not None)


def text_of(path: Path) -> str:
    """What a file has to be."""
    case = case_of(path)
    program = program_of(case.view)
    names = named_columns(program.query)
    after = rows_after(program, case.changed, case.inserts_only, ["int"] * len(names))
    parts = [f"{case.head}-- Kept: {program}\n"]
    for name, query in after.named.items():
        parts.append(f"-- {name}\n{query.sql('spark', pretty=True)};\n")
    parts.append(_applied(after, program.first is None and path.stem != APPLIED_IN))
    return "\n".join(parts)


def _applied(after: Rows, briefly: bool) -> str:
    if briefly and "AS mv_copy" in after.query:
        net = list(after.named)[-1]
        return f"-- The net change {net} is applied to the stored rows as in {APPLIED_IN}.sql\n"
    verb = "Rows to be added to the stored ones" if after.appends else "Stored rows after it"
    body = sqlglot.parse_one(after.query, read="spark")
    return f"-- {verb}\n{body.sql('spark', pretty=True)};\n"


def main() -> int:
    """Write all files anew."""
    for path in FILES:
        path.write_text(text_of(path))
    return 0


if __name__ == "__main__":
    sys.exit(main())
