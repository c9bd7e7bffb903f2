"""Lineage of partitions: which partitions of a view a changed row or file can reach.

Take from it: `lineage` (columns of a query to columns of tables), `join_lineage`, `transforms`.
Pure, as all of `ivm`: values of partitions are read by `planning`.
"""
