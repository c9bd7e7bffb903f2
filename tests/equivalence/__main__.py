"""Random views over random tables with a random history, seed after seed.

A seed that is wrong prints the query of the view, and all statements that made and changed the
tables, so that the case can be made smaller by hand.

With `--matrix`, instead of that: every type with every layout of tables and views, in an order in
which every part is a sample; all of it takes days, `--part 3/200` less than an hour.

With `--rewrite 60000`, so many random pairs of a query and a materialized view that may answer it,
on DuckDB; that takes minutes. Kinds of them take turns: plain blocks, what is compared as a whole,
sets of keys and subqueries, views that join more tables than the query reads or have a part of its
rows, joins of all kinds, fields of structures, years, functions of aggregates, and other words for
the same.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.conftest import JAVA
from tests.functional.materialized_view.matrix_run import run_cases
from tests.functional.materialized_view.matrix_sample import cases, everything
from tests.functional.materialized_view.random_histories import STEPS, VIEWS, Report, run_seed
from tests.functional.materialized_view.warehouse import Warehouse
from tests.unit.rewrite.atoms import COLUMNS
from tests.unit.rewrite.extra_pairs import HELD, extra_pair
from tests.unit.rewrite.harness import Report as Pairs
from tests.unit.rewrite.harness import Tables, run
from tests.unit.rewrite.implied_pairs import any_implied_pair
from tests.unit.rewrite.join_pairs import any_join_pair
from tests.unit.rewrite.lake import Lake
from tests.unit.rewrite.packed_pairs import PACKED, pack, packed_pair
from tests.unit.rewrite.pairs import pair
from tests.unit.rewrite.shapes import Pair
from tests.unit.rewrite.union_pairs import union_pair
from tests.unit.rewrite.whole_pairs import whole_pair
from tests.unit.rewrite.worded_pairs import any_worded_pair
from tests.unit.rewrite.wrapped_pairs import wrapped_pair
from tests.unit.rewrite.year_pairs import year_pair


def main() -> int:
    """Run seeds, or the matrix; prints counts, and everything that was wrong."""
    parser = argparse.ArgumentParser(prog="equivalence")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--views", type=int, default=VIEWS)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--refusals", action="store_true", help="print what was refused, and why")
    parser.add_argument("--matrix", action="store_true", help="types and layouts, see above")
    parser.add_argument("--part", default="1/1", metavar="N/M", help="one of so many parts of it")
    parser.add_argument("--rewrite", type=int, metavar="N", help="pairs of a query and a view")
    given = parser.parse_args()
    if given.rewrite:
        return _rewritten(range(given.first, given.first + given.rewrite))
    target = _target(tempfile.mkdtemp(prefix="equivalence"))
    return _matrix(target, given.part) if given.matrix else _seeds(target, given)


# In turn; those that are united are run in another way.
_KINDS = [whole_pair, extra_pair, union_pair, any_join_pair, pair, any_worded_pair, packed_pair]
_KINDS += [any_implied_pair, year_pair, wrapped_pair]


def _kind(seed: int) -> Callable[[int], Pair]:
    return _KINDS[seed % len(_KINDS)]


def _pair(seed: int) -> Pair:
    return _kind(seed)(seed)


def _rewritten(seeds: range) -> int:
    lake, report, tables = Lake(), Pairs(), Tables(COLUMNS | PACKED)
    pack(lake)
    for start in range(0, len(seeds), 1000):
        known = len(report.wrong)
        chosen = seeds[start : start + 1000]
        united = [seed for seed in chosen if _kind(seed) is union_pair]
        others = [seed for seed in chosen if _kind(seed) is not union_pair]
        run(others, lake, report=report, make=_pair, held=HELD, tables=tables)
        run(united, lake, report=report, make=union_pair, unites=True)
        print(f"{report.pairs} pairs, {report.matched} matched", flush=True)
        print("".join(f"{text}\n\n" for text in report.wrong[known:]), end="", flush=True)
    for (asked, stored, tables, own), count in sorted(report.forms.items()):
        print(f"{count:6} {asked} of {tables} answered by {stored} of {own}")
    _print_counts(report.rules + report.refused, len(report.wrong))
    return 1 if report.wrong else 0


def _matrix(target: dict[str, Any], part: str) -> int:
    number, of = (int(text) for text in part.split("/"))
    chosen = cases("m", everything())[number - 1 :: of]
    lake, did, wrong = Warehouse(target, "matrix"), Counter[str](), 0
    for place, case in enumerate(chosen, 1):
        report = run_cases(lake, [case])
        did, wrong = did + report.did, wrong + len(report.wrong)
        print(f"{case.name}, {place} of {len(chosen)}: {did['compared']} comparisons", flush=True)
    _print_counts(did, wrong)
    return 1 if wrong else 0


def _print_counts(did: Counter[str], wrong: int) -> None:
    for what, count in sorted(did.items()):
        print(f"{count:6} {what}")
    print(f"{wrong} wrong")


def _seeds(target: dict[str, Any], given: argparse.Namespace) -> int:
    report = Report()
    for seed in range(given.first, given.first + given.seeds):
        known = len(report.wrong)
        try:
            run_seed(target, seed, report, views=given.views, steps=given.steps)
        except Exception:
            report.wrong.append(f"seed {seed}: {traceback.format_exc()}")
        print(f"seed {seed}: {report.did['compared']} comparisons so far", flush=True)
        print("".join(f"{text}\n\n" for text in report.wrong[known:]), end="", flush=True)
    for code, text, query in report.refusals if given.refusals else ():
        print(f"{code}: {text.strip()[:400]}\n    {query}")
    _print_counts(report.did, len(report.wrong))
    return 1 if report.wrong else 0


def _target(folder: str) -> dict[str, Any]:
    conf = {
        "spark.master": "local[1]",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": JAVA,
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.codegen.wholeStage": "false",
    }
    given = {"type": "spark_mv", "method": "embedded", "path": folder, "threads": 4}
    return {**given, "spark_conf": conf}


if __name__ == "__main__":
    sys.exit(main())
