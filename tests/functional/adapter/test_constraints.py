"""dbt-tests-adapter: contracts and constraints.

Left out: the ...Rollback suites and BaseIncrementalForeignKeyConstraint, because Spark enforces no
constraint on Iceberg tables and knows no foreign key; the ...SqlHeader suites, because Spark takes
one statement at a time, so a model has no room for a header.
"""

import pytest
from dbt.tests.adapter.constraints.test_constraints import (
    BaseConstraintQuotedColumn,
    BaseConstraintsRuntimeDdlEnforcement,
    BaseIncrementalConstraintsColumnsEqual,
    BaseIncrementalConstraintsRuntimeDdlEnforcement,
    BaseTableConstraintsColumnsEqual,
    BaseViewConstraintsColumnsEqual,
)

from tests.functional.adapter.postgres_text import WrittenForPostgres

DDL = """
create or replace table <model_identifier> using iceberg as
select id, color, date_day from (
    -- depends_on: <foreign_key_model_identifier>
    select 'blue' as color, 1 as id, '2019-01-01' as date_day
) as model_subq
"""


class _SparkTypes(WrittenForPostgres):
    replacements = {"data_type: text": "data_type: string", "data_type: integer": "data_type: int"}

    @pytest.fixture
    def string_type(self) -> str:
        return "string"

    @pytest.fixture
    def int_type(self) -> str:
        return "int"

    @pytest.fixture
    def data_types(self, int_type: str, string_type: str) -> list[list[str]]:
        return [
            ["1", "int", int_type],
            ["'1'", "string", string_type],
            ["true", "boolean", "boolean"],
            ["timestamp '2013-11-03 00:00:00'", "timestamp", "timestamp"],
            ["date '2013-11-03'", "date", "date"],
            ["array('a', 'b')", "array<string>", "array"],
            ["array(1, 2)", "array<int>", "array"],
            ["cast(1 as decimal(10, 2))", "decimal(10,2)", "decimal"],
        ]


class TestTableConstraintsColumnsEqual(_SparkTypes, BaseTableConstraintsColumnsEqual):
    pass


class TestViewConstraintsColumnsEqual(_SparkTypes, BaseViewConstraintsColumnsEqual):
    pass


class TestIncrementalConstraintsColumnsEqual(_SparkTypes, BaseIncrementalConstraintsColumnsEqual):
    pass


class TestConstraintsRuntimeDdlEnforcement(_SparkTypes, BaseConstraintsRuntimeDdlEnforcement):
    @pytest.fixture(scope="class")
    def expected_sql(self) -> str:
        return DDL


class TestIncrementalConstraintsRuntimeDdlEnforcement(
    _SparkTypes, BaseIncrementalConstraintsRuntimeDdlEnforcement
):
    @pytest.fixture(scope="class")
    def expected_sql(self) -> str:
        return DDL


class TestConstraintQuotedColumn(_SparkTypes, BaseConstraintQuotedColumn):
    # Spark quotes names with backticks.
    replacements = {**_SparkTypes.replacements, '"from"': "`from`"}

    @pytest.fixture(scope="class")
    def expected_sql(self) -> str:
        return """
create or replace table <model_identifier> using iceberg as
select id, `from`, date_day from (
    select 'blue' as `from`, 1 as id, '2019-01-01' as date_day
) as model_subq
"""
