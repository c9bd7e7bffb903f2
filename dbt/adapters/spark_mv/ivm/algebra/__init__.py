"""Building blocks of the queries that rules write: terms, aggregates, multisets of rows.

Take from it: `terms` (weights, names, `Rule`), `aggregates`, `scopes`, `measures`, `multiset`.
It knows no rule and no rewriting.
"""
