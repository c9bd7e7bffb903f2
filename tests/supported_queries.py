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

A fast refresh reads the changes of the base tables, and produces the same rows as a complete
refresh. For a view, `explain` states whether a fast refresh is possible, and if not, why not.
[Decision 0008](decisions/0008-fast-refresh.md) describes how it works.

You can nest and combine the forms: a query supports fast refresh if each of its parts does. The
column "By partition" lists the columns of the examples by which a view of this form can be
refreshed by partition, whichever table changes; see [by partition](#by-partition).

The examples are queries over these tables:

"""
PARTITIONS = """\
## By partition

If the view has `partition_by`, a refresh by partition recomputes only the partitions whose rows may
have changed; see [decision 0009](decisions/0009-refresh-by-partition.md).

"""
CLOSING = """\
A refresh by partition recomputes all operators below GROUP BY and windows for the partition.
Values that depend on the order of rows, and windows inside of groups, are therefore supported.

## The tables and views

Both methods need base tables, and logical views over them, that meet these conditions:

| Condition | Reason if it is not met |
|---|---|
| each base table is an Iceberg table that can be pinned | `NOT_PINNED` |
| its columns are those of the last refresh, and new ones that are not used | `SCHEMA_CHANGED` |
| the version that the label names has not expired | `VERSION_GONE` |
| no logical view between is one of Spark's own catalog | `SPARK_VIEW` |
| the tables still have every column that the query names | `COLUMN_GONE` |

With `refresh_method: auto` a refresh is fast if its cost estimate is clearly lower than that of a
complete refresh. For tables of less than about 1.2 million rows it is complete (`NOT_CHEAPER`).
"""
HEADINGS = {
    "row by row": "Fast: row by row",
    "changes are added to its groups": "Fast: changes are added to stored groups",
    "groups of changed rows are recomputed": "Fast: groups of changed rows are recomputed",
    "rows with the keys of changed rows are recomputed": (
        "Fast: rows with the keys of changed rows are recomputed"
    ),
    "the first rows, from those that are stored, some in reserve, and those that came": (
        "Fast: the top-N, from stored rows and new rows"
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
