"""A dbt project of a test module, run in this process."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from dbt.cli.main import dbtRunner

from tests.functional.materialized_view.warehouse import Warehouse

SOURCES = """
sources:
  - name: raw
    schema: {schema}
    tables: [{{name: orders}}, {{name: customers}}]
"""


@dataclass(frozen=True)
class Run:
    """What a dbt command did: `text` is what it printed."""

    success: bool
    results: Any
    text: str

    def result(self, name: str) -> Any:
        """The result of one node."""
        (found,) = (r for r in self.results if r.node.name == name)
        return found


class DbtProject:
    """Files of a project, and the commands of a user."""

    def __init__(self, folder: Path, warehouse: Warehouse) -> None:
        self.folder, self.warehouse = folder, warehouse
        profile = {"test": {"target": "test", "outputs": {"test": warehouse.target}}}
        project = {
            "name": "test",
            "version": "1.0",
            "profile": "test",
            "config-version": 2,
            "flags": {"send_anonymous_usage_stats": False, "use_colors": False},
        }
        (folder / "profiles.yml").write_text(yaml.safe_dump(json.loads(json.dumps(profile))))
        (folder / "dbt_project.yml").write_text(yaml.safe_dump(project))
        self.write({"models/sources.yml": SOURCES.format(schema=warehouse.schema)})

    def write(self, files: Mapping[str, str]) -> None:
        """Write files, given by their paths in the project."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))

    def remove(self, *names: str) -> None:
        """Delete files."""
        for name in names:
            (self.folder / name).unlink()

    def dbt(self, *arguments: str, fails: bool | None = False) -> Run:
        """Run a command; `fails` says that it must, None that it may."""
        lines: list[str] = []

        def keep(event: Any) -> None:
            if event.info.level != "debug":
                lines.append(event.info.msg)

        runner = dbtRunner(callbacks=[keep])
        folder = str(self.folder)
        found = runner.invoke([*arguments, "--project-dir", folder, "--profiles-dir", folder])
        text = "\n".join(lines) + (f"\n{found.exception}" if found.exception else "")
        assert fails is None or found.success is not fails, text
        return Run(found.success, found.result, text)

    def operation(self, name: str, /, fails: bool = False, **arguments: Any) -> Run:
        """Run an operation."""
        return self.dbt("run-operation", name, "--args", json.dumps(arguments), fails=fails)

    def show(self, query: str) -> list[dict[str, Any]]:
        """Rows of a query that dbt runs."""
        found = self.dbt("show", "--inline", query, "--limit", "-1")
        table = found.results.results[0].agate_table
        return [dict(zip(table.column_names, row, strict=True)) for row in table.rows]
