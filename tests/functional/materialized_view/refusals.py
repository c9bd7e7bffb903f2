"""Bad inputs: how each is refused, and where the case of each number is.

The numbers are those of the list of bad inputs that the design was checked with; every id of a
case in `test_bad_input_*.py` begins with its number.

    1-10     names                test_bad_input_names.py
    11-20    texts, properties    test_bad_input_texts.py; there is no HTML report (18) and no CSV
                                  export (19): their texts are stored as any other
    20-22, 25-28  events          test_bad_input_metadata.py
    21       YAML is read by dbt, before anything of ours; deep JSON as for 20
    23, 24   not there: no leases and no fences; the lock is a branch (test_refresh_refresh.py)
    29, 30   schedules, limits    test_bad_input_metadata.py; ranges in test_creation_errors.py
    31-46    definitions          test_bad_input_definitions.py; more of 31, 33-37, 39, 42 and 45
                                  in test_creation_errors.py; USE (40) in test_dependencies.py;
                                  a table over JDBC (43) is not tried
    44, 52, 53  test_base_table_changes.py, test_failures.py; `select *` (44) and a base file that
                is gone (53) in test_bad_input_environment.py
    17, 47, 48  sizes             test_bad_input_sizes.py, smaller where only the time would grow;
                                  a query that never ends (48): test_cancel.py
    49-51    settings             test_session_settings.py
    54       test_immutability.py; in the middle of a refresh: test_refresh_hand_write.py
    55, 56   test_immutability.py, test_refresh_upkeep.py; the removal of orphan files in the middle
             of a refresh is not tried
    57       test_refresh_refresh.py, test_refresh_hand_write.py, test_sweep.py
    58       metadata that is gone: test_metadata.py; the embedded catalog has no privileges
    59       test_metadata.py, test_bad_input_metadata.py; a newer version: test_newer_format.py
    60       test_create_create.py, test_create_drop.py, test_refresh_drop.py
    61       test_crashes.py
    62       a lost reply: test_cancel.py, test_raised.py; a server that dies: test_server_killed.py
    63       test_bad_input_disk.py
    64, 65   the catalog's files  test_bad_input_environment.py, test_bad_input_disk.py; NFS is not
                                  tried; Iceberg tries a truncated file (65) again for 90 s
    66       test_read_read.py, with eight threads; clocks are not compared
    67, 68   profile, secrets     test_bad_input_environment.py
    69       failpoints           tests/unit/test_failpoints.py, test_bad_input_environment.py
    70       checksum: tests/unit/test_jars.py; also of jars in the user's own folder
"""

from __future__ import annotations

import os
import re

import pytest

from tests.functional.materialized_view.warehouse import Warehouse

# Spark puts environment variables into statements; the JVM inherits this one.
MARKER, MARKER_VALUE = "DBT_BAD_INPUT_MARKER", "only-in-the-environment"
os.environ[MARKER] = MARKER_VALUE
SUBSTITUTED = f"${{env:{MARKER}}}"

GOOD = "select id, amount from @.orders"
HEADING = "Materialized View Error"
_FROM_THE_INSIDE = re.compile(
    r"\tat |Py4J|\b\w+Exception\b|\b(?:java|org|scala)\.\w+\.|Traceback|^\s*\+- |== \w|\bmv_\w+_\d",
    re.MULTILINE,
)


def error_of(lake: Warehouse, statement: str) -> str:
    """The two lines of the error of a statement that is refused."""
    with pytest.raises(Exception) as caught:
        lake.sql(statement)
    heading, *lines = str(caught.value).splitlines()
    text = "\n".join(line.strip() for line in lines)
    assert heading == HEADING, caught.value
    assert len(lines) == 2, text
    assert not _FROM_THE_INSIDE.search(text), text
    assert MARKER_VALUE not in text
    return text


def refused(lake: Warehouse, statement: str, pattern: str) -> None:
    """The statement is an error with this text, and nothing has changed."""
    before = lake.state()
    try:
        text = error_of(lake, statement)
        assert re.search(pattern, text, re.IGNORECASE), text
        assert lake.state() == before
    finally:
        lake.sql("drop materialized view if exists @.fresh")


def everything_stored(lake: Warehouse) -> str:
    """All that the schema and its metadata hold, as text, to look for what must not be there."""
    rows = [*lake.spark("select * from @meta.mv_events"), *lake.relations()]
    for _, name in lake.relations():
        rows += lake.spark(f"describe extended @.`{name}`")
        rows += lake.spark(f"show tblproperties @.`{name}`")
    return str(rows)
