"""`make docs`: writes docs/supported_queries.md, whose tables are what the classifier says of the
examples in tests/unit/ivm/constructs*.py."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.unit.ivm.classified import (
    FORMS,
    PARTITIONED,
    SOME,
    Verdict,
    against_partition,
    verdicts,
)
from tests.unit.ivm.constructs import Construct
from tests.unit.ivm.shop import TABLES

PAGE = Path(__file__).parents[1] / "docs" / "supported_queries.md"
INTRODUCTION = """\
<!-- Written by `make docs` from what the classifier says of the examples; change those instead:
tests/unit/ivm/constructs*.py, and tests/supported_queries.py for the rest. -->
# Queries that can be refreshed fast, or by partition

A fast refresh works on what changed in the base tables, and leaves the rows that a complete one
would. `explain` says for one view whether it is possible, and what stands against it. How it works,
and how exactly: [decision 0008](decisions/0008-fast-refresh.md).

Forms may stand in each other: a query is refreshed fast if each of its parts can be. "By partition"
says by which columns of the examples a view of this form can be refreshed by partition, whichever
table changes; [more of that](#by-partition) is below.

The examples are queries over these tables:

"""
PARTITIONS = """\
## By partition

If the view has `partition_by`, those partitions are recomputed whose rows may have changed:
[decision 0009](decisions/0009-refresh-by-partition.md).

"""
CLOSING = """\
Whatever stands below GROUP BY and windows is recomputed by partition, so values that depend on
the order of rows, and windows inside of groups, are no hindrance.

## The tables

For both methods the base tables are to be

| Base tables | Reason if not |
|---|---|
| Iceberg tables, read at fixed versions | `NOT_PINNED` |
| whose columns were not altered since the last refresh | `SCHEMA_CHANGED` |
| whose version of then has not expired | `VERSION_GONE` |

By itself (`refresh_method: auto`) a view is refreshed fast if that is estimated to cost clearly
less than a complete refresh: tables of less than some 1.2 million rows are read whole
(`NOT_CHEAPER`).
"""
HEADINGS = {
    "row by row": "Fast: row by row",
    "changes are added to its groups": "Fast: changes are added to stored groups",
    "groups of changed rows are recomputed": "Fast: groups of changed rows are recomputed",
    "the first rows, from those that are stored, some in reserve, and those that came": (
        "Fast: the first rows, from those that are stored and those that came"
    ),
    "": "Not fast",
}


def page() -> str:
    """The whole page."""
    tables = "".join(
        f"- `{name}`: {', '.join(f'{column} {kind}' for column, kind in columns.items())}\n"
        for name, columns in TABLES.items()
    )
    found = [(construct, verdicts(construct)) for construct in FORMS]
    parts = [INTRODUCTION, tables, "\n"]
    assert all(verdicts[0].outcome[0] in HEADINGS for _, verdicts in found)
    for outcome, heading in HEADINGS.items():
        rows = [pair for pair in found if pair[1][0].outcome[0] == outcome]
        parts += [f"## {heading}\n\n", _refused(rows) if outcome == "" else _fast(rows), "\n"]
    return "".join([*parts, PARTITIONS, _partitioned(), "\n", CLOSING])


def _fast(rows: Sequence[tuple[Construct, list[Verdict]]]) -> str:
    return _table(
        ("In the query", "Example", "Remarks", "By partition"),
        (
            (construct.title, _examples(construct), _remarks(construct, found), _columns(found))
            for construct, found in rows
        ),
    )


def _remarks(construct: Construct, found: list[Verdict]) -> str:
    reasons = dict.fromkeys(item.not_added.text for item in found if item.not_added)
    against = [f"why not added to: {text}" for text in reasons]
    return "; ".join([*([construct.note] if construct.note else []), *against])


def _refused(rows: Sequence[tuple[Construct, list[Verdict]]]) -> str:
    return _table(
        ("In the query", "Example", "Reason", "Why, and the way out", "By partition"),
        (
            (
                construct.title,
                _examples(construct),
                f"`{found[0].reason.code}`",
                "; ".join(text for text in (found[0].reason.text, construct.note) if text),
                _columns(found),
            )
            for construct, found in rows
            if found[0].reason is not None
        ),
    )


def _partitioned() -> str:
    rows = []
    for construct in PARTITIONED:
        reason = against_partition(construct)[0]
        why = "; ".join(text for text in (reason.text if reason else "", construct.note) if text)
        named = f"`{construct.partition_by}`: " if construct.partition_by else ""
        title = f"{named}{construct.title}"
        says = ("no", f"`{reason.code}`") if reason else ("yes", "")
        rows.append((title, _examples(construct), *says, why))
    return _table(
        ("A column of `partition_by` in the query", "Example", "By partition", "Reason", "Why"),
        rows,
    )


def _examples(construct: Construct) -> str:
    settings = [f"`{name} = {value}`" for name, value in construct.settings]
    return "<br>".join([*settings, *(f"`{example}`" for example in construct.examples)])


def _columns(found: list[Verdict]) -> str:
    says = found[0].by_partition
    if says != SOME:
        return says
    names = dict.fromkeys(name for item in found for name in item.columns)
    return ", ".join(f"`{name}`" for name in names)


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "".join(re.sub(r" +", " ", f"| {' | '.join(line)} |") + "\n" for line in lines)


def main() -> int:
    """Write the page."""
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
