"""Decides how a view is refreshed: candidates, their cost, the plan and its reason.

Take from it: `candidates.Planner`, `plan` (the plan as a value), `analyzer`, `explain`, `pinning`.
It reads what it needs of the catalog; it changes nothing, and does not know how a plan is run.
"""
