"""What is remembered between commands: an append-only log of events, and folds over it.

The metadata is an index and the memory, never the truth: freshness is judged by versions, and
everything but the history can be rebuilt from the materialized views themselves.
"""
