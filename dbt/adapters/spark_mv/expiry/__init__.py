"""Until when the stored rows of a query that reads the clock are those of the query.

Take from it: `next_change.ExpiryFinder`, which parses queries and asks Spark for a few values.
It changes nothing, and knows nothing of refreshes: the answer goes into the label of a build.
"""
