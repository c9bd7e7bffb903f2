"""What is remembered between commands: an append-only log of events, and its projection.

Take from it: `log.Memory`, `projection.State`, `events`. The metadata is an index, never the truth:
freshness is judged by versions, and everything but the history can be rebuilt from the views.
"""
