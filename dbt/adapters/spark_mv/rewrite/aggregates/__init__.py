"""Aggregate functions over stored groups: the same calls, or what comes to them again.

May be imported by the matcher; knows terms, facts and what is stored, and nothing of how a query is
read or of which view is chosen.
"""
