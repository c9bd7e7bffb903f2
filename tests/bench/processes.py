"""Commands of dbt in processes of their own, as a user starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from dbt.adapters.spark_mv.spark.local import jars, warehouse
from tests.bench.world import World

_MOST_SECONDS = 300
_LAST = 4000


def dbt(folder: Path, target: str, *words: str) -> None:
    """Run one command for a project to its end; an error is raised with what dbt printed."""
    output = folder / f"target_{target}"
    output.mkdir(exist_ok=True)
    command = [str(Path(sys.executable).with_name("dbt")), *words, "--target", target]
    command += ["--project-dir", str(folder), "--profiles-dir", str(folder)]
    command += ["--target-path", str(output)]
    # dbt-spark's session is one with Hive, which keeps a database in the current folder.
    done = subprocess.run(
        command,
        cwd=output,
        env={**os.environ, "SPARK_CONF_DIR": str(folder / "conf")},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        said = (done.stdout + done.stderr)[-_LAST:]
        raise RuntimeError(f"{' '.join(command)} failed:\n{said}")


def write_spark_conf(world: World, folder: Path) -> None:
    """The settings of the bench's Spark, for the Spark that dbt-spark starts."""
    settings = warehouse.embedded_conf(world.credentials.path, dict(world.credentials.spark_conf))
    lines = [f"{name} {value}\n" for name, value in settings.items()]
    (folder / "conf").mkdir(exist_ok=True)
    (folder / "conf" / "spark-defaults.conf").write_text("".join(lines))


def wait_for_class_archive() -> None:
    """Until no Spark in the background writes one: it is written once, after a first command."""
    time.sleep(2)
    deadline = time.monotonic() + _MOST_SECONDS
    while any((jars.cache_folder() / "class-archive").glob("*.lock")):
        if time.monotonic() > deadline:
            raise RuntimeError("the class archive was not written")
        time.sleep(0.5)


def methods_of_run(folder: Path, target: str) -> dict[str, int]:
    """How many models the last run refreshed by which method."""
    results = json.loads((folder / f"target_{target}" / "run_results.json").read_text())["results"]
    return dict(Counter(str(result["adapter_response"].get("method")) for result in results))
