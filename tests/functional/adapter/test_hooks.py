"""dbt-tests-adapter: hooks around models and runs.

Left out: BasePrePostModelHooksInConfigWithCount, whose hooks vacuum (TestPrePostModelHooks has the
same ones without), and BasePrePostRunHooks, which needs a database above schemas.
"""

from typing import Any

import pytest
from dbt.tests.adapter.hooks import test_model_hooks
from dbt.tests.adapter.hooks.test_model_hooks import (
    BaseDuplicateHooksInConfigs,
    BaseHookRefs,
    BaseHooksRefsOnSeeds,
    BasePrePostModelHooks,
    BasePrePostModelHooksInConfig,
    BasePrePostModelHooksInConfigKwargs,
    BasePrePostModelHooksOnSeeds,
    BasePrePostModelHooksOnSeedsPlusPrefixed,
    BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace,
    BasePrePostModelHooksOnSnapshots,
    BasePrePostSnapshotHooksInConfigKwargs,
)
from dbt.tests.adapter.hooks.test_run_hooks import BaseAfterRunHooks

from tests.functional.adapter.postgres_text import WrittenForPostgres

TEXTS = (
    "test_state target_dbname target_host target_name target_schema target_type target_user"
    " target_pass"
).split()
TIMES = "run_started_at invocation_id thread_id".split()
FIELDS = [*TEXTS, "target_threads", *TIMES]


class _SparkHooks(WrittenForPostgres):
    @pytest.fixture(scope="class", autouse=True)
    def setUp(self, project: Any) -> None:
        kinds = [f"{name} {'int' if name == 'target_threads' else 'text'}" for name in FIELDS]
        table = f"{project.test_schema}.on_model_hook"
        project.run_sql(f"drop table if exists {table}; create table {table} ({', '.join(kinds)})")

    def check_hooks(self, state: str, project: Any, host: str | None, count: int = 1) -> None:
        # The base knows Postgres's database, port and user.
        table = f"{project.test_schema}.on_model_hook"
        query = f"select {', '.join(FIELDS)} from {table} where test_state = '{state}'"
        rows = project.run_sql(query, fetch="all")
        assert len(rows) == count
        for row in rows:
            found = dict(zip(FIELDS, row, strict=True))
            assert found["target_schema"] == project.test_schema
            assert (found["target_type"], found["target_threads"]) == ("spark_mv", 4)
            assert found["run_started_at"] and found["invocation_id"]
            assert found["thread_id"].startswith("Thread-")


class TestPrePostModelHooks(_SparkHooks, BasePrePostModelHooks):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        # Without the vacuum of Postgres.
        hooks = {
            "pre-hook": [test_model_hooks.MODEL_PRE_HOOK],
            "post-hook": [test_model_hooks.MODEL_POST_HOOK],
        }
        return {"models": {"test": hooks}}


class TestHookRefs(_SparkHooks, BaseHookRefs):
    pass


class TestPrePostModelHooksInConfig(_SparkHooks, BasePrePostModelHooksInConfig):
    pass


class TestPrePostModelHooksInConfigKwargs(_SparkHooks, BasePrePostModelHooksInConfigKwargs):
    pass


class TestPrePostModelHooksOnSeeds(BasePrePostModelHooksOnSeeds):
    pass


class TestHooksRefsOnSeeds(BaseHooksRefsOnSeeds):
    pass


class TestPrePostModelHooksOnSeedsPlusPrefixed(BasePrePostModelHooksOnSeedsPlusPrefixed):
    pass


class TestPrePostModelHooksOnSeedsPlusPrefixedWhitespace(
    BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace
):
    pass


class TestPrePostModelHooksOnSnapshots(BasePrePostModelHooksOnSnapshots):
    pass


class TestPrePostSnapshotHooksInConfigKwargs(BasePrePostSnapshotHooksInConfigKwargs):
    pass


class TestDuplicateHooksInConfigs(BaseDuplicateHooksInConfigs):
    pass


class TestAfterRunHooks(BaseAfterRunHooks):
    pass
