"""The warehouse of the tests of materialized views, for statements in every form."""

from tests.functional.materialized_view.conftest import lake, project

__all__ = ["lake", "project"]
