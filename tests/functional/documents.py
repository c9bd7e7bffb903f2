"""A reader of documentation: does what the blocks of a page say, in an empty folder."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.cli.main import dbtRunner
from pyspark import SparkContext

from dbt.adapters.spark_mv.credentials import SparkMVCredentials
from dbt.adapters.spark_mv.spark.local.warehouse import embedded_conf, prepare_folder
from dbt.adapters.spark_mv.spark.session import spark_session

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
MARKER = re.compile(r"^(?:#|--) (\S+)\n")
COMMENT = re.compile(r"\s{2,}# (.*)$")
CRONTAB = re.compile(r"^(?:[\d*/,-]+ ){5}(.+)$")
MACRO = re.compile(r"\{% macro (\w+)\((.*?)\)")
RUN_SQL = "{% macro run_sql(statement) %}{% do run_query(statement) %}{% endmacro %}"
# What differs from run to run, and the widths of columns, which follow it.
VARYING = (
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?", "TIME"),
    (r"\d+\.\d+ s\b", "some s"),
    (r"\b\d+\.\d\d?(?![.\d])", "SECONDS"),
    (r"\b\d{15,}\b", "VERSION"),
    (r"__mv_[0-9a-f]{8}", "__mv_ID"),
    (r"-{2,}", "-"),
    (r" +", " "),
)


def blocks(text: str) -> list[tuple[str, str]]:
    """Language and content of each fenced block of a page."""
    return FENCED.findall(text)


def _words(text: str) -> str:
    """Output without what differs from run to run."""
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return text.strip()


def operation_parameters(name: str) -> set[str]:
    """The parameters of an operation, as its macro has them."""
    text = (ROOT / "macros" / "operations" / f"{name}.sql").read_text()
    ((found, parameters),) = MACRO.findall(text)
    assert found == name
    return {one.split("=")[0].strip() for one in parameters.split(",") if one.strip()}


def check_operation(words: list[str]) -> None:
    """The words of a `dbt run-operation` name an operation, and arguments that it has."""
    given = yaml.safe_load(words[words.index("--args") + 1]) if "--args" in words else {}
    assert set(given) <= operation_parameters(words[1]), words


def python_commands(text: str) -> Iterator[list[str]]:
    """The dbt commands in a Python file: texts, and lists that begin with one of dbt's words."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from shell_commands(node.value)
        elif isinstance(node, ast.List) and all(isinstance(e, ast.Constant) for e in node.elts):
            words = [str(element.value) for element in node.elts]  # type: ignore[attr-defined]
            if words and words[0] in ("build", "run", "test", "run-operation"):
                yield words


def shell_commands(line: str) -> Iterator[list[str]]:
    """The dbt commands of a shell line."""
    for part in re.split(r"&&|\|\||;", line):
        program, *arguments = shlex.split(part) or [""]
        if program == "dbt" and arguments:
            yield arguments


@dataclass
class Reader:
    """Somebody who follows a page in an empty folder."""

    folder: Path
    spark_conf: dict[str, str]
    output: list[str] = field(default_factory=list)
    done: set[str] = field(default_factory=set)

    def follow(self, language: str, text: str) -> None:
        """Do what one block says."""
        marker = MARKER.match(text)
        name = marker[1] if marker else ""
        body = text[marker.end() :] if marker else text
        if language == "bash":
            for line in text.splitlines():
                self.command(line)
        elif language == "text":
            self.compare(text)
        elif language == "crontab":
            for line in body.splitlines():
                found = CRONTAB.match(line)
                assert found, line
                self.run_once(shell_commands(found[1]))
        elif name == "target":
            check_target(yaml.safe_load(text))
        elif name == "spark_conf":
            assert all(key.startswith("spark.") for key in yaml.safe_load(text)), text
        elif name in ("statements", "refused", "spark-sql"):
            self.output = []
            for statement in filter(str.strip, body.split(";")):
                self.statement(name, statement.strip())
        else:
            assert name, f"a block of {language} that nothing checks"
            self.write(name, text)
            if language == "python":
                compile(text, name, "exec")
                self.run_once(python_commands(text))

    def compare(self, text: str) -> None:
        """The lines of a block were printed, in this order."""
        said, place = _words("\n".join(self.output)), 0
        for line in map(_words, text.splitlines()):
            place = said.find(line, place)
            assert place >= 0, f"{line!r} is not in:\n{said}"
            place += len(line)

    def statement(self, name: str, statement: str) -> None:
        """Run a statement of a page: through dbt, or in Spark without dbt."""
        if name == "spark-sql":
            rows = self.session().sql(statement).collect()
            self.output += ["\t".join(map(str, row)) for row in rows]
        else:
            asked = ("run-operation", "run_sql", "--args", json.dumps({"statement": statement}))
            self.dbt(*asked, fails=name == "refused")

    def session(self) -> Any:
        """Spark with the catalog of the project, as another program would start it."""
        target = self.targets(yaml.safe_load((self.folder / "profiles.yml").read_text()))[-1]
        return spark_session(SparkMVCredentials.from_dict(target))

    @staticmethod
    def targets(profile: dict[str, Any]) -> list[dict[str, Any]]:
        """Those of the only profile of a file."""
        (one,) = profile.values()
        return list(one["outputs"].values())

    def write(self, name: str, text: str) -> None:
        """Make a file; the tests' Spark settings are added to a profile."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
        if name == "profiles.yml":
            profile = yaml.safe_load(text)
            for target in self.targets(profile):
                self.connect(target)
            path.write_text(yaml.safe_dump(profile))

    def connect(self, target: dict[str, Any]) -> None:
        """Add what a target needs to reach the Spark of the tests."""
        if target["method"] == "embedded":
            target["spark_conf"] = {**self.spark_conf, **target.get("spark_conf", {})}
        elif SparkContext._active_spark_context is None:
            warehouse = str(self.folder / "warehouse")
            prepare_folder(warehouse)
            target["server_side_parameters"] = embedded_conf(warehouse, self.spark_conf)

    def command(self, line: str) -> None:
        """Run a line of a shell; a comment `fails` behind it says that it does."""
        comment = COMMENT.search(line)
        fails = comment is not None and comment[1].startswith("fails")
        for part in COMMENT.sub("", line).split(" && "):
            program, *arguments = shlex.split(part)
            if program == "dbt":
                self.dbt(*arguments, fails=fails)
            elif program == "pip":
                check_install(arguments)
            elif program == "make":
                assert f"\n{arguments[0]}:" in (ROOT / "Makefile").read_text()
            else:
                subprocess.run(part, shell=True, check=True, cwd=self.folder)

    def run_once(self, commands: Iterator[list[str]]) -> None:
        """Run commands of a scheduler, each once for a page."""
        found = list(commands)
        assert found, "a block for a scheduler that calls no dbt command"
        for words in found:
            if str(words) not in self.done:
                self.done.add(str(words))
                self.dbt(*words)

    def dbt(self, *arguments: str, fails: bool = False) -> None:
        """Run a dbt command in this process."""
        self.output = []
        found = dbtRunner(callbacks=[self._hear]).invoke(list(arguments))
        self.output += str(found.exception or "").splitlines()
        assert found.success != fails, "\n".join([" ".join(arguments), *self.output])

    def _hear(self, event: Any) -> None:
        if event.info.level in ("info", "warn", "error"):
            self.output += event.info.msg.splitlines()


def reader_in(folder: Path, monkeypatch: pytest.MonkeyPatch, target: dict[str, Any]) -> Reader:
    """A reader who has gone into an empty folder, and has nothing but a way to run statements."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(folder))
    monkeypatch.setenv("DBT_SEND_ANONYMOUS_USAGE_STATS", "false")
    reader = Reader(folder, target["spark_conf"])
    reader.write("macros/run_sql.sql", RUN_SQL)
    return reader


def check_target(target: dict[str, Any]) -> None:
    """A target that is shown but not connected to: its keys and values are valid."""
    assert target.pop("type") == "spark_mv"
    SparkMVCredentials.validate(target)
    credentials = SparkMVCredentials.from_dict(target)
    assert target["method"] != "session" or credentials.server_side_parameters["spark.remote"]


def check_install(arguments: list[str]) -> None:
    """What pip is asked for is this package with an extra that it has, and files that exist."""
    project = (ROOT / "pyproject.toml").read_text()
    assert arguments[0] == "install"
    if "-c" in arguments:
        assert (ROOT / arguments[arguments.index("-c") + 1]).is_file()
    name, _, extra = arguments[-1].removesuffix("]").partition("[")
    assert name == "." or f'name = "{name}"' in project
    assert f"\n{extra} = [" in project
