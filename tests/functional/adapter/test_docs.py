"""dbt-tests-adapter: docs and persisted descriptions."""

from typing import Any

import pytest
from dbt.tests.adapter.basic.expected_catalog import (
    base_expected_catalog,
    expected_references_catalog,
)
from dbt.tests.adapter.basic.test_docs_generate import BaseDocsGenerate, BaseDocsGenReferences
from dbt.tests.adapter.persist_docs.test_persist_docs import (
    BasePersistDocs,
    BasePersistDocsAllColumnsMissing,
    BasePersistDocsColumnMissing,
    BasePersistDocsCommentOnQuotedColumn,
    BasePersistDocsQuotedColumnCaseSensitive,
    BasePersistDocsQuotedDescriptionNotAppliedOnMismatch,
)
from dbt.tests.util import AnyInteger, run_dbt


class _Catalog:
    @pytest.fixture(scope="class")
    def types(self, project: Any) -> dict[str, Any]:
        return {
            "project": project,
            "role": None,
            "id_type": "bigint",
            "text_type": "string",
            "time_type": "timestamp",
            "view_type": "view",
            "table_type": "table",
            "model_stats": AnyStats(),
            "seed_stats": AnyStats(),
        }


class TestDocsGenerate(_Catalog, BaseDocsGenerate):
    @pytest.fixture(scope="class")
    def expected_catalog(self, types: dict[str, Any]) -> Any:
        return _without_owner(base_expected_catalog(**types))


class TestDocsGenReferences(_Catalog, BaseDocsGenReferences):
    @pytest.fixture(scope="class")
    def expected_catalog(self, types: dict[str, Any]) -> Any:
        expected = expected_references_catalog(**types, bigint_type="bigint")
        for node in (*expected["nodes"].values(), *expected["sources"].values()):
            for column in node["columns"].values():
                # The base counts from one.
                column["index"] = AnyInteger()
        return _without_owner(expected)


class TestPersistDocs(BasePersistDocs):
    pass


class TestPersistDocsColumnMissing(BasePersistDocsColumnMissing):
    pass


class TestPersistDocsAllColumnsMissing(BasePersistDocsAllColumnsMissing):
    pass


class TestPersistDocsQuotedColumnCaseSensitive(BasePersistDocsQuotedColumnCaseSensitive):
    pass


class TestPersistDocsQuotedDescriptionNotAppliedOnMismatch(
    BasePersistDocsQuotedDescriptionNotAppliedOnMismatch
):
    pass


class TestPersistDocsCommentOnQuotedColumn(BasePersistDocsCommentOnQuotedColumn):
    pass


class AnyStats:
    """Equal to all statistics: views have none, and the size of a file is Spark's affair."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, dict) and "has_stats" in other


def _without_owner(catalog: Any) -> Any:
    # Spark tells the owner of a table, but not of a view.
    for node in (*catalog["nodes"].values(), *catalog["sources"].values()):
        node["metadata"]["owner"] = AnyOwner()
    return catalog


class AnyOwner:
    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, str)


class TestDocsOfSchemas:
    """dbt joins the statistics of all schemas, which have to be of one type."""

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        view = "{{ config(materialized='bq_materialized_view') }} select id % 3 as k, count(*) n"
        return {
            "hidden.sql": f"{view} from {{{{ ref('base') }}}} group by id % 3 having count(*) > 1",
            "counted.sql": f"{view} from {{{{ ref('base') }}}} group by id % 3",
            "base.sql": "{{ config(materialized='table', schema='two') }} select id from range(9)",
        }

    def test_docs(self, project: Any) -> None:
        run_dbt(["run"])
        catalog = run_dbt(["docs", "generate"])
        stats = {key.split(".")[-1]: node.stats for key, node in catalog.nodes.items()}
        assert stats["counted"]["rows"].value == 3
        assert "rows" not in stats["hidden"] or not stats["hidden"]["rows"].include
        assert stats["hidden"]["staleness"].value.startswith("FRESH")
