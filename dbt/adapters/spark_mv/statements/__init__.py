"""Every statement that comes from dbt: verbs, reads that are held, writes that are noted.

Take from it: `pipeline.StatementPipeline`, `ddl`, `lifecycle`, `read_gate`, `read_policy`.
It knows SQL and views; it knows nothing of dbt but the node that a statement is of.
"""
