"""Every block of README.md is run, or checked against what it speaks of."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.cli.main import dbtRunner

from dbt.adapters.spark_mv.credentials import SparkMVCredentials

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.M | re.S)
MARKER = re.compile(r"^(?:#|--) (\S+)\n")
RUN_SQL = "{% macro run_sql(statement) %}{% do run_query(statement) %}{% endmacro %}"


def _without_comment(line: str) -> str:
    return re.sub(r"\s{2,}# .*$", "", line)


def _words(text: str) -> str:
    """A line of output without what differs from run to run."""
    return re.sub(r"\d+\.\d+ s", "some s", text)


@dataclass
class Reader:
    """Somebody who follows the README in an empty folder."""

    folder: Path
    spark_conf: dict[str, str]
    output: list[str] = field(default_factory=list)

    def follow(self, language: str, text: str) -> None:
        """Do what one block says."""
        marker = MARKER.match(text)
        name = marker[1] if marker else ""
        if language == "bash":
            for line in text.splitlines():
                self._command(_without_comment(line))
        elif language == "text":
            said = _words("\n".join(self.output))
            for line in text.splitlines():
                assert _words(line) in said
        elif name == "target":
            self._check_target(yaml.safe_load(text))
        elif name == "statements":
            for statement in filter(str.strip, text[len(name) + 4 :].split(";")):
                self._dbt(
                    "run-operation", "run_sql", "--args", json.dumps({"statement": statement})
                )
        else:
            assert name, f"a block of {language} that nothing checks"
            self._write(name, text)

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        if name == "profiles.yml":
            profile = yaml.safe_load(text)
            (target,) = profile["shop"]["outputs"].values()
            target["spark_conf"] = self.spark_conf
            path.write_text(yaml.safe_dump(profile))

    def _command(self, line: str) -> None:
        for part in line.split(" && "):
            program, *arguments = shlex.split(part)
            if program == "dbt":
                self._dbt(*arguments)
            elif program == "pip":
                _check_install(arguments)
            elif program == "make":
                assert f"\n{arguments[0]}:" in (ROOT / "Makefile").read_text()
            else:
                subprocess.run(part, shell=True, check=True, cwd=self.folder)

    def _dbt(self, *arguments: str) -> None:
        self.output = []
        found = dbtRunner(callbacks=[self._hear]).invoke(list(arguments))
        assert found.success, "\n".join([*self.output, str(found.exception)])

    def _hear(self, event: Any) -> None:
        if event.info.level in ("info", "warn", "error"):
            self.output.append(event.info.msg)

    def _check_target(self, target: dict[str, Any]) -> None:
        assert target.pop("type") == "spark_mv"
        assert SparkMVCredentials.from_dict(target).server_side_parameters["spark.remote"]


def _check_install(arguments: list[str]) -> None:
    project = (ROOT / "pyproject.toml").read_text()
    assert arguments[0] == "install"
    if "-c" in arguments:
        assert (ROOT / arguments[arguments.index("-c") + 1]).is_file()
    name, _, extra = arguments[-1].removesuffix("]").partition("[")
    assert name == "." or f'name = "{name}"' in project
    assert f"\n{extra} = [" in project


def test_blocks_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dbt_profile_target: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(tmp_path))
    monkeypatch.setenv("DBT_SEND_ANONYMOUS_USAGE_STATS", "false")
    reader = Reader(tmp_path, dbt_profile_target["spark_conf"])
    reader._write("macros/run_sql.sql", RUN_SQL)
    for language, text in BLOCKS:
        reader.follow(language, text)
    reader.follow("bash", "dbt build")
    assert any("PASS matches_its_query_sales_" in line for line in reader.output)


def test_every_fence_is_a_block_with_a_language() -> None:
    assert README.count("```") == 2 * len(BLOCKS)
    assert {language for language, _ in BLOCKS} == {"bash", "yaml", "sql", "text"}


def test_promise_fits_on_one_screen() -> None:
    lines = README.splitlines()
    assert len(lines) <= 200
    assert lines.index("## Try it") <= 41


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))])
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text())
    local = [link for link in links if "://" not in link]
    assert not [link for link in local if not (page.parent / link).exists()]
