"""The program `spark-mv`: questions about the views of an embedded folder, without Spark."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from dbt.adapters.spark_mv.__version__ import version
from dbt.adapters.spark_mv.core.errors import MaterializedViewError, NeedsSpark
from dbt.adapters.spark_mv.instant.folder import ask
from dbt.adapters.spark_mv.instant.profiles import Place, folder_of
from dbt.adapters.spark_mv.operations.report import Report

DONE, FAILED, NEEDS_SPARK = 0, 1, 2
_ABOUT = {
    "status": "freshness of views by their versions, now",
    "history": "the newest refreshes, the newest last",
    "explain": "what a refresh would do now, and why",
    "check_staleness": "how long views have been stale, held against their limits",
}


def main(words: Sequence[str] | None = None) -> int:
    """Answer one question; the exit code says whether it is answered and nothing has failed."""
    given = _parser().parse_args(words)
    try:
        folder = folder_of(
            Place(given.profiles_dir, given.project_dir, given.profile, given.target)
        )
        report = ask(folder, given.question, _arguments(given), (), _warn)
    except NeedsSpark as error:
        _say(sys.stderr, f"{given.question} needs Spark: {error.why}.")
        _say(sys.stderr, f"Run `{_same_with_dbt(given)}`, which starts it.")
        return NEEDS_SPARK
    except MaterializedViewError as error:
        _say(sys.stderr, str(error))
        return FAILED
    for line in [_as_json(report)] if given.json else report.lines():
        _say(sys.stdout, line)
    for failure in report.failures:
        _say(sys.stderr, failure)
    return FAILED if report.failures else DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("spark-mv", description=__doc__)
    parser.add_argument("--version", action="version", version=version)
    questions = parser.add_subparsers(dest="question", required=True, metavar="QUESTION")
    for question, about in _ABOUT.items():
        one = questions.add_parser(question, help=about, description=about)
        one.add_argument("--view", help="name, schema.name, tag:x, +name or name+")
        if question != "explain":
            one.add_argument("--all", action="store_true", help="the views of all schemas")
        if question == "history":
            one.add_argument("--limit", type=int, help="so many refreshes (50)")
        one.add_argument("--json", action="store_true", help="write JSON")
        one.add_argument("--profiles-dir", help="the folder of profiles.yml")
        one.add_argument("--project-dir", help="the folder of dbt_project.yml")
        one.add_argument("--profile", help="in place of the project's")
        one.add_argument("--target", "-t", help="in place of the profile's")
    return parser


def _arguments(given: argparse.Namespace) -> dict[str, Any]:
    """The arguments of the operation, as `dbt run-operation` would have them."""
    names = ("view", "all", "limit")
    found = {name: getattr(given, name, None) for name in names}
    return {
        name: value for name, value in found.items() if value is not None and value is not False
    }


def _same_with_dbt(given: argparse.Namespace) -> str:
    arguments = _arguments(given)
    words = ["dbt", "run-operation", given.question]
    words += ["--args", json.dumps(arguments)] if arguments else []
    for option in ("profiles_dir", "project_dir", "profile", "target"):
        value = getattr(given, option)
        words += ["--" + option.replace("_", "-"), value] if value else []
    return shlex.join(words)


def _as_json(report: Report) -> str:
    rows = [dict(zip(report.columns, row, strict=True)) for row in report.rows]
    content = {"rows": rows, "notes": report.notes, "failures": report.failures}
    return json.dumps(content, default=_as_text, ensure_ascii=False, indent=2)


def _as_text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _warn(text: str) -> None:
    _say(sys.stderr, f"Warning: {text}")


def _say(stream: Any, line: str) -> None:
    stream.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
