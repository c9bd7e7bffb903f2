"""Answers blocks of a statement from materialized views that it does not name.

`rewriter` may be imported by whoever sees statements, `match` by whoever holds two normal forms.
Nothing here knows where a statement comes from, or sends one to Spark by itself.
"""
