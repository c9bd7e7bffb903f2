"""Plans as Spark prints them, without that in which queries that mean the same may differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

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
# Names of one function, of which sqlglot prints the second.
_SYNONYMS = {
    "approx_percentile": "percentile_approx",
    "bit_get": "getbit",
    "ceiling": "ceil",
    "char": "chr",
    "char_length": "length",
    "character_length": "length",
    "date_diff": "datediff",
    "lcase": "lower",
    "len": "length",
    "position": "locate",
    "pow": "power",
    "reduce": "aggregate",
    "sha1": "sha",
    "signum": "sign",
    "substr": "substring",
    "to_unix_timestamp": "unix_timestamp",
    "ucase": "upper",
}
# A part of an aggregate has a word before its name.
_SYNONYM = re.compile(rf"(?:\b|(?<=\bpartial_)|(?<=\bmerge_))(?:{'|'.join(_SYNONYMS)})(?=\()")
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
    text = _SYNONYM.sub(lambda found: _SYNONYMS[found.group()], text)
    for name, (count, write) in _OTHERWISE.items():
        text = _with_calls(text, name, count, write)
    lines = text.splitlines()
    return [_line(lines, number) for number in range(len(lines))]


def _with_calls(text: str, name: str, count: int, write: Callable[..., str]) -> str:
    """A text in which the calls of a function, with so many arguments, are written as another."""
    places = [found.end() for found in re.finditer(rf"\b{name}\(", text)]
    for start in reversed(places):
        end, arguments = _arguments(text, start)
        if len(arguments) == count:
            text = text[: start - len(name) - 1] + write(*arguments) + text[end + 1 :]
    return text


def _arguments(text: str, start: int) -> tuple[int, list[str]]:
    """Where the call ends whose arguments begin at `start`, and these."""
    depth, arguments, since = 0, [], start
    for place in range(start, len(text)):
        sign = text[place]
        if depth == 0 and (sign == ")" or text.startswith(", ", place)):
            arguments.append(text[since:place])
            since = place + 2
        if depth == 0 and sign == ")":
            return place, arguments
        depth += (sign in "([") - (sign in ")]")
    return len(text), []


def _days_before(day: str, number: str) -> str:
    is_number = re.fullmatch(r"-?\d+", number)
    return f"date_add({day}, {-int(number) if is_number else f'({number} * -1)'})"


# Functions that are written as others when they are printed: how many arguments they have, and how.
_OTHERWISE: dict[str, tuple[int, Callable[..., str]]] = {
    "date_sub": (2, _days_before),
    "mod": (2, lambda one, other: f"({one} % {other})"),
    "space": (1, lambda number: f"repeat( , {number})"),
}


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
