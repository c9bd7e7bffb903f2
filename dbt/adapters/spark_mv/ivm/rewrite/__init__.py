"""Passes from the query as it is written to the canonical form that delta rules know.

Each module is one pass, from an expression to an equal expression; `canonical` is their order.
A pass does not know that anything will be refreshed: it keeps the rows of every query.
"""
