"""What people and schedulers run by name: refresh, status, verify, maintain, sweep ...

Take from it: `questions`, `refreshing`, `upkeep`, `partitions`, and `report.Report`, which they
return.
It goes through `statements` as everything else does, and never around it.
"""
