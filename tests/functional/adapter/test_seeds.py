"""dbt-tests-adapter: seeds, and models that copy them.

Left out: BaseSimpleCopyUppercase, which is about a Postgres database of mixed case.
"""

from pathlib import Path
from typing import Any

import pytest
from dbt.tests.adapter.simple_copy.test_simple_copy import SimpleCopyBase
from dbt.tests.adapter.simple_seed import fixtures, seeds
from dbt.tests.adapter.simple_seed.test_seed import (
    BaseBasicSeedTests,
    BaseSeedConfigFullRefreshOff,
    BaseSeedConfigFullRefreshOn,
    BaseSeedCustomSchema,
    BaseSeedParsing,
    BaseSeedSpecificFormats,
    BaseSeedWithEmptyDelimiter,
    BaseSeedWithUniqueDelimiter,
    BaseSeedWithWrongDelimiter,
    BaseSimpleSeedEnabledViaConfig,
    BaseSimpleSeedWithBOM,
    BaseTestEmptySeed,
)
from dbt.tests.adapter.simple_seed.test_seed_type_override import BaseSimpleSeedColumnOverride
from dbt.tests.util import run_dbt

from tests.functional.adapter.postgres_text import WrittenForPostgres


class TestBasicSeedTests(WrittenForPostgres, BaseBasicSeedTests):
    # Without CASCADE a view on a seed stays and reads the new one.
    def test_simple_seed_full_refresh_flag(self, project: Any) -> None:
        self._build_relations_for_test(project)
        self._check_relation_end_state(
            run_result=_seed("--full-refresh"), project=project, exists=True
        )


class TestSeedConfigFullRefreshOn(WrittenForPostgres, BaseSeedConfigFullRefreshOn):
    # As above.
    def test_simple_seed_full_refresh_config(self, project: Any) -> None:
        self._build_relations_for_test(project)
        self._check_relation_end_state(run_result=_seed(), project=project, exists=True)


class TestSeedConfigFullRefreshOff(WrittenForPostgres, BaseSeedConfigFullRefreshOff):
    pass


class TestSeedCustomSchema(WrittenForPostgres, BaseSeedCustomSchema):
    pass


class TestSeedWithUniqueDelimiter(WrittenForPostgres, BaseSeedWithUniqueDelimiter):
    pass


class TestSeedWithWrongDelimiter(WrittenForPostgres, BaseSeedWithWrongDelimiter):
    pass


class TestSeedWithEmptyDelimiter(WrittenForPostgres, BaseSeedWithEmptyDelimiter):
    pass


class TestSimpleSeedEnabledViaConfig(WrittenForPostgres, BaseSimpleSeedEnabledViaConfig):
    pass


class TestSeedParsing(WrittenForPostgres, BaseSeedParsing):
    pass


class TestSimpleSeedWithBOM(WrittenForPostgres, BaseSimpleSeedWithBOM):
    @pytest.fixture(scope="class", autouse=True)
    def setUp(self, project: Any) -> None:
        # The base copies a file that its package does not hold.
        project.run_sql(seeds.seeds__expected_sql)
        text = "\ufeff" + seeds.seed__actual_csv.lstrip()
        folder = Path(project.project_root) / "seeds"
        folder.mkdir(exist_ok=True)
        (folder / "seed_bom.csv").write_text(text, encoding="utf-8")


class TestSeedSpecificFormats(WrittenForPostgres, BaseSeedSpecificFormats):
    @pytest.fixture(scope="class")
    def test_data_dir(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        # The base writes into the folder of this file, and removes it.
        return tmp_path_factory.mktemp("data") / "seeds"


class TestEmptySeed(BaseTestEmptySeed):
    pass


class TestSimpleSeedColumnOverride(BaseSimpleSeedColumnOverride):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        names = {"text": "string", "boolean": "boolean", "timestamp without time zone": "timestamp"}
        schema = fixtures.properties__schema_yml
        for postgres, spark in names.items():
            schema = schema.replace(f"type: {postgres}\n", f"type: {spark}\n")
        return {"schema.yml": schema.replace("type: integer\n", "type: bigint\n")}

    @staticmethod
    def seed_enabled_types() -> dict[str, str]:
        return {"seed_id": "string", "birthday": "date"}

    @staticmethod
    def seed_tricky_types() -> dict[str, str]:
        return {
            "seed_id_str": "string",
            "looks_like_a_bool": "string",
            "looks_like_a_date": "string",
        }


class TestSimpleCopy(SimpleCopyBase):
    @pytest.mark.skip(reason="made by hand with Postgres text; our own suites create views")
    def test_simple_copy_with_materialized_views(self, project: Any) -> None:
        """Covered by the suites of materialized views."""


def _seed(*options: str) -> Any:
    return run_dbt(["seed", *options])
