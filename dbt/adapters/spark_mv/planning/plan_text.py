"""Plans as Spark prints them, without that in which queries that mean the same may differ."""

from __future__ import annotations

import re
from collections.abc import Sequence

_INVENTED = re.compile(r"#\d+L?|\[plan_id=\d+\]|(?<=_common_expr_)\d+")
_OPERATOR = re.compile(r"^[\s:+|-]*(?:\*\(\d+\) )?(?P<name>\w+)")
_PROJECT = re.compile(r"^(?P<start>.*\bproject )\[(?P<items>\w+(?:, \w+)*)\]$")
_AGGREGATES = {"hashaggregate", "objecthashaggregate", "sortaggregate"}
# They name the columns that they take, so the order in which these come does not matter.
_BY_NAME = {"project", *_AGGREGATES}
# The number of the group that a row of several DISTINCT aggregates is for.
_GROUP = re.compile(r"\bgid\b")
# Spark names columns with their relations in what several DISTINCT aggregates become.
_QUALIFIER = re.compile(r"(?<![\w`.])(?:(?:[a-z_]\w*|`[^`]+`)\.)+(?=[a-z_`])")
_WITH_GROUPS = {"expand", "exchange", "sort", *_AGGREGATES}
_PASSING = {
    "exchange",
    "broadcastexchange",
    "sort",
    "filter",
    "broadcasthashjoin",
    "shuffledhashjoin",
    "sortmergejoin",
    "broadcastnestedloopjoin",
    "cartesianproduct",
}


def comparable(plan: str) -> list[str]:
    """The lines of a plan, in lower case, that are the same for queries that mean the same."""
    text = _INVENTED.sub("", plan).lower().replace("named_struct(", "struct(")
    # A comma is printed as CROSS JOIN.
    text = text.replace(", cross", ", inner")
    lines = text.splitlines()
    return [_line(lines, number) for number in range(len(lines))]


def _line(lines: Sequence[str], number: int) -> str:
    line = lines[number]
    if _operator(line) in _WITH_GROUPS:
        line = _QUALIFIER.sub("", line)
        return _without_groups(line) if _GROUP.search(line) else line
    project = _PROJECT.match(line)
    if project is None or not _is_read_by_name(lines, number):
        return line
    items = project["items"].split(", ")
    if len(set(items)) < len(items):
        return line
    return f"{project['start']}[{', '.join(sorted(items))}]"


def _without_groups(line: str) -> str:
    """A line of several DISTINCT aggregates, whose groups Spark numbers as it happens."""
    start = _depth(line)
    items = re.sub(r"\bgid = \d+", "gid", line[start:]).replace("[", "").replace("]", "")
    return line[:start] + ", ".join(sorted(items.split(", ")))


def _is_read_by_name(lines: Sequence[str], number: int) -> bool:
    depth = _depth(lines[number])
    for line in reversed(lines[:number]):
        if _depth(line) < depth:
            depth = _depth(line)
            if _operator(line) not in _PASSING:
                return _operator(line) in _BY_NAME
    return False


def _operator(line: str) -> str:
    found = _OPERATOR.match(line)
    return found["name"] if found else ""


def _depth(line: str) -> int:
    found = _OPERATOR.match(line)
    return found.start("name") if found else 0
