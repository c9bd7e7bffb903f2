"""Earlier versions of the adapter: their code out of the history, run in processes of their own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_mv.core.failpoints import FAILPOINTS, TESTING

ROOT = Path(__file__).parents[3]
PROGRAM = Path(__file__).with_name("command.py")
# Where it is set, a checkout without history fails; elsewhere, as in a source archive, it skips.
REQUIRED = "TEST_REQUIRES_HISTORY"
COMMITS = {"0.1.0": "09a2bea56abd25256f313302c85ca6c57f60b5e2"}
# A process that takes more seconds is taken to be stuck.
LONGEST = 600

Commands = Sequence[Sequence[str]]


def checkout(version: str, folder: Path) -> Release:
    """The code of a version, in a folder; skips or fails the test if the history lacks it."""
    command = ["git", "archive", "--format=tar", COMMITS[version], "dbt", "macros"]
    try:
        found = subprocess.run(command, cwd=ROOT, capture_output=True)
        missing = found.stderr.decode() if found.returncode else ""
    except OSError as error:
        missing = str(error)
    if missing:
        missing = f"the code of version {version} is not in the history: {missing}"
        if os.environ.get(REQUIRED):
            pytest.fail(missing)
        pytest.skip(missing)
    with tarfile.open(fileobj=io.BytesIO(found.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return Release(version, folder)


@dataclass(frozen=True)
class Release:
    """One earlier version."""

    version: str
    folder: Path

    def run(self, project: Path, commands: Commands) -> list[dict[str, Any]]:
        """Run dbt commands one after the other, in one process."""
        return self.start(project, commands).answer()

    def start(self, project: Path, commands: Commands, failpoints: str = "") -> Running:
        """Start a process that runs these commands in a project."""
        # Nobody reads it while the process is paused: a full pipe would stop it.
        errors, path = tempfile.mkstemp(".txt", "stderr", self.folder)
        process = subprocess.Popen(
            [sys.executable, str(PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=project,
            start_new_session=True,
            env={
                **os.environ,
                "PYTHONPATH": str(self.folder),
                "DBT_PROFILES_DIR": str(project),
                FAILPOINTS: failpoints,
                TESTING: "1" if failpoints else "",
            },
        )
        os.close(errors)
        assert process.stdin is not None
        process.stdin.write(json.dumps([list(command) for command in commands]))
        process.stdin.close()
        process.stdin = None
        return Running(self, process, Path(path))


@dataclass(frozen=True)
class Running:
    """Commands of an earlier version under way."""

    release: Release
    process: subprocess.Popen[str]
    stderr: Path

    def errors(self) -> str:
        """The end of what it has written to stderr."""
        return self.stderr.read_text(errors="replace")[-3000:]

    def answer(self) -> list[dict[str, Any]]:
        """What each command did; the code that ran was the earlier one, macros too."""
        said, _ = self.process.communicate(timeout=LONGEST)
        assert self.process.returncode == 0 and said, self.errors()
        answer: dict[str, Any] = json.loads(said.splitlines()[-1])
        for place in answer["places"]:
            assert Path(place).is_relative_to(self.release.folder), place
        done: list[dict[str, Any]] = answer["done"]
        return done

    def paused(self, folder: Path) -> None:
        """Wait until a failpoint has stopped it, which leaves its mark in this folder."""
        self.wait_until((folder / "reached").exists)

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds; fails if the process ends before, or if it takes too long."""
        deadline = time.monotonic() + LONGEST
        while not holds():
            assert self.process.poll() is None, self.errors()
            assert time.monotonic() < deadline, self.errors()
            time.sleep(0.05)

    def kill(self) -> None:
        """End the process and its Spark as a power cut would."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, 9)
        self.process.wait()
