"""Carries out plans: refresh locks, builds on branches and in staging tables, publishing.

Take from it: `refresher.Refresher`, `builder`, `history`, `services.Services`.
It decides nothing: which rows are computed is in the plan that it is handed.
"""
