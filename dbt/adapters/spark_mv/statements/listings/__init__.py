"""What statements can list of the views: INFORMATION_SCHEMA and table functions.

Take from it: `subqueries.with_listings`, which puts subqueries over the metadata into a statement,
and `table_functions.rows_of`. Nothing here runs a statement.
"""
