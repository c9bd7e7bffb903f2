"""Delta rules: the rows that come and go in a query when its tables change, by operator.

Take from it: `rules.Delta`, which picks the rule of a query in canonical form.
The rules know nothing of stored rows: how changes reach these is the business of `ivm.apply`.
"""
