"""Ratios against what users have today, in one process and one run; see `__main__`."""
