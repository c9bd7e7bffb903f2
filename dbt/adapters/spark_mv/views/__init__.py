"""What a materialized view is: its definition, dependencies, properties and statements.

Take from it: `definition.MaterializedView`, `registry` (finds them in the catalog), `dependencies`,
`storage_sql`. It does not know whether a view is fresh, nor how it is refreshed.
"""
