"""Apply forms: how changed rows are brought into those that are stored.

`additive` keeps state of aggregates, `merge` adds to it, `top_n` moves spare rows up.
It knows the columns of a storage table; it does not know how changes are derived.
"""
