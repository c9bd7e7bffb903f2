"""What the conditions of a block say of its rows: equal columns, ranges, what is not NULL, days.

`facts.facts_of` is what the matching asks of them; `time_units` knows which units of time are told
by which. Nothing here knows of views.
"""
