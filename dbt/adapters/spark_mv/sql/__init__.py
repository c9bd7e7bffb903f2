"""Text and trees of SQL: names, statements, and what they read and write.

Take from it: `names.TableName`, `statement.classify`, `reads`, `dialect` (DDL of views),
`literals`. It knows sqlglot only: it asks nobody what a name stands for, and runs nothing.
"""
