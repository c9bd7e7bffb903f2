"""Every way a materialized view (MV) can refuse, one class per cause.

The text of an error is two lines: what happened to which object and why, then the way out.
The outermost layer turns these into dbt's exceptions; no layer below it knows dbt.
"""

from __future__ import annotations


class NeedsSpark(Exception):
    """Files alone cannot answer; `why` says what would have to be asked of Spark.

    It is no error of a view, so no handler of those may take it for one.
    """

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


class MaterializedViewError(Exception):
    """Base class: `problem` names object and reason, `way_out` says what to do."""

    def __init__(self, problem: str, way_out: str = "") -> None:
        self.problem = problem
        self.way_out = way_out
        super().__init__(f"{problem}\n{way_out}" if way_out else problem)


class NotRewritten(MaterializedViewError):
    """A statement that materialized views have to answer, and cannot."""


class InvalidName(MaterializedViewError):
    """A name that no materialized view may have, or that cannot be understood."""


class AmbiguousName(MaterializedViewError):
    """A bare name that several registered materialized views have."""


class InvalidStatement(MaterializedViewError):
    """A materialized-view statement that does not follow the grammar."""


class InvalidOption(MaterializedViewError):
    """An option of an unknown name, a wrong type or out of its range."""


class InvalidArgument(MaterializedViewError):
    """An argument of an operation of a wrong type or out of its range."""


class InvalidProfile(MaterializedViewError):
    """A key of the profile that does not exist, or whose value is wrong."""


class NotAQuery(MaterializedViewError):
    """A definition that is not exactly one query."""


class UnsafeQuery(MaterializedViewError):
    """A definition that runs code or reads files outside the catalog."""


class UnsupportedSource(MaterializedViewError):
    """A definition that reads something whose changes cannot be followed."""


class NoBaseTable(MaterializedViewError):
    """A definition that reads no table at all."""


class MissingBaseTable(MaterializedViewError):
    """A definition that reads a table or view that does not exist."""


class DependencyCycle(MaterializedViewError):
    """A definition that reads itself, directly or through other relations."""


class DependencyMismatch(MaterializedViewError):
    """The text of a definition and Spark's plan of it name different tables."""


class RelationExists(MaterializedViewError):
    """A relation of the name exists and may not be replaced."""


class UnknownMaterializedView(MaterializedViewError):
    """There is no materialized view of that name."""


class ImmutableView(MaterializedViewError):
    """Somebody tried to change a materialized view other than by a refresh."""


class RefreshRunning(MaterializedViewError):
    """Another refresh of the same materialized view is running."""


class RefreshFailed(MaterializedViewError):
    """A refresh ended without a new build; the old rows are untouched."""


class ViewDropped(RefreshFailed):
    """A refresh whose materialized view was dropped meanwhile."""


class FastRefreshFailed(RefreshFailed):
    """The statement of a fast refresh failed; a complete one may do."""


class RefreshCancelled(RefreshFailed):
    """A refresh that somebody ended."""


class NoRefreshRunning(MaterializedViewError):
    """A refresh that is to be cancelled is not running, or has been cancelled already."""


class PublishRefused(MaterializedViewError):
    """Something changed since a refresh began, so its build is discarded and it starts again."""


class DuplicateKey(MaterializedViewError):
    """A query returns several rows for one value of the view's `unique_key`."""


class StaleRead(MaterializedViewError):
    """A read of a stale materialized view whose policy is to fail."""


class MethodNotAvailable(MaterializedViewError):
    """A refresh method that was asked for strictly cannot be used."""


class UnsupportedCatalog(MaterializedViewError):
    """A catalog or connection that cannot hold what a materialized view needs."""


class GroupMoves(MaterializedViewError):
    """Views of one consistency group could not be read at one state of their base tables."""


class NotVerified(MaterializedViewError):
    """The rows of a materialized view cannot be compared with what its query gives."""


class CorruptMetadata(MaterializedViewError):
    """A row of the metadata, or a property of a view, that cannot be read."""


class NotRecorded(MaterializedViewError):
    """What an operation has to tell other processes could not be written to the metadata."""


class StatementFailed(MaterializedViewError):
    """Spark or its catalog refused a statement; the text is the beginning of what they said."""


class UnknownCatalog(StatementFailed):
    """The catalog of a relation is not one of this session's; other programs may have it."""
