"""The fixtures of the materialized-view tests, for races."""

from tests.functional.materialized_view.conftest import lake, project

__all__ = ["lake", "project"]
