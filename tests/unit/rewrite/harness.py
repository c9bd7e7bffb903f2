"""Runs pairs of a query and a view: what the view answers must be what the query returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import partial

from dbt.adapters.spark_mv.catalog.constraints import Constraint
from dbt.adapters.spark_mv.rewrite import stored
from dbt.adapters.spark_mv.rewrite.match import Known, match
from dbt.adapters.spark_mv.rewrite.reading.blocks import BlockReader
from dbt.adapters.spark_mv.rewrite.reading.scopes import Scope, Table
from dbt.adapters.spark_mv.rewrite.stored import StoredColumn, StoredView
from dbt.adapters.spark_mv.rewrite.text import Answer, block_text
from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from dbt.adapters.spark_mv.sql.names import Namespace, TableName
from dbt.adapters.spark_mv.sql.reads import parse
from tests.unit.rewrite import rules
from tests.unit.rewrite.atoms import COLUMNS
from tests.unit.rewrite.lake import Lake
from tests.unit.rewrite.pairs import Pair, pair

HOME = Namespace("c", ("s",))
ROWS = 1000
SETS_OF_A_PAIR = 3
_AROUND = 5
# Forms of a query and a view, and whether both, one or none has several tables.
FORMS = {
    (asked, stored, tables, own)
    for asked, views in {
        "rows": ("rows",),
        "distinct": ("rows", "distinct", "groups"),
        "groups": ("rows", "groups"),
        "one": ("rows", "groups"),
    }.items()
    for stored in views
    for tables, own in ((1, 1), (2, 1), (2, 2))
}
FORMS -= {("distinct", "groups", 2, 1)}
FORMS |= {("groups", "distinct", 1, 1), ("one", "distinct", 1, 1), ("one", "one", 1, 1)}


class Tables:
    """The tables of the lake, or others."""

    def __init__(self, tables: dict[str, dict[str, str]] = COLUMNS) -> None:
        self.known = tables

    def find(self, parts: tuple[str, ...], home: Namespace) -> Table | None:
        """The table of a name."""
        columns = self.known.get(parts[-1].lower())
        if columns is None:
            return None
        name = TableName("c", ("s",), parts[-1].lower())
        return Table(name, tuple(columns.items()))


@dataclass
class Report:
    """What happened: forms of matches, refusals by code, rules that were used, what was wrong."""

    pairs: int = 0
    matched: int = 0
    forms: Counter[tuple[str, str, int, int]] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def met(self) -> set[tuple[str, str]]:
        """Forms of queries, with those of views that answered them."""
        return {(asked, stored) for asked, stored, *_ in self.forms}


def stored_view(text: str, types: list[str], tables: Tables, zone: str = "UTC") -> StoredView:
    """A view whose storage table has the columns that its query returns."""
    tree = parse(text)
    assert tree is not None, text
    forms = BlockReader(tables).forms(tree, Scope(HOME))
    names = [one.name or f"c{n}" for n, one in enumerate(forms[0].outputs)]
    columns = tuple(StoredColumn(n, kind, kind) for n, kind in zip(names, types, strict=True))
    name = TableName("c", ("s",), "v")
    return stored.stored_view(forms, name, TableName("c", ("s",), "mv_rows"), columns, zone)


def answered(
    query: str,
    view: StoredView,
    tables: Tables,
    held: Collection[Constraint] = (),
    unites: bool = False,
) -> Answer:
    """How the view answers the query, if this holds; raises `Unmatched`. With `unites` it is united
    with rows that it leaves out."""
    tree = parse(query)
    assert tree is not None, query
    return match(BlockReader(tables).forms(tree, Scope(HOME)), view, Known(ROWS, held, unites))


def text_of(answer: Answer) -> str:
    """The rewritten text."""
    return block_text(answer, lambda table: table.name)


def about(seed: int) -> range:
    """The seed that is the first by which a mutant is caught, and those next to it."""
    return range(max(0, seed - _AROUND), seed + 1)


def run(
    seeds: Iterable[int],
    lake: Lake,
    most_wrong: int = 10,
    report: Report | None = None,
    make: Callable[[int], Pair] = pair,
    held: Collection[Constraint] = (),
    unites: bool = False,
    tables: Tables | None = None,
) -> Report:
    """The pairs of some seeds, in a report of their own or one that goes on."""
    report, tables = report or Report(), tables or Tables()
    with rules.watched():
        for seed in seeds:
            attempt = partial(answered, tables=tables, held=held, unites=unites)
            _run_pair(make(seed), lake, tables, report, attempt)
            if len(report.wrong) >= most_wrong:
                break
    return report


def _run_pair(
    made: Pair,
    lake: Lake,
    tables: Tables,
    report: Report,
    attempt: Callable[[str, StoredView], Answer],
) -> None:
    report.pairs += 1
    try:
        with rules.of_a_match(report.rules):
            view = stored_view(made.view, made.stored.types, tables)
            text = text_of(attempt(made.query, view))
    except Unmatched as error:
        report.refused[error.reason.code] += 1
        return
    except Exception as error:
        report.wrong.append(_shown(made, "", repr(error)))
        return
    report.matched += 1
    report.forms[_form(made)] += 1
    for number in range(SETS_OF_A_PAIR):
        lake.use(made.seed * 7 + number * 11)
        try:
            expected = lake.rows(made.query)
            lake.store(made.view, [column.name for column in view.columns])
        except Exception as error:
            report.refused[f"DuckDB: {str(error).splitlines()[0][:90]}"] += 1
            return
        try:
            found = lake.rows(text)
        except Exception as error:
            found = Counter([str(error)])
        if found != expected:
            report.wrong.append(_shown(made, text, f"{found - expected} for {expected - found}"))
            return


def _form(made: Pair) -> tuple[str, str, int, int]:
    asked, kept = made.asked, made.stored
    return asked.form, kept.form, len(asked.tables), len(kept.tables)


def _shown(made: Pair, text: str, error: str) -> str:
    return (
        f"seed {made.seed}\n  query: {made.query}\n  view: {made.view}\n  text: {text}\n  {error}"
    )
