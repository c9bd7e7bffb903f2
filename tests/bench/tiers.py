"""What each tier measures, and the names of its cells; a page tells from them what is lacking."""

from __future__ import annotations

from dataclasses import dataclass

from tests.bench import rewriting_views, tpch_views
from tests.bench.cell import COMMANDS, PROJECT, READS, REFRESHES, REWRITING
from tests.bench.streams import DELETE, INSERT, LATE, UPDATE, Stream

ROUNDS = 5
FRACTIONS = (0.0001, 0.01, 0.1, 0.5)
INSERTS = tuple((INSERT, fraction) for fraction in FRACTIONS)
OTHERS = ((DELETE, 0.01), (UPDATE, 0.01), (LATE, 0.01))
# What is changed before each run of a command or of the project.
CHANGE = (INSERT, 0.01)
THREADS = (1, 4)
READERS = (4, 16)
REGISTERED = 1000
TABLES_OF_PROJECT = 10


@dataclass(frozen=True)
class Tier:
    """How much is measured: scales of the cinema, and TPC-H with its views and changes.

    `commands` are the views that whole commands work on; of the first every command is measured.
    `events` are the rows over which time passes and live views are read. `grown` has the rows of
    base tables and the number of refreshes up to which the growth of a refresh is measured,
    `orders` those of the shops.
    """

    cinema: tuple[int, ...]
    scale: float
    views: tuple[str, ...]
    changes: tuple[tuple[Stream, float], ...]
    rounds: int = ROUNDS
    commands: tuple[str, ...] = ()
    with_project: bool = False
    grown: tuple[tuple[int, ...], int] = ((10_000, 100_000), 60)
    orders: int = 2_000
    events: int = 200_000
    memory: str = "3g"


TIERS = {
    "smoke": Tier((1,), 0.1, ("q1", "late_lines"), (CHANGE,), 1, ("day_mode",)),
    "standard": Tier(
        (1, 10),
        1,
        tuple(tpch_views.VIEWS),
        (*INSERTS, *OTHERS),
        commands=("day_mode", "by_order"),
        with_project=True,
        grown=((1_000_000, 10_000_000, 100_000_000), 500),
        orders=1_000_000,
        events=10_000_000,
    ),
    "large": Tier(
        (1, 10),
        10,
        ("q1", "day_mode"),
        INSERTS,
        grown=((1_000_000, 10_000_000, 100_000_000), 5_000),
        orders=5_000_000,
        events=30_000_000,
        memory="6g",
    ),
}


def expected(tier: Tier) -> list[tuple[str, str]]:
    """Group and name of each cell of a tier, in order."""
    found = [(COMMANDS, name) for name in (*_of_commands(tier), YOUNG)]
    found.append((PROJECT, tables_only()))
    found += [(PROJECT, shop_run(name)) for name in SHOPS]
    if tier.with_project:
        found += [(PROJECT, project_run(threads)) for threads in THREADS]
    found += [(REFRESHES, refresh(view, *change)) for change in tier.changes for view in tier.views]
    if tier.with_project:
        found.append((REFRESHES, ONE_MONTH))
    found += [(REFRESHES, complete_refresh(scale)) for scale in tier.cinema]
    found += [(REFRESHES, name) for name in (BY_SIZE, BY_AGE, TICK)]
    found += [(READS, name) for name in _of_reads(tier)]
    return found + [(REWRITING, name) for name in _of_rewriting()]


def _of_commands(tier: Tier) -> list[str]:
    names = [run_stale(view) for view in tier.commands]
    for view in tier.commands[:1]:
        names += [run_fresh(view), show(view), STATUS]
    return names


def _of_reads(tier: Tier) -> list[str]:
    return [
        *READ_PATH,
        NOTHING_TO_DO,
        *(readers_of_one(readers) for readers in READERS),
        *(read_stored(scale) for scale in tier.cinema),
        LIVE_FRESH,
        LIVE_CHANGED,
        ORDER_OF_MANY,
        DEPENDENTS_OF_MANY,
    ]


def _of_rewriting() -> list[str]:
    return [
        *(rewritten(query) for query in rewriting_views.QUERIES),
        ALL_QUERIES,
        *(overhead(statement) for statement in OVERHEADS),
        SMALL_TABLE,
    ]


STATUS = "dbt run-operation status"
# Refreshes of one command whose time is shown, the first of which begins with a young JVM.
YOUNG_NUMBERS = (1, 2, 10, 18)
YOUNG = "fast refreshes of q1 in one command, 300 rows new before each"
SHOPS = ("small shop", "large shop")
BY_SIZE = "fast refresh of a sum, 300 rows new, by the size of the table"
BY_AGE = "fast refresh of a sum, 300 rows new, by the number of refreshes before"
TICK = "an hour later, a window of a year"
LIVE_FRESH = "read of a live view, nothing changed"
LIVE_CHANGED = "read of a live view, one of 100 partitions changed"
ONE_MONTH = "one month of 84 updated"
NOTHING_TO_DO = "refresh with nothing to do"
NO_VIEW, ONE_VIEW, CHAIN = READ_PATH = (
    "statement that reads no materialized view",
    "statement that reads a fresh one",
    "statement that reads a fresh chain of five",
)
ORDER_OF_MANY = f"order of refresh of {REGISTERED:,} views"
DEPENDENTS_OF_MANY = f"all dependents among {REGISTERED:,} views"


ALL_QUERIES = "all of these queries of TPC-H, one after the other"
SMALL_TABLE = "query of a small table, which is left as it is"
# Statements that no view answers, and the time that the search for one adds to them.
NO_TABLE, NO_MATCH, MANY_NO_MATCH = OVERHEADS = (
    "statement without a base table of any view",
    "statement with a base table of ten views, none of which answers it",
    f"statement with a base table of {REGISTERED:,} views, none of which answers it",
)


def rewritten(query: str) -> str:
    """A query of TPC-H that names no materialized view."""
    return f"{query}, which names no view"


def overhead(statement: str) -> str:
    """What the search for views adds to a statement."""
    return f"{statement}, {REGISTERED:,} views registered"


def run_stale(view: str) -> str:
    """`dbt run` of one view after a change."""
    return f"dbt run of {view}, {CHANGE[0].title(CHANGE[1])}"


def run_fresh(view: str) -> str:
    """`dbt run` of one view when nothing has changed."""
    return f"dbt run of {view}, nothing changed"


def show(view: str) -> str:
    """`dbt show` of a fresh view."""
    return f"dbt show of {view}, nothing changed"


def tables_only() -> str:
    """`dbt run` of a project without materialized views."""
    return f"dbt run of {TABLES_OF_PROJECT} tables, no views, in a running process"


def project_run(threads: int) -> str:
    """`dbt run` of all views of the project after a change."""
    return f"dbt run of the project, {CHANGE[0].title(CHANGE[1])}, --threads {threads}"


def shop_run(name: str) -> str:
    """`dbt run` of a shop after 1 % of its orders is new."""
    return f"dbt run of the {name}, 1% of the orders new"


def refresh(view: str, stream: Stream, fraction: float) -> str:
    """Refreshes of a view of TPC-H after a change."""
    return f"{view}, {stream.title(fraction)}"


def complete_refresh(scale: int) -> str:
    """A complete refresh of the cinema."""
    return f"complete refresh, cinema x{scale}"


def read_stored(scale: int) -> str:
    """Reads of stored rows and of the query."""
    return f"read of all rows, cinema x{scale}"


def readers_of_one(readers: int) -> str:
    """Concurrent readers of one stale view."""
    return f"{readers} readers of one stale view"
