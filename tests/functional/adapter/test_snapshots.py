"""dbt-tests-adapter: snapshots.

Left out: BaseSnapshotDbtValidToCurrent, which finds rows by the order in which Postgres stores
them; TestSnapshotNewRecordDbtValidToCurrent covers the setting.
"""

from dbt.tests.adapter.simple_snapshot.new_record_check_mode import BaseSnapshotNewRecordCheckMode
from dbt.tests.adapter.simple_snapshot.new_record_dbt_valid_to_current import (
    BaseSnapshotNewRecordDbtValidToCurrent,
)
from dbt.tests.adapter.simple_snapshot.new_record_timestamp_mode import (
    BaseSnapshotNewRecordTimestampMode,
)
from dbt.tests.adapter.simple_snapshot.test_ephemeral_snapshot_hard_deletes import (
    BaseSnapshotEphemeralHardDeletes,
    BaseSnapshotNewColumnSpecificCheckCols,
    BaseSnapshotNewColumnTimestampStrategy,
    BaseSnapshotNewColumnWithDeletes,
)
from dbt.tests.adapter.simple_snapshot.test_snapshot import BaseSimpleSnapshot, BaseSnapshotCheck
from dbt.tests.adapter.simple_snapshot.test_various_configs import (
    BaseSnapshotColumnNames,
    BaseSnapshotColumnNamesFromDbtProject,
    BaseSnapshotInvalidColumnNames,
    BaseSnapshotMultiUniqueKey,
)

from tests.functional.adapter.postgres_text import WrittenForPostgres


class TestSnapshotNewRecordTimestampMode(WrittenForPostgres, BaseSnapshotNewRecordTimestampMode):
    pass


class TestSnapshotNewRecordCheckMode(WrittenForPostgres, BaseSnapshotNewRecordCheckMode):
    pass


class TestSnapshotNewRecordDbtValidToCurrent(
    WrittenForPostgres, BaseSnapshotNewRecordDbtValidToCurrent
):
    pass


class TestSnapshotEphemeralHardDeletes(WrittenForPostgres, BaseSnapshotEphemeralHardDeletes):
    pass


class TestSnapshotNewColumnTimestampStrategy(
    WrittenForPostgres, BaseSnapshotNewColumnTimestampStrategy
):
    pass


class TestSnapshotNewColumnSpecificCheckCols(
    WrittenForPostgres, BaseSnapshotNewColumnSpecificCheckCols
):
    pass


class TestSnapshotNewColumnWithDeletes(WrittenForPostgres, BaseSnapshotNewColumnWithDeletes):
    pass


class TestSimpleSnapshot(WrittenForPostgres, BaseSimpleSnapshot):
    pass


class TestSnapshotCheck(WrittenForPostgres, BaseSnapshotCheck):
    pass


class TestSnapshotColumnNames(WrittenForPostgres, BaseSnapshotColumnNames):
    pass


class TestSnapshotColumnNamesFromDbtProject(
    WrittenForPostgres, BaseSnapshotColumnNamesFromDbtProject
):
    pass


class TestSnapshotInvalidColumnNames(WrittenForPostgres, BaseSnapshotInvalidColumnNames):
    pass


class TestSnapshotMultiUniqueKey(WrittenForPostgres, BaseSnapshotMultiUniqueKey):
    pass
