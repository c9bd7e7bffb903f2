"""Materialized views for Apache Spark, from dbt.

The packages, from the bottom up: `core` and `sql` know nothing of views; `catalog` says what a
table is and which version it has, `config` what may be configured, `views` what a materialized view
is; `metadata` remembers, `state` judges freshness; `ivm` derives the rows after a change;
`planning` decides, `refresh` does; `statements` sees every statement, `operations` are what people
run by name; `spark` is Spark's side, `glue`, with the modules that every adapter has, dbt's.
"""

from importlib import import_module
from typing import Any

__all__ = ["Plugin"]


def __getattr__(name: str) -> Any:
    """dbt's plugin, made at the first access: what lies below it is imported without dbt."""
    if name == "Plugin":
        return import_module(f"{__name__}.glue.plugin").Plugin
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
