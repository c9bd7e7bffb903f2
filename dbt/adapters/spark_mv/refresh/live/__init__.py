"""Live views: beside a materialized view a plain view that any client of Spark can read, and whose
rows are those of the query at the time of the read: stored ones as long as they are right.

Take from it: `live_views.LiveViews`. Nothing here refreshes, and no refresh depends on it.
"""
