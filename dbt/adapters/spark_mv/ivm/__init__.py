"""Incremental view maintenance: which queries qualify, and the rows after a change of tables.

Take from it: `analysis.analyse_query`, `program.rows_after`, and `partitions` for their lineage.
Trees in, trees out: it asks Spark nothing, and knows neither versions nor storage tables.
"""
