"""Whether a materialized view is fresh: an observation of it, and the judgement of versions.

Take from it: `observation.Observer`, `freshness.judge`, `freshness.Label`.
It reads and compares; it neither decides what to do about a stale view nor does anything.
"""
