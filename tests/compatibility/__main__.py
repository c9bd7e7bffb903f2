"""Installs the wheel with the lowest and the newest allowed versions, in environments of their own.

In each of them the check of an installed package runs (`check.py`), and the unit tests that depend
on other packages most. The newest sqlglot is the compiled one. `pinned` is the wheel with
constraints.txt, and the check alone.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tomllib

from tests.compatibility.constraints import EXTRA, lowest, requirements

ROOT = Path(__file__).parents[2]
CHECK = Path(__file__).with_name("check.py")
PINS = ROOT / "constraints.txt"
LOWEST, NEWEST, PINNED = "lowest", "newest", "pinned"
KINDS = (PINNED, LOWEST, NEWEST)
TOOLS = (
    "pytest",
    "pytest-instafail",
    "pytest-timeout",
    "dbt-tests-adapter",
    "duckdb",
    "hypothesis",
)
TESTS = (
    "tests/unit/config",
    "tests/unit/sql",
    "tests/unit/views",
    "tests/unit/planning",
    "tests/unit/statements",
    "tests/unit/test_examples.py",
    "tests/unit/ivm/test_delta_files.py",
    "tests/unit/ivm/test_supported_queries.py",
)


def run(words: Sequence[object], folder: Path = ROOT) -> None:
    """Run a command that has to succeed."""
    subprocess.run([str(word) for word in words], cwd=folder, check=True)


def install(which: str, wheel: str, folder: Path) -> Path:
    """An environment with the wheel; its Python."""
    venv.create(folder / which, with_pip=True)
    python = folder / which / "bin" / "python"
    pins = folder / f"{which}.txt"
    wanted = requirements(tomllib.loads((ROOT / "pyproject.toml").read_text()))
    if which == PINNED:
        pins.write_text(PINS.read_text())
    else:
        pins.write_text("\n".join(lowest(wanted) if which == LOWEST else []))
    tools = () if which == PINNED else TOOLS
    # Another package may have brought it along: it allows less, such as no parsers of our own.
    tools += ("sqlglot[c]",) if which == NEWEST else ()
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run((*pip, "--constraint", pins, f"{wheel}[{EXTRA}]", *tools))
    return python


def check(which: str, wheel: str, folder: Path) -> None:
    """All that is to be seen of one set of versions."""
    sys.stdout.write(f"== {which} versions\n")
    sys.stdout.flush()
    python = install(which, wheel, folder)
    project = folder / f"project_{which}"
    project.mkdir()
    run((python, CHECK), project)
    if which != PINNED:
        # Without dots, which of two environments would run into each other.
        run((python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS))


def asked(words: Sequence[str]) -> Sequence[str]:
    """The sets of versions that a command line names, all if none; exits on any other word."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("which", nargs="*", help=f"of {', '.join(KINDS)}; all if none")
    chosen: list[str] = parser.parse_args(words).which
    unknown = [word for word in chosen if word not in KINDS]
    if unknown:
        parser.error(f"{unknown[0]} is not one of {', '.join(KINDS)}")
    return chosen or KINDS


def main() -> None:
    """Build the wheel and check it with the versions that are asked for."""
    chosen = asked(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="compatibility") as made:
        folder = Path(made)
        run((sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT))
        (wheel,) = (folder / "dist").glob("*.whl")
        with ThreadPoolExecutor() as pool:
            # All of them start, and the first that fails is raised.
            list(pool.map(lambda which: check(which, str(wheel), folder), chosen))


if __name__ == "__main__":
    main()
