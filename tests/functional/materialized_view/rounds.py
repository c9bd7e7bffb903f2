"""Many views over the same tables, refreshed in turn after one change and another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE

_TURNS = 4 if WHOLE else 6


def refresh_after(
    lake: Warehouse, queries: Mapping[str, str], changes: Sequence[str], number: int
) -> None:
    """Make the change of this number; views that are refreshed have the rows of their query.

    After each change a sixth of the views has its turn, so that most are refreshed after several
    changes at once; if everything is wanted, a quarter, and after the last one all have.
    """
    lake.spark(changes[number])
    lake.restart()
    is_last = number == len(changes) - 1
    for place, (name, query) in enumerate(queries.items()):
        if not (is_last and WHOLE) and (place + number) % _TURNS:
            continue
        lake.sql(f"refresh materialized view @.{name}")
        # Spark 4.1 cannot plan EXCEPT ALL of every query with a subquery.
        assert Counter(lake.spark(f"select * from @.{name}")) == Counter(lake.spark(query)), name
        assert not is_last or lake.freshness(name) == "FRESH"
    lake.restart()
