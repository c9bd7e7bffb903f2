"""The fixtures of the materialized-view tests, on one warehouse with an earlier version."""

from tests.functional.materialized_view.conftest import lake, project

__all__ = ["lake", "project"]
