"""What the catalog says of relations: what a name stands for, versions, changes, partitions.

Take from it: `resolver` (names to facts), `versions`, `change_sets` (rows between two versions),
`partitions`, `iceberg`. It knows table formats; it knows nothing of materialized views.
"""
