"""Bad inputs: how each is refused, and where the case of each number is.

The numbers are those of the list of bad inputs that the design was checked with; every id of a
case in `test_bad_input_*.py` begins with its number.

    1-10     names                    test_bad_input_names.py
    11-17    texts, properties        test_bad_input_texts.py; 14 in a definition also in
                                      test_session_settings.py
    18, 19   no HTML report and no CSV export exist; a tag of this kind is in the texts (19)
    20-28    events and versions      test_bad_input_metadata.py
    23, 24   there are no leases and no fences: the claim is a branch (test_refresh_refresh.py)
    29, 30   schedules, thresholds    test_bad_input_metadata.py; ranges in test_creation_errors.py
    31-46    definitions              test_bad_input_definitions.py; more of 31, 33-37, 39, 42
                                      and 45 in test_creation_errors.py; 40 (USE) in
                                      test_dependencies.py
    44, 52, 53  test_base_table_changes.py, test_failures.py; `select *` and a base file that is
                gone (44, 53) in test_bad_input_environment.py
    47, 48   sizes                    test_bad_input_sizes.py; the timeout of 48: test_cancel.py
    49-51    test_session_settings.py
    54-56    test_immutability.py, test_sweep.py, test_refresh_base_write.py; never while a refresh
             is between two of its steps in test_crashes.py
    57       a claim that exists: test_refresh_refresh.py; main is never missing, as a storage table
             is created with its first commit
    58-60    metadata that is gone, older or newer: test_metadata.py, test_bad_input_metadata.py;
             60 in test_create_create.py
    61       test_crashes.py, test_refresh_refresh.py
    62       lost replies: tests/functional/servers; a proxy that cuts connections is not there yet
    63       a full disk needs a file system of its own, and is not tried
    64, 65   the catalog's files      test_bad_input_environment.py; NFS is not tried
    66       test_read_read.py; clocks are not compared across machines
    67, 68   profile, secrets         test_bad_input_environment.py
    69       failpoints               test_bad_input_environment.py
    70       jars                     tests/unit/test_jars.py (checksum); jars of the user's own are
                                      given to Spark as they are
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
    r"\tat |Py4J|\b\w+Exception\b|\b(?:java|org|scala)\.\w+\.|Traceback|^\s*\+- |== \w",
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
