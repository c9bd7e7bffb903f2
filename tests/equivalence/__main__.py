"""Random views over random tables with a random history, seed after seed.

A seed that is wrong prints the query of the view, and all statements that made and changed the
tables, so that the case can be made smaller by hand.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import traceback
from typing import Any

from tests.conftest import QUICK_JAVA
from tests.functional.materialized_view.random_histories import STEPS, VIEWS, Report, run_seed


def main() -> int:
    """Run seeds; prints counts, and everything that was wrong."""
    parser = argparse.ArgumentParser(prog="equivalence")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--views", type=int, default=VIEWS)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--refusals", action="store_true", help="print what was refused, and why")
    given = parser.parse_args()
    report = Report()
    target = _target(tempfile.mkdtemp(prefix="equivalence"))
    for seed in range(given.first, given.first + given.seeds):
        known = len(report.wrong)
        try:
            run_seed(target, seed, report, views=given.views, steps=given.steps)
        except Exception:
            report.wrong.append(f"seed {seed}: {traceback.format_exc()}")
        print(f"seed {seed}: {report.did['compared']} comparisons so far", flush=True)
        print("".join(f"{text}\n\n" for text in report.wrong[known:]), end="", flush=True)
    for what, count in sorted(report.did.items()):
        print(f"{count:6} {what}")
    for code, text, query in report.refusals if given.refusals else ():
        print(f"{code}: {text.strip()[:400]}\n    {query}")
    print(f"{len(report.wrong)} wrong")
    return 1 if report.wrong else 0


def _target(folder: str) -> dict[str, Any]:
    conf = {
        "spark.master": "local[1]",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": QUICK_JAVA,
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.codegen.wholeStage": "false",
    }
    given = {"type": "spark_mv", "method": "embedded", "path": folder, "threads": 4}
    return {**given, "spark_conf": conf}


if __name__ == "__main__":
    sys.exit(main())
