"""docs/supported_queries.md says what the classifier does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dbt.adapters.spark_mv.ivm.algebra import terms
from tests.supported_queries import CLOSING, HEADINGS, PAGE, page
from tests.unit.ivm.classified import FORMS, PARTITIONED, against_partition, verdicts
from tests.unit.ivm.constructs import Construct

PACKAGE = Path(terms.__file__).parents[2]
# What no text that Spark and sqlglot read leads to.
UNREACHED = {"RELATION"}
# What the catalog tells of the names in a query, whatever its form: conditions on the page.
OF_CATALOG = {"SPARK_VIEW", "COLUMN_GONE"}


def _title(construct: Construct) -> str:
    return construct.title


def test_page_is_what_the_classifier_says() -> None:
    assert PAGE.read_text() == page(), "`make docs` writes it anew"


@pytest.mark.parametrize("construct", FORMS, ids=_title)
def test_examples_agree(construct: Construct) -> None:
    """One row of the page says one thing."""
    outcomes = [verdict.outcome for verdict in verdicts(construct)]
    assert outcomes[0][0] in HEADINGS
    assert outcomes == [outcomes[0]] * len(outcomes)


@pytest.mark.parametrize("construct", PARTITIONED, ids=_title)
def test_examples_agree_by_partition(construct: Construct) -> None:
    reasons = against_partition(construct)
    assert reasons == [reasons[0]] * len(reasons)


def test_every_reason_has_an_example() -> None:
    """Each code that the classifier refuses a query with is that of an example."""
    refusing = [*(PACKAGE / "ivm").rglob("*.py")]
    refusing += [PACKAGE / "planning" / f"{name}.py" for name in ("analyzer", "plan_check")]
    texts = [path.read_text() for path in refusing]
    codes = {code for text in texts for code in re.findall(r'not_fast\(\s*"([A-Z_]+)"', text)}
    verdict_reasons = [verdict.reason for form in FORMS for verdict in verdicts(form)]
    reasons = [*verdict_reasons, *(r for form in PARTITIONED for r in against_partition(form))]
    shown = {reason.code for reason in reasons if reason is not None}
    assert codes - shown == UNREACHED | OF_CATALOG
    assert all(f"`{code}`" in CLOSING for code in OF_CATALOG)


def test_types_are_known() -> None:
    """What sqlglot cannot tell the type of would be refused for a reason that is not Spark's."""
    assert "unknown" not in page()
