"""dbt's side: the methods that macros call, the composition root, errors as dbt shows them.

`container.MaterializedViews` puts the parts together, once per command; `methods` are what
macros see. Nothing below imports from here: another front end would replace this package.
"""
