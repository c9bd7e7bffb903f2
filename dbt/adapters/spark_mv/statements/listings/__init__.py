"""What statements can list of the views: INFORMATION_SCHEMA and table functions.

Take from it: the functions that put subqueries over the metadata into a statement.
"""
