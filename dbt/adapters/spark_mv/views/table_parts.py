"""Names of branches, tags and metadata tables of tables of Iceberg."""

from __future__ import annotations

_SELECTORS = ("branch_", "tag_", "snapshot_id_", "at_timestamp_")
_METADATA_TABLES = frozenset(
    "history snapshots entries manifests partitions refs metadata_log_entries changes all_entries "
    "files data_files delete_files all_files all_data_files all_delete_files all_manifests "
    "position_deletes".split()
)


def is_part_of_table(parts: tuple[str, ...]) -> bool:
    """Whether a name may be that of a branch, tag or metadata table of an Iceberg table."""
    last = parts[-1].lower()
    return len(parts) > 1 and (last.startswith(_SELECTORS) or last in _METADATA_TABLES)
