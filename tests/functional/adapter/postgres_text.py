"""Suites whose set-up is Postgres text, run on Spark: the text is translated, the test is not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from dbt.tests.util import get_connection
from sqlglot import exp

# Spark has no databases above schemas, so dbt renders this one as "None".
_IN_FILES = {"{{target.database}}.": "", "{{ target.database }}.": "", "::text": "", "::TEXT": ""}


class WrittenForPostgres:
    """Mix-in: `project.run_sql` takes Postgres text, also several statements at once."""

    replacements: dict[str, str] = {}

    @pytest.fixture(scope="class")
    def project(self, project: Any) -> Any:
        for file in sorted(Path(project.project_root).rglob("*.*")):
            if file.suffix not in (".sql", ".yml"):
                continue
            text = file.read_text()
            for old, new in {**_IN_FILES, **self.replacements}.items():
                text = text.replace(old, new)
            file.write_text(text)
        translator = _Translator(project)
        project.run_sql = translator.run_sql
        return project


class _Translator:
    def __init__(self, project: Any) -> None:
        self.project = project
        self.in_spark = project.run_sql

    def run_sql(self, sql: str, fetch: str | None = None) -> Any:
        text = sql.replace("{database}.", "").replace("{schema}", self.project.test_schema)
        text = text.replace("None.", "").replace('"None".', "")
        answer = None
        for statement in self._translated(text):
            answer = self.in_spark(statement, fetch=fetch)
        return answer

    def _translated(self, text: str) -> Iterator[str]:
        for tree in sqlglot.parse(text, read="postgres"):
            if tree is None:
                continue
            if isinstance(tree, exp.Drop) and tree.args.get("kind") == "SCHEMA":
                self._drop_schema()
                continue
            _with_spark_types(tree)
            is_rows = isinstance(tree, exp.Insert) and isinstance(tree.expression, exp.Values)
            yield self._cast_insert(tree) if is_rows else tree.sql("spark")

    def _drop_schema(self) -> None:
        # An Iceberg catalog drops empty schemas only; the adapter empties them.
        adapter = self.project.adapter
        with get_connection(adapter):
            adapter.drop_schema(adapter.Relation.create(schema=self.project.test_schema))

    def _cast_insert(self, tree: exp.Expression) -> str:
        # Spark stores a text into a column of another type only if told how.
        table = tree.find(exp.Table)
        assert table is not None
        name = table.sql("spark")
        types = {row[0]: row[1] for row in self.in_spark(f"describe {name}", fetch="all")}
        target = tree.this
        given = [part.name for part in target.expressions]
        columns = given if isinstance(target, exp.Schema) else list(types)
        casts = ", ".join(f"cast(`{column}` as {types[column]})" for column in columns)
        names = ", ".join(f"`{column}`" for column in columns)
        rows = ", ".join(row.sql("spark") for row in tree.expression.expressions)
        return f"insert into {name} ({names}) select {casts} from values {rows} as v({names})"


def _with_spark_types(tree: exp.Expression) -> None:
    texts = (exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR)
    times = (exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPNTZ)
    for kind in list(tree.find_all(exp.DataType)):
        if kind.this in texts:
            kind.replace(exp.DataType.build("string", dialect="spark"))
        elif kind.this in times:
            kind.replace(exp.DataType.build("timestamp", dialect="spark"))
    if isinstance(tree, exp.Alter):
        for column in tree.find_all(exp.ColumnDef):
            # A new column is null anyway; Iceberg's version 2 knows no other default.
            column.set("constraints", [])
