"""The statement that a model stands for."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.config.model import create_statement, parse_statement


@pytest.mark.parametrize("given", ["Dec X", "`Dec X`", ["Dec X"], ["`Dec X`"]])
def test_cluster_by(given: object) -> None:
    """Names, in backticks or not."""
    model = {"config": {"cluster_by": given, "partition_by": "`Dec X`"}}
    made = parse_statement(create_statement("`d`.`m`", "select 1 as `Dec X`", model))
    assert (made.cluster_by, made.partition_by) == (("Dec X",), ("`Dec X`",))
