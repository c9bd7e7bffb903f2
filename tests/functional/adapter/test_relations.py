"""dbt-tests-adapter: relations, their cache, their names.

Left out: BaseSameAliasDifferentDatabases, because Spark has no databases above schemas.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.adapter.aliases.test_aliases import (
    BaseAliasErrors,
    BaseAliases,
    BaseSameAliasDifferentSchemas,
)
from dbt.tests.adapter.caching.test_caching import (
    BaseCachingLowercaseModel,
    BaseCachingSelectedSchemaOnly,
    BaseCachingUppercaseModel,
    BaseNoPopulateCache,
)
from dbt.tests.adapter.column_types.test_column_types import BaseColumnTypes
from dbt.tests.adapter.concurrency.test_concurrency import BaseConcurrency
from dbt.tests.adapter.ephemeral.test_ephemeral import (
    BaseEphemeralErrorHandling,
    BaseEphemeralMulti,
    BaseEphemeralNested,
)
from dbt.tests.adapter.relations.test_changing_relation_type import (
    BaseChangeRelationTypeValidator,
)
from dbt.tests.adapter.relations.test_dropping_schema_named import BaseDropSchemaNamed
from dbt.tests.util import check_relations_equal, run_dbt

from tests.functional.adapter.postgres_text import WrittenForPostgres


class TestAliases(WrittenForPostgres, BaseAliases):
    pass


class TestAliasErrors(WrittenForPostgres, BaseAliasErrors):
    pass


class TestSameAliasDifferentSchemas(WrittenForPostgres, BaseSameAliasDifferentSchemas):
    pass


class _WithoutDatabase:
    def run_and_inspect_cache(self, project: Any, run_args: list[str] | None = None) -> None:
        # As the base does, which also compares the database; there is none here.
        seen = []
        for _ in range(2):
            run_dbt(run_args)
            (relation,) = project.adapter.cache.relations
            assert relation.schema == project.test_schema
            seen.append((relation.schema, relation.identifier))
        assert seen[0] == seen[1]


class TestCachingLowercaseModel(_WithoutDatabase, BaseCachingLowercaseModel):
    pass


class TestCachingUppercaseModel(_WithoutDatabase, BaseCachingUppercaseModel):
    pass


class TestCachingSelectedSchemaOnly(_WithoutDatabase, BaseCachingSelectedSchemaOnly):
    pass


class TestNoPopulateCache(_WithoutDatabase, BaseNoPopulateCache):
    pass


class TestColumnTypes(BaseColumnTypes):
    MODEL = """
    select
        cast(1 as smallint) as smallint_col,
        cast(2 as int) as int_col,
        cast(3 as bigint) as bigint_col,
        cast(4.0 as float) as real_col,
        cast(5.0 as double) as double_col,
        cast(6.0 as decimal(10, 2)) as numeric_col,
        cast('7' as string) as text_col,
        cast('8' as varchar(20)) as varchar_col
    """
    SCHEMA = """
version: 2
models:
  - name: model
    data_tests:
      - is_type:
          column_map:
            smallint_col: ['integer', 'number']
            int_col: ['integer', 'number']
            bigint_col: ['integer', 'number']
            real_col: ['float', 'number']
            double_col: ['float', 'number']
            numeric_col: ['numeric', 'number']
            text_col: ['string', 'not number']
            varchar_col: ['string', 'not number']
"""

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"model.sql": self.MODEL, "schema.yml": self.SCHEMA}

    def test_run_and_test(self, project: Any) -> None:
        self.run_and_test()


class TestConcurrency(WrittenForPostgres, BaseConcurrency):
    pass


class TestEphemeralMulti(WrittenForPostgres, BaseEphemeralMulti):
    def test_ephemeral_multi(self, project: Any) -> None:
        # The base compares the whole statement, which is that of Postgres.
        run_dbt(["seed"])
        run_dbt(["run"])
        check_relations_equal(project.adapter, ["seed", "dependent"])
        check_relations_equal(project.adapter, ["seed", "double_dependent"])
        check_relations_equal(project.adapter, ["seed", "super_dependent"])
        assert _ctes("double_dependent") == ["base", "base_copy"]


class TestEphemeralNested(BaseEphemeralNested):
    def test_ephemeral_nested(self, project: Any) -> None:
        # As above.
        assert len(run_dbt(["run"])) == 2
        assert _ctes("root_view") == ["ephemeral_level_two", "ephemeral"]


class TestEphemeralErrorHandling(BaseEphemeralErrorHandling):
    pass


class TestChangeRelationTypes(BaseChangeRelationTypeValidator):
    pass


class TestDropSchemaNamed(BaseDropSchemaNamed):
    pass


def _ctes(model: str) -> list[str]:
    text = Path(f"target/run/test/models/{model}.sql").read_text()
    return re.findall(r"__dbt__cte__(\w+) as \(", text)
