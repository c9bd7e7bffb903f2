"""Refreshing: look at what is there, plan, run, publish; and reading by policy."""
