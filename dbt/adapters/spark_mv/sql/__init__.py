"""Text and trees of SQL: names, statements, what they read and write. Pure; sqlglot only."""
