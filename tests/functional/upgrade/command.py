"""A program that runs dbt commands with the adapter that comes first on PYTHONPATH.

Knows nothing of this repository, so that the adapter of another commit can run it. Reads a list of
commands, each a list of words, from its input; prints one JSON line: where the adapter is, and
what each command did.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from dbt.cli.main import dbtRunner

from dbt.adapters import spark_mv
from dbt.include import spark_mv as macros


def run(command: list[str]) -> dict[str, Any]:
    """Whether a command succeeded, and what it said."""
    lines: list[str] = []

    def hear(event: Any) -> None:
        if event.info.level in ("info", "warn", "error"):
            lines.append(event.info.msg)

    done = dbtRunner(callbacks=[hear]).invoke(["--log-level", "none", *command])
    if done.exception:
        lines.append(str(done.exception))
    return {"success": done.success, "text": "\n".join(lines)}


def main() -> None:
    """Run what is asked for."""
    done = [run(command) for command in json.load(sys.stdin)]
    places = [str(spark_mv.__file__), str(macros.PACKAGE_PATH)]
    sys.stdout.write(json.dumps({"places": places, "done": done}) + "\n")


if __name__ == "__main__":
    main()
