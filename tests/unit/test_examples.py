"""The examples in docstrings are right, and every rewriting pass has one."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

from dbt.adapters import spark_mv
from dbt.adapters.spark_mv.ivm import rewrite

PACKAGE, FOLDER = spark_mv.__name__, Path(spark_mv.__path__[0])
MODULES = [
    ".".join((PACKAGE, *file.relative_to(FOLDER).with_suffix("").parts))
    for file in sorted(FOLDER.rglob("*.py"))
    if ">>>" in file.read_text()
]
PASSES = [module.name for module in pkgutil.iter_modules(rewrite.__path__, f"{rewrite.__name__}.")]
# SQL is printed in one line; in an example it is wrapped where it reads best.
FLAGS = doctest.NORMALIZE_WHITESPACE


def examples_of(name: str) -> list[doctest.DocTest]:
    """The docstrings with examples of a module, and of what it defines."""
    found = doctest.DocTestFinder().find(importlib.import_module(name), name)
    return [test for test in found if test.examples]


def _short(name: str) -> str:
    return name.removeprefix(f"{PACKAGE}.")


@pytest.mark.parametrize("name", MODULES, ids=_short)
def test_examples_are_right(name: str) -> None:
    """What an example prints is what it says."""
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    report: list[str] = []
    for test in examples_of(name):
        runner.run(test, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize("name", PASSES, ids=_short)
def test_pass_has_an_example(name: str) -> None:
    """A pass shows what it does."""
    assert examples_of(name), f"{name} has no example, from SQL to SQL"
