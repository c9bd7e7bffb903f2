"""Until when the stored rows of a query that reads the clock are those of the query.

Take from it: `next_change.ExpiryFinder`. It parses and asks Spark; it changes nothing.
"""
