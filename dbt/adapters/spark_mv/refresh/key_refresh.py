"""Computes the rows of some keys again, at the versions and the instant of the stored rows.

It repairs rows that something else has written, and changes nothing else: a view is as fresh after
it as it was before. Rows of other versions than those beside them would have no label.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core import reasons
from dbt.adapters.spark_mv.core.errors import (
    InvalidArgument,
    PublishRefused,
    RefreshFailed,
    StatementFailed,
)
from dbt.adapters.spark_mv.core.executor import SnapshotFacts
from dbt.adapters.spark_mv.core.failpoints import reached
from dbt.adapters.spark_mv.planning.plan import KEYS, MOST_KEYS, KeyRefresh
from dbt.adapters.spark_mv.planning.request import SUCCEEDED, Outcome, Request
from dbt.adapters.spark_mv.refresh.failures import cause_of, other_is_running, run_failed
from dbt.adapters.spark_mv.refresh.history import versions_json
from dbt.adapters.spark_mv.refresh.lock import RefreshLock
from dbt.adapters.spark_mv.refresh.publish import publish
from dbt.adapters.spark_mv.refresh.run import RefreshRun
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.refresh.staging import complete_query
from dbt.adapters.spark_mv.refresh.written.expiry import label_settings
from dbt.adapters.spark_mv.refresh.written.keys import refuse_duplicates
from dbt.adapters.spark_mv.sql.literals import type_sql, value_sql
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.freshness import Label, read_label, times_of
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.key_sql import Key, key_writes, types_of
from dbt.adapters.spark_mv.views.registry import load_view

_COMMITS = 4


class KeyRefresher:
    """Refreshes keys of views."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def refresh(self, name: TableName, keys: Sequence[Any], request: Request) -> Outcome:
        """Compute the rows of these values of `unique_key` again; of several columns each is a list
        in their order, or a mapping.

        Raises `InvalidArgument` for keys that the view does not have, `RefreshRunning` if another
        refresh is running, `RefreshFailed` if the rows cannot be computed.
        """
        view = load_view(self._services.resolver, name)
        values = self.checked(view, keys)
        with self._services.thread_lock(name):
            chain = iceberg.main_chain(self._services.executor, view.storage)
            found = (read_label(chain[index:]) for index in range(len(chain)))
            label = next((one for one in found if one is not None), None)
            if label is None:
                raise RefreshFailed(
                    f"{name}: no snapshot of its storage table says what its rows were made from.",
                    "Refresh it with method complete.",
                )
            self._refuse_other_definition(view, label)
            return self._with_lock(view, label, chain, values, request)

    def _refuse_other_definition(self, view: MaterializedView, label: Label) -> None:
        """Raise `RefreshFailed` if a view that it reads has changed: rows of the query as it is now
        would stand beside those of another one."""
        seen = self._services.observer.observe(view)
        is_same = seen.current.hash == label.definition_hash
        if not is_same or not label.sources.keys() >= set(seen.expansion.storages.values()):
            raise RefreshFailed(
                f"{view.name}: views that it reads were replaced since its rows were computed.",
                "Refresh all of it: leave out `keys`.",
            )

    def checked(self, view: MaterializedView, keys: Sequence[Any]) -> list[Key]:
        """The keys as lists of values of the columns of `unique_key`; raises `InvalidArgument`."""
        values = _values(view, keys)
        self.refuse_wrong_types(view, "unique_key", view.options.unique_key, values)
        return values

    def _with_lock(
        self,
        view: MaterializedView,
        label: Label,
        chain: Sequence[SnapshotFacts],
        values: list[Key],
        request: Request,
    ) -> Outcome:
        services = self._services
        # On the head that the label was read from: over a newer one it would not be true.
        lock = services.refresh_locks.acquire(view.storage, chain[0].snapshot_id)
        if not isinstance(lock, RefreshLock):
            raise other_is_running(view.name, lock)
        ours = replace(label, refresh_id=uuid.uuid4().hex, method=KEYS)
        plan = KeyRefresh(reasons.keys_requested(len(values)))
        run = RefreshRun(view, request, plan, ours, lock.branch, label.sources)
        run = services.history.started(run)
        is_labelled = read_label(chain) is not None
        commits: tuple[SnapshotFacts, ...] = ()
        try:
            reached("started.after")
            commits = self._write(run, lock, is_labelled, values)
        except BaseException as error:
            raise self._not_published(run, error) from None
        finally:
            if not commits:
                services.refresh_locks.release(lock)
        return self._succeeded(run, commits, is_labelled)

    def _not_published(self, run: RefreshRun, error: BaseException) -> BaseException:
        """Close the history of a refresh; returns what it ends with."""
        history = self._services.history
        if not isinstance(error, Exception):
            history.cancelled(run, "cancelled by an interrupt")
            return error
        if isinstance(error, PublishRefused):
            history.abandoned(run, reasons.lost_race(error.problem))
            return other_is_running(run.view.name, None)
        self._services.watch.end(run)
        return run_failed(history, run, cause_of(error))

    def _write(
        self, run: RefreshRun, lock: RefreshLock, is_labelled: bool, values: list[Key]
    ) -> tuple[SnapshotFacts, ...]:
        services, view = self._services, run.view
        query, unpinned = complete_query(services, view, view.definition, run.label)
        if unpinned:
            names = ", ".join(table.shown for table in unpinned)
            raise RefreshFailed(
                f"the rows beside these were made from versions that cannot be read again: {names}"
            )
        settings = label_settings(run.label)
        if not is_labelled:
            # Other rows may be wrong, too: nothing may say that these are a build.
            settings = {key: text for key, text in settings.items() if not key.endswith("state")}
        writes = key_writes(view, lock.branch, query, view.options.unique_key, values)
        services.watch.check(view.name, run.id)
        reached("write.before")
        with services.executor.isolated({**view.definition.settings, **settings}) as session:
            with services.watch.over(session, run.id):
                for write in writes:
                    session.query(write)
                    reached("write.one")
        reached("write.after")
        services.watch.check(view.name, run.id)
        refuse_duplicates(services.executor, view, lock.branch)
        made = iceberg.commits(services.executor, lock.storage, lock.branch, lock.base, _COMMITS)
        return publish(services.executor, lock, run.id, len(made))

    def _succeeded(
        self, run: RefreshRun, commits: tuple[SnapshotFacts, ...], is_labelled: bool
    ) -> Outcome:
        services, view, seconds = self._services, run.view, run.seconds()
        known = services.log.state().views.get(view.name)
        services.history.succeeded(
            view,
            run.id,
            commits,
            trigger=run.request.trigger,
            method=run.plan.method,
            reason=str(run.plan.reason),
            seconds=seconds,
            to=versions_json(run.label.sources),
            stale=not is_labelled or (known is not None and known.is_stale),
            **times_of(run.label),
        )
        services.log.mark_dependents(view.name, "REFRESH")
        rows = view.shown_rows(iceberg.live_rows(commits[0].summary) if commits else None)
        reason = run.plan.reason.text
        return Outcome(view.name, SUCCEEDED, KEYS, reason, seconds, rows)

    def refuse_wrong_types(
        self, view: MaterializedView, option: str, columns: Sequence[str], values: Sequence[Key]
    ) -> None:
        """Raise `InvalidArgument` if one of the values of these columns, which an option names, is
        none of its type. All at once; one by one only to say which of them it is."""
        types = types_of(view, columns)
        if self._are_of_types(view, types, values):
            return
        wrong = next(key for key in values if not self._are_of_types(view, types, [key]))
        raise InvalidArgument(
            f"{view.name}: {list(wrong)!r} is no value of {option} ({', '.join(types)}).",
            "Nothing was done; correct the values.",
        )

    def _are_of_types(
        self, view: MaterializedView, types: Sequence[str], values: Sequence[Key]
    ) -> bool:
        flat = [(value, kind) for key in values for value, kind in zip(key, types, strict=True)]
        if any(_is_of_no_type(value, kind) for value, kind in flat):
            return False
        names = [f"value_{number}" for number in range(len(flat))]
        casts = (_cast(name, *pair) for name, pair in zip(names, flat, strict=True))
        literals = ", ".join(value_sql(value) for value, _ in flat)
        # Of a literal 'today' Spark makes a moment where it can, and NULL where it cannot.
        query = f"SELECT {', '.join(casts)} FROM VALUES ({literals}) AS given({', '.join(names)})"
        settings = {**view.definition.settings, "spark.sql.ansi.enabled": "true"}
        try:
            with self._services.executor.isolated(settings) as session:
                (found,) = session.query(query)
        except StatementFailed:
            return False
        pairs = zip(found, flat, strict=True)
        return all((one is None) == (value is None) for one, (value, _) in pairs)


def _is_of_no_type(value: Any, kind: str) -> bool:
    return isinstance(value, bytes) or (isinstance(value, bool) and kind != "boolean")


def _cast(name: str, value: Any, kind: str) -> str:
    """A column of this value as one of a type; NULL for a number that is another one there."""
    cast = f"CAST({name} AS {type_sql(kind)})"
    is_number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
    is_exact = is_number and kind not in ("float", "double")
    return f"IF({cast} = {name}, {cast}, NULL)" if is_exact else cast


def _values(view: MaterializedView, keys: Sequence[Any]) -> list[Key]:
    columns = view.options.unique_key
    if not columns:
        raise InvalidArgument(
            f"{view.name} has no unique_key, so its rows have no keys.",
            "Set unique_key, or leave out `keys` for the whole view.",
        )
    if not 1 <= len(keys) <= MOST_KEYS:
        raise InvalidArgument(
            f"{view.name}: {len(keys):,} keys cannot be given.",
            f"Give 1 to {MOST_KEYS:,}, or none for the whole view.",
        )
    found = [_value(key, columns) for key in keys]
    wrong = next((key for key, value in zip(keys, found, strict=True) if value is None), None)
    if wrong is not None or None in found:
        raise InvalidArgument(
            f"{view.name}: {wrong!r} is no key: unique_key is {', '.join(columns)}.",
            "Give a value, or of several columns a list of them, or a mapping.",
        )
    return [value for value in found if value is not None]


def _value(key: Any, columns: tuple[str, ...]) -> Key | None:
    if isinstance(key, dict):
        given = {str(name).lower(): value for name, value in key.items()}
        names = [column.lower() for column in columns]
        is_each_once = len(given) == len(key) and sorted(given) == sorted(names)
        return [_plain(given[name]) for name in names] if is_each_once else None
    values = list(map(_plain, key)) if isinstance(key, (list, tuple)) else [_plain(key)]
    return values if len(values) == len(columns) else None


def _plain(value: Any) -> Any:
    """A value as JSON can have it, if it is none of those that YAML alone writes apart."""
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):
            return value.decode()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
