"""The wheel holds what the checkout holds: packages, every macro, and nothing that is dbt's."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = out.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_wheel_holds_every_macro(wheel_names: set[str]) -> None:
    wanted = {
        f"dbt/include/spark_mv/{path.relative_to(ROOT).as_posix()}"
        for path in (ROOT / "macros").rglob("*")
        if path.suffix in (".sql", ".yml")
    }
    assert wanted and wanted <= wheel_names


def test_wheel_holds_every_module(wheel_names: set[str]) -> None:
    package = ROOT / "dbt" / "adapters" / "spark_mv"
    wanted = {path.relative_to(ROOT).as_posix() for path in package.rglob("*.py")}
    assert wanted <= wheel_names


def test_wheel_leaves_the_packages_of_dbt_alone(wheel_names: set[str]) -> None:
    of_dbt = {"dbt/__init__.py", "dbt/adapters/__init__.py", "dbt/include/__init__.py"}
    assert not of_dbt & wheel_names


def test_macros_are_linked_not_copied() -> None:
    link = ROOT / "dbt" / "include" / "spark_mv" / "macros"
    assert link.is_symlink() and link.resolve() == ROOT / "macros"
