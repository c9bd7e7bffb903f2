"""docs/errors_and_reasons.md: the classes of errors and the codes of reasons, with the texts that
the package makes of them.

`python -m tests.error_docs` writes it; a test compares it with what is committed.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from dbt.adapters.spark_mv.core import errors
from dbt.adapters.spark_mv.core.errors import MaterializedViewError
from dbt.adapters.spark_mv.core.meanings import Meaning
from dbt.adapters.spark_mv.core.reason_codes import FRESHNESS, METHODS, REFRESHES, REWRITING
from dbt.adapters.spark_mv.rewrite import unmatched
from tests.texts import Call, calls

PAGE = Path(__file__).parents[1] / "docs" / "errors_and_reasons.md"
MAKERS = {"Reason", "Unmatched", "not_fast"}
# Calls whose first argument becomes the text of a reason of this code.
_LOST = {"lost_race": "LOST_RACE", "PublishRefused": "LOST_RACE"}
INTRODUCTION = """\
<!-- Written by `make docs` from the source: core/errors.py, core/reason_codes.py, and the texts
where errors and reasons are made. -->
# Errors and reasons

‹name› stands for what the text names in the case at hand.

## Errors

An error has two lines: what happened to which view, and why; then the way out. dbt prints
them below the heading `Materialized View Error`.

"""
REASONS = """\
## Reasons

A reason is a code, which does not change between versions, and a text: `explain`, `status`,
`history` and `mv_status` show them. Forms of queries with their codes:
[supported queries](supported_queries.md).

"""
SECTIONS: tuple[tuple[str, Mapping[str, Meaning]], ...] = (
    ("### Whether a view is fresh", FRESHNESS),
    ("### What became of a refresh", REFRESHES),
    ("### Why not fast, not by partition, or not added to groups", METHODS),
    ("### Whether a view answers a statement that does not name it", REWRITING),
)


def error_classes() -> list[type[MaterializedViewError]]:
    """The classes of errors, in the order in which they are declared."""
    found = [item for item in vars(errors).values() if inspect.isclass(item)]
    named = [item for item in found if issubclass(item, MaterializedViewError)]
    return [item for item in named if item is not MaterializedViewError]


def code_of(call: Call) -> str | None:
    """The code with which a reason is made; None if it is that of another reason."""
    code = call.node.args[0]
    if isinstance(code, ast.Name):
        return getattr(unmatched, code.id, None)
    return code.value if isinstance(code, ast.Constant) else None


def page() -> str:
    """The whole page."""
    return INTRODUCTION + _errors() + REASONS + _reasons()


def _errors() -> str:
    classes = error_classes()
    made: dict[str, list[tuple[str, str]]] = {item.__name__: [] for item in classes}
    for call in calls(set(made)):
        if not call.module.endswith("failpoints"):
            lines = [(text, way_out) for text, way_out in call.texts(0, 1) if _is_said(text)]
            made[call.name] += [line for line in lines if line not in made[call.name]]
    parts = []
    for item in classes:
        base = item.__mro__[1]
        kind = f" (a `{base.__name__}`)" if base not in (MaterializedViewError, Exception) else ""
        parts.append(f"### {item.__name__}\n\n{inspect.getdoc(item)}{kind}\n\n")
        if made[item.__name__]:
            parts.append(_table(("text", "way out"), made[item.__name__]) + "\n")
    return "".join(parts)


def _reasons() -> str:
    texts: dict[str, list[str]] = {code: [] for _, known in SECTIONS for code in known}
    made = [(code_of(call), text) for call in calls(MAKERS) for (text,) in call.texts(1)]
    made += [(_LOST[call.name], text) for call in calls(set(_LOST)) for (text,) in call.texts(0)]
    for code, text in made:
        if code is not None and text and _is_said(text) and text not in texts[code]:
            texts[code].append(text)
    parts = []
    for heading, known in SECTIONS:
        rows = (
            (f"`{code}`", of.meaning, "<br>".join(texts[code]), of.way_out or "none needed")
            for code, of in known.items()
        )
        parts.append(f"{heading}\n\n{_table(('code', 'meaning', 'texts', 'way out'), rows)}")
    return "\n".join(parts)


def _is_said(text: str) -> bool:
    """Whether more of it is known here than a name for all of it."""
    return re.fullmatch("‹[^›]*›", text) is None


def _table(heading: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heading, ("---",) * len(heading), *rows]
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


if __name__ == "__main__":
    PAGE.write_text(page())
