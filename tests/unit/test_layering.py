"""Imports go downwards only; dbt and pyspark stay at the edge; every module has its room."""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dbt" / "adapters" / "spark_mv"
NAME = "dbt.adapters.spark_mv"

# From the bottom up. A line names packages or modules; of two that fit, the longer name counts.
# Modules of one line import each other only if they are of one package.
LAYERS = (
    {"__version__", "core"},
    {"sql"},
    {"catalog", "config"},
    {"views"},
    {"metadata", "ivm.algebra"},
    {"state", "ivm.rewrite"},
    {"expiry", "ivm.delta", "rewrite"},
    {"rewrite.reading"},
    {"ivm.apply", "ivm.partitions"},
    {"ivm.program"},
    {"ivm", "ivm.analysis"},
    {"planning"},
    {"refresh"},
    {"statements"},
    {"operations"},
    {"spark"},
    {"instant"},
    {"spark.local"},
    {"credentials"},
    {"spark.session"},
    {"spark.local.cds_writer"},
    {"glue"},
    {"relation", "column", "connections"},
    {"impl"},
    {"glue.plugin"},
    {""},
)
KNOW_DBT = (
    "spark.local",
    "spark.session",
    "credentials",
    "glue",
    "relation",
    "column",
    "connections",
    "impl",
)
MOST_MODULES = 16


def _module(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_module(path): path for path in sorted(PACKAGE.rglob("*.py"))}
PACKAGES = [module for module, path in MODULES.items() if path.stem == "__init__"]


def _is_in(module: str, room: str) -> bool:
    return module == room or (bool(room) and module.startswith(room + "."))


def _layer(module: str) -> tuple[int, str]:
    """The layer of a module, and the entry that says so."""
    rooms = {room: n for n, layer in enumerate(LAYERS) for room in layer if _is_in(module, room)}
    assert rooms, f"{module} stands in no layer: say where it belongs"
    room = max(rooms, key=len)
    return rooms[room], room


def _knows_dbt(module: str) -> bool:
    return any(_is_in(module, room) for room in KNOW_DBT)


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _ours(path: Path) -> Iterator[str]:
    """The modules of this package that a file imports."""
    for name in _imports(path):
        if name.startswith(NAME + "."):
            module = name.removeprefix(NAME + ".")
            yield module if module in MODULES else module.rpartition(".")[0]


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module: str) -> None:
    mine, room = _layer(module)
    for other in _ours(MODULES[module]):
        theirs, their_room = _layer(other)
        is_down = theirs < mine or (theirs == mine and room == their_room)
        assert is_down, f"{module} imports {other}"


@pytest.mark.parametrize("module", [name for name in MODULES if name and not _knows_dbt(name)])
def test_core_knows_neither_dbt_nor_spark(module: str) -> None:
    foreign = {"dbt", "dbt_common", "agate", "pyspark", "py4j"}
    for name in _imports(MODULES[module]):
        assert name.startswith(NAME) or name.split(".")[0] not in foreign, name


def test_core_is_imported_without_dbt() -> None:
    """Nothing below the glue asks for dbt, also not by way of the package itself."""
    inner = [f"{NAME}.{module}" for module in MODULES if module and not _knows_dbt(module)]
    program = f"""
import importlib, sys
class NoDbt:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        ours = name in ("dbt", "dbt.adapters") or name.startswith({NAME!r})
        if top in ("dbt_common", "agate", "pyspark", "py4j") or (top == "dbt" and not ours):
            raise ImportError(name + " is not there")
sys.meta_path.insert(0, NoDbt())
for module in {inner!r}:
    importlib.import_module(module)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_layers_name_what_there_is() -> None:
    rooms = {room for layer in LAYERS for room in layer}
    assert not [room for room in rooms | set(KNOW_DBT) if room not in MODULES]


def test_rooms_are_small() -> None:
    """A package holds no more than one can keep in mind."""
    sizes = Counter(
        module.rpartition(".")[0] for module in MODULES if module and module not in PACKAGES
    )
    assert {room: n for room, n in sizes.items() if n > MOST_MODULES} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_rooms_say_what_they_are_for(package: str) -> None:
    """What it is for; what others take from it; what it must not know."""
    text = ast.get_docstring(ast.parse(MODULES[package].read_text())) or ""
    assert len([line for line in text.splitlines() if line.strip()]) >= 3, text


def test_the_root_holds_the_names_of_dbt() -> None:
    root = {module for module in MODULES if "." not in module and module not in PACKAGES}
    assert root == {"__version__", "impl", "connections", "credentials", "relation", "column"}
