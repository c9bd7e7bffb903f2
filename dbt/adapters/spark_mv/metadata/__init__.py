"""What is remembered between commands: an append-only log of events, and its projection.

Take from it: `log.MetadataLog`, `projection.State`, `events`. The metadata is an index,
never the truth: freshness is judged by versions, and all but the history can be rebuilt.
"""
