"""One refresh under way, as a value."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from dbt.adapters.spark_mv.catalog.versions import Version
from dbt.adapters.spark_mv.planning.plan import RefreshPlan
from dbt.adapters.spark_mv.planning.request import Request
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.freshness import Label
from dbt.adapters.spark_mv.views.definition import MaterializedView


@dataclass(frozen=True)
class RefreshRun:
    """What is refreshed, for whom and how.

    `label` has the id of the refresh and the versions that it reads; `stored` are those that the
    rows which are there were made from. `branch` is that of its refresh lock, None if it has none;
    `in_staging` says that it makes a storage table of its own. `began` is in monotonic seconds.
    """

    view: MaterializedView
    request: Request
    plan: RefreshPlan
    label: Label
    branch: str | None
    stored: Mapping[TableName, Version]
    in_staging: bool = False
    began: float = field(default_factory=time.monotonic)

    @property
    def id(self) -> str:
        """The id of the refresh."""
        return self.label.refresh_id

    def seconds(self) -> float:
        """How long it has taken so far, to the millisecond."""
        return round(time.monotonic() - self.began, 3)
