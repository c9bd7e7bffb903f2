"""Texts of the package, read off its source: what each error and reason says, wherever it is made.

What is put into a text at run time is shown by a name in angle quotes: ‹view›.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import dbt.adapters.spark_mv as package

ROOT = Path(package.__file__).parent
# Attributes and functions that say no more of a value than what it is taken from.
_PASSED = {"name", "shown", "value"}
_SHOWING = {"str", "repr", "len", "sorted", "cause_of", "literal"}


@dataclass(frozen=True)
class Call:
    """A call of something by its name, and where it stands: in which module and function."""

    module: str
    name: str
    node: ast.Call
    around: ast.AST

    def texts(self, *places: int) -> list[tuple[str, ...]]:
        """The texts of these arguments, empty for one that is not given; once for each way in which
        the conditions in them may be decided."""
        given = self.node.args
        nodes = [given[place] if place < len(given) else ast.Constant("") for place in places]
        return list(dict.fromkeys(_decided(_Texts(self.module, self.around, {}), nodes)))


@cache
def trees() -> dict[str, ast.Module]:
    """The source of each module."""
    paths = sorted(ROOT.rglob("*.py"))
    return {_module(path): ast.parse(path.read_text()) for path in paths}


def calls(names: set[str]) -> Iterator[Call]:
    """Every call of one of these names."""
    for module, tree in trees().items():
        yield from _calls(names, module, tree, tree)


def _calls(names: set[str], module: str, node: ast.AST, around: ast.AST) -> Iterator[Call]:
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in names:
            yield Call(module, name, node, around)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        around = node
    for child in ast.iter_child_nodes(node):
        yield from _calls(names, module, child, around)


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join((package.__name__, *(part for part in parts if part != "__init__")))


class _Undecided(Exception):
    """A condition that a text depends on."""


def _decided(texts: _Texts, nodes: list[ast.expr]) -> Iterator[tuple[str, ...]]:
    try:
        yield tuple(texts.of(node) for node in nodes)
    except _Undecided as condition:
        for holds in (True, False):
            decided = {**texts.decided, str(condition): holds}
            yield from _decided(replace(texts, decided=decided), nodes)


@dataclass(frozen=True)
class _Texts:
    module: str
    around: ast.AST
    decided: Mapping[str, bool]

    def of(self, node: ast.expr) -> str:
        """What an expression comes to, as far as the source says it."""
        if isinstance(node, ast.Constant):
            return str(node.value)
        if isinstance(node, ast.JoinedStr):
            return "".join(self.of(part) for part in node.values)
        if isinstance(node, ast.FormattedValue):
            return self.of(node.value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return f"{self.of(node.left)}{self.of(node.right)}"
        if isinstance(node, ast.IfExp):
            condition = ast.unparse(node.test)
            if condition not in self.decided:
                raise _Undecided(condition)
            return self.of(node.body if self.decided[condition] else node.orelse)
        value = _constant(self.module, node)
        if isinstance(value, (str, int)):
            return f"{value:,}" if isinstance(value, int) else value
        return (self._assigned(node) if isinstance(node, ast.Name) else "") or _shown(node)

    def _assigned(self, name: ast.Name) -> str:
        """The text that a name has where it is used; empty if it is computed."""
        made: list[str] = []
        for node in ast.walk(self.around):
            if not isinstance(node, (ast.Assign, ast.AugAssign)) or node.lineno >= name.lineno:
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if not any(getattr(target, "id", "") == name.id for target in targets):
                continue
            if not _is_text(node.value):
                return ""
            made = [*(made if isinstance(node, ast.AugAssign) else []), self.of(node.value)]
        return "".join(made)


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    if isinstance(node, ast.IfExp):
        return _is_text(node.body) or _is_text(node.orelse)
    return isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str)


def _constant(module: str, node: ast.expr) -> Any:
    """The value of a constant of a module; None if it is none."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        home = getattr(importlib.import_module(module), node.value.id, None)
        return getattr(home, node.attr, None) if node.attr.isupper() else None
    if isinstance(node, ast.Name) and node.id.strip("_").isupper():
        return getattr(importlib.import_module(module), node.id, None)
    return None


def _shown(node: ast.expr) -> str:
    return f"‹{_word(node)}›"


def _word(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id.strip("_").replace("_", " ")
    if isinstance(node, ast.Attribute):
        inner = node.value
        alone = node.attr in _PASSED and isinstance(inner, (ast.Name, ast.Attribute))
        alone = alone and getattr(inner, "id", "") != "self"
        return _word(inner) if alone else node.attr.strip("_").replace("_", " ")
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name == "get" and isinstance(node.args[0], ast.Constant):
            return str(node.args[0].value)
        if (name in _SHOWING or name == "join") and node.args:
            return _word(node.args[0])
        return name.strip("_").replace("_", " ")
    if isinstance(node, ast.Subscript):
        return _word(node.value)
    if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        return _word(node.generators[0].iter)
    if isinstance(node, ast.BoolOp):
        return _word(node.values[0])
    return ".."
