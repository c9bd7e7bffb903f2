"""The clients that `core.executor` promises: Spark sessions, servers, Iceberg's catalog.

Take from it: `clients` (executors), `iceberg_catalog` (reads without a Spark job), `session`.
It runs what it is given; it does not know what a materialized view is.
"""
