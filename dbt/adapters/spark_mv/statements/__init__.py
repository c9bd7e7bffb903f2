"""Every statement that comes from dbt: DDL of views, reads that are gated, writes that are noted.

Take from it: `pipeline.StatementPipeline`, `ddl`, `lifecycle`, `read_gate`, `read_policy`.
It knows SQL and views; it knows nothing of dbt but the node that a statement is of.
"""
