"""Texts that rewriting takes for one expression have one value: what a view has of one of them is
read for the other."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress

import pytest
from pyspark.errors import PySparkException

from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from dbt.adapters.spark_mv.sql import spark_functions
from dbt.adapters.spark_mv.sql.reads import parse
from dbt.adapters.spark_mv.sql.spark_functions import SPARK_FUNCTIONS
from tests.functional.materialized_view.test_rewriting_functions import (
    ROWS,
    TYPES,
    WRITTEN,
    read_from,
)
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE

_TEXT = re.compile(r"'((?:[^']|'')*)'")
_CALL = re.compile(r"^([a-z_0-9]+)\((.*)\)$", re.S)
# What is no expression at all has no value that could be wrong.
_REFUSED = ("UNRESOLVED_ROUTINE", "WRONG_NUM_ARGS", "DATATYPE_MISMATCH", "PARSE_SYNTAX_ERROR")
# The functions of which sqlglot knows more than their names, and their doubles.
_OF_JSON = [
    f"get_json_object(u, '{path}')"
    for path in ("$.a", "a", "$a", " $.a", '$["a"]', '$."a"', "$.a.*", "$[''a'']", "$.a[0]", "$.a ")
]
_OF_ITEMS = ["element_at(a, 9)", "try_element_at(a, 9)", "get(a, 9)", "a[9]", "element_at(p, 'z')"]


def other_texts(text: str) -> Iterator[str]:
    """The expression with other literals in place of each of its literals."""
    for found in _TEXT.finditer(text):
        was = found[1]
        cut = (was[1:], was[:-1], was[:1], was[:3], "")
        longer = (f" {was}", f"{was} ", f"{was}s", f"%{was}", f"${was}", f"{was}[0]", f"{was}.*")
        other = (
            was.upper(),
            was.lower(),
            was.title(),
            was.replace("y", "Y"),
            was.replace("M", "m"),
        )
        for one in dict.fromkeys((*cut, *longer, *other, was.replace("-", "/"))):
            yield f"{text[: found.start()]}'{one}'{text[found.end() :]}"


def other_functions(texts: Iterable[str]) -> Iterator[str]:
    """Each list of arguments in each function of Spark's."""
    found = (_CALL.match(text) for text in texts)
    lists = dict.fromkeys(call[2] for call in found if call)
    for arguments in lists if WHOLE else list(lists)[::9]:
        yield from (f"{name}({arguments})" for name in sorted(SPARK_FUNCTIONS))


def all_texts() -> list[str]:
    """Expressions of which several may be taken for one."""
    written = [*WRITTEN, *_OF_JSON, *_OF_ITEMS]
    others = (other for text in written for other in other_texts(text))
    return [*written, *others, *other_functions(written)]


def of_one_key(texts: Iterable[str]) -> list[list[str]]:
    """Those that are."""
    found: dict[str, list[str]] = defaultdict(list)
    for text in dict.fromkeys(texts):
        # What is no expression of Spark's has trees that lack something.
        with suppress(Unmatched, KeyError, AttributeError, IndexError):
            if parse(f"select {text}") is not None:
                found[read_from(text, TYPES).key].append(text)
    return [group for group in found.values() if len(group) > 1]


def differing(lake: Warehouse, groups: list[list[str]]) -> list[dict[str, str]]:
    """Those of one key with several values."""
    wrong = []
    for group in groups:
        values = {text: value_of(lake, text) for text in group}
        values = {text: value for text, value in values.items() if value not in _REFUSED}
        if len(set(values.values())) > 1:
            wrong.append(values)
    return wrong


def value_of(lake: Warehouse, text: str) -> str:
    """The values of an expression, or the kind of error that it is."""
    try:
        return str(sorted(map(repr, lake.spark(f"select {text}, typeof({text}) from @.one"))))
    except PySparkException as error:
        kind = re.search(r"\[([A-Z_0-9]+)", str(error))
        return kind[1] if kind else str(error)


@pytest.fixture(scope="module", autouse=True)
def one(lake: Warehouse) -> None:
    """The rows as a view."""
    rows = ROWS.replace("'it''s'", """'{"a":1}'""")
    lake.spark(f"create view @.one as select * from values {rows} as v({', '.join(TYPES)})")


@pytest.mark.parametrize("ansi", ["false", "true"])
def test_one_value(lake: Warehouse, ansi: str) -> None:
    lake.spark(f"set spark.sql.ansi.enabled = {ansi}")
    groups = of_one_key(all_texts())
    always = of_one_key([*_OF_JSON, *_OF_ITEMS])
    assert differing(lake, groups if WHOLE else [*always, *groups[::5]]) == []


def test_what_sqlglot_takes_for_one(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: its own reading of a function."""
    for name in ("ELEMENT_AT", "TRY_ELEMENT_AT"):
        monkeypatch.delitem(spark_functions.BUILDERS, name)
    lake.spark("set spark.sql.ansi.enabled = true")
    assert differing(lake, of_one_key(_OF_ITEMS))
