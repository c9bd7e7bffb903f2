"""dbt is killed while a model gets another materialization: no row is lost, the next run ends it.

Each case has a model of its own; the processes that die start together, because most of their time
is that of starting Spark.
"""

from __future__ import annotations

import copy
import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.spark_mv.core.failpoints import FAILPOINTS, TESTING
from dbt.adapters.spark_mv.spark.local import cds_archive
from tests.functional.concurrency.processes import JAVA, write_class_archive
from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.test_replacements import (
    EARLY,
    LATE,
    MV,
    QUERY,
    assert_left,
    is_registered,
    of_name,
    put,
    run,
)
from tests.functional.materialized_view.warehouse import Warehouse, assert_same
from tests.sampling import sample

FILES: dict[str, str] = {}
CHANGED = ", 1 as version"
# Each costs two runs of dbt and a Spark of its own.
ALWAYS = [
    ("table", MV, "backed_up.after"),
    ("table", MV, "view.after"),
    ("view", MV, "view.after"),
    (MV, "table", "backed_up.after"),
    (MV, "view", "storage_dropped.after"),
    ("", MV, "view.after"),
]
OTHERS = [
    (MV, "snapshot", "backed_up.after"),
    (MV, "table", "storage_dropped.after"),
    ("table", MV, "storage.after"),
    ("table", MV, "registered.after"),
    ("view", MV, "storage.after"),
    (MV, "table", "swapped_in.after"),
    (MV, "incremental", "backed_up.after"),
    (MV, "view", "backed_up.after"),
    ("view", "table", "backed_up.after"),
    ("view", "table", "swapped_in.after"),
    ("table", "view", "backed_up.after"),
    (MV, MV, "view.after"),
    ("", MV, "storage.after"),
]
CASES = sample(ALWAYS, OTHERS)
NAMES = {case: f"c{number}" for number, case in enumerate(CASES)}
# After these the new relation is complete.
COMPLETE = ("view.after", "registered.after", "swapped_in.after", "storage_dropped.after")
AT_ONCE = 4


@pytest.fixture(scope="module")
def crashed(lake: Warehouse, project: DbtProject, tmp_path_factory: Any) -> None:
    """The models were built as what they were first; the run that was to change them has died."""
    lake.sql("create materialized view @.other as select id from @.orders")
    for (old, _, _), name in NAMES.items():
        if old:
            put(project, name, old)
    project.dbt("run")
    for (_, new, _), name in NAMES.items():
        put(project, name, new, CHANGED)
    folder = tmp_path_factory.mktemp("killed")
    small = copy.deepcopy(lake.target)
    small["spark_conf"] = {**small["spark_conf"], **JAVA}
    profile = {"test": {"target": "test", "outputs": {"test": small}}}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profile))
    write_class_archive(lake.target["path"])
    cases = iter(CASES)
    while batch := list(itertools.islice(cases, AT_ONCE)):
        processes = [start(project, folder, case) for case in batch]
        for case, process in zip(batch, processes, strict=True):
            out, _ = process.communicate(timeout=300)
            assert process.returncode == -signal.SIGKILL, (case, out)


def start(project: DbtProject, profiles: Path, case: tuple[str, str, str]) -> Any:
    """The run of a case's model, which dies at the case's point."""
    _, new, point = case
    own = profiles / NAMES[case]
    arguments = ["snapshot" if new == "snapshot" else "run", "-s", NAMES[case]]
    arguments += ["--project-dir", str(project.folder), "--profiles-dir", str(profiles)]
    arguments += ["--target-path", str(own / "target"), "--log-path", str(own / "logs")]
    return subprocess.Popen(
        [sys.executable, "-c", "from dbt.cli.main import cli; cli()", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env={**os.environ, FAILPOINTS: f"{point}=kill", TESTING: "1", cds_archive.SWITCH: "1"},
    )


def columns_of(lake: Warehouse, name: str) -> list[str]:
    return [row[0] for row in lake.spark(f"describe @.{name}")]


def assert_rows(lake: Warehouse, name: str) -> None:
    """Whatever is there is complete, and reads like the model before or after its change."""
    assert_same(lake, f"select customer, total from @.{name}", QUERY)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(case))
def test_next_run(lake: Warehouse, project: DbtProject, crashed: None, case: Any) -> None:
    """Rows are where they were, or the new ones are complete; a run that fails leaves it so under
    the model's name, and one that does not leaves nothing of the former."""
    (old, new, point), name = case, NAMES[case]
    there = {found for _, found in of_name(lake, name)}
    if old:
        assert_rows(lake, name if name in there else f"{name}__dbt_backup")
    put(project, name, new, EARLY if new == "view" else LATE)
    run(project, name, new, fails=True)
    there = {found for _, found in of_name(lake, name)}
    assert f"{name}__dbt_backup" not in there and (name in there) == (
        bool(old) or point in COMPLETE
    )
    if name in there:
        assert_rows(lake, name)
        assert ("version" in columns_of(lake, name)) == (point in COMPLETE)
        is_mv = (new if point in COMPLETE else old) == MV
        assert is_registered(lake, name) == is_mv
    put(project, name, new, CHANGED)
    run(project, name, new)
    lake.operation("sweep")
    assert_rows(lake, name)
    assert_left(lake, name, new)
    assert is_registered(lake, name) == (new == MV)
    assert "version" in columns_of(lake, name)


@pytest.mark.parametrize("first", ["run", "refresh", "read"])
def test_view_that_was_never_registered(
    lake: Warehouse, project: DbtProject, crashed: None, first: str
) -> None:
    """Its creator died between view and metadata: whatever comes first registers it, and nothing
    that has changed since is missed."""
    name = f"late_{first}"
    project.write({f"models/{name}.sql": text_of(name)})
    project.dbt("run", "-s", name)
    lake.spark(f"delete from @meta.mv_events where view_name like '%.{name}'")
    lake.spark("insert into @.orders values (90, 'eve', 1)")
    if first == "run":
        project.dbt("run", "-s", name)
    elif first == "refresh":
        lake.apart(f"refresh materialized view @.{name}", "run-operation")
    else:
        project.show(f"select * from {{{{ ref('{name}') }}}}")
    assert is_registered(lake, name)
    assert_same(lake, f"select * from @.{name}", "select id from @.orders")


def text_of(name: str) -> str:
    config = "{{ config(materialized='bq_materialized_view') }}"
    return f"{config} select id from {{{{ source('raw', 'orders') }}}} -- {name}"
