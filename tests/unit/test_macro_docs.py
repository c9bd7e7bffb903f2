"""The documentation of macros is YAML that dbt accepts, about macros that exist."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

MACROS = Path(__file__).parents[2] / "macros"
FILES = sorted(MACROS.rglob("*.yml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_documented_macros_exist_with_their_arguments(path: Path) -> None:
    text = "".join(file.read_text() for file in path.parent.glob("*.sql"))
    for macro in yaml.safe_load(path.read_text())["macros"]:
        arguments: list[dict[str, Any]] = macro.get("arguments", [])
        assert all(set(one) <= {"name", "type", "description"} for one in arguments)
        plain = re.sub(r"^test_", "", macro["name"])
        if not plain.startswith("materialization_"):
            assert re.search(rf"(macro|test) {plain}\(", text), macro["name"]
            assert all(one["name"] in text for one in arguments)


@pytest.mark.parametrize("folder", sorted({path.parent for path in MACROS.rglob("*.sql")}))
def test_every_folder_has_its_documentation(folder: Path) -> None:
    assert (folder / f"_{folder.name}.yml").is_file()
