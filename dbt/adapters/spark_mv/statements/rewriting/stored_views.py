"""Views as their storage tables have them, ready to be held against blocks."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.planning.analyzer import Analyzer
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.rewrite.block import Block, Output, are_in_another_order
from dbt.adapters.spark_mv.rewrite.conditions.facts import facts_of
from dbt.adapters.spark_mv.rewrite.reading.blocks import BlockReader
from dbt.adapters.spark_mv.rewrite.reading.scopes import Relations, Scope
from dbt.adapters.spark_mv.rewrite.stored import STORED, StoredColumn, StoredView, stored_view
from dbt.adapters.spark_mv.rewrite.unmatched import VIEW, Unmatched
from dbt.adapters.spark_mv.sql.literals import VARIABLE
from dbt.adapters.spark_mv.sql.reads import parse
from dbt.adapters.spark_mv.statements.rewriting.relations import (
    CatalogRelations,
    PlaceholderRelations,
)
from dbt.adapters.spark_mv.views.clock import moment_texts
from dbt.adapters.spark_mv.views.definition import Definition, MaterializedView
from dbt.adapters.spark_mv.views.storage_sql import all_stored_columns, stored_columns
from dbt.adapters.spark_mv.views.volatile import storage_columns, unstable

_CASE_SENSITIVE = "spark.sql.caseSensitive"


class StoredViews:
    """The normal forms of views, each made once for a definition and a storage table."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._known: dict[tuple[str, str, str], StoredView | Reason] = {}
        self._whole: dict[tuple[str, str, str], StoredView] = {}

    def knows(self, view: MaterializedView) -> bool:
        """Whether the normal form of a view was made from its storage table before."""
        return _key(view) in self._known

    def knows_whole(self, view: MaterializedView) -> bool:
        """Whether the normal form with all that is stored was made before."""
        return _key(view) in self._whole

    def shown(self, view: MaterializedView) -> StoredView | Reason:
        """The normal form of a view, with the columns that it shows; the reason if it has none."""
        key = _key(view)
        if key not in self._known:
            try:
                self._known[key] = self._made(view)
            except Unmatched as error:
                self._known[key] = replace(error.reason, code=VIEW)
        return self._known[key]

    def whole(self, view: MaterializedView, shown: StoredView) -> StoredView:
        """The same with all that is stored, which takes longer to find out."""
        key = _key(view)
        if key not in self._whole:
            types = dict(self._services.resolver.columns(view.storage))
            self._whole[key] = self._with_hidden(shown, view, types)
        return self._whole[key]

    def _made(self, view: MaterializedView) -> StoredView:
        definition = view.definition
        _refuse_unstable(definition)
        if view.reduced or (view.spare and view.shown_rows(1) is not None):
            raise Unmatched(VIEW, "it keeps a part of its rows", "LIMIT")
        types = dict(self._services.resolver.columns(view.storage))
        tree = parse(definition.query)
        if tree is None or VARIABLE in definition.query:
            raise Unmatched(VIEW, "only Spark can read its query")
        forms = _forms(tree, CatalogRelations(self._services.resolver), definition)
        names = stored_columns(view)
        if len(forms[0].outputs) != len(definition.columns):
            raise Unmatched(VIEW, "its query has another number of columns than the view")
        shown = [column.name for column in definition.columns]
        if are_in_another_order([output.name for output in forms[0].outputs], shown):
            raise Unmatched(VIEW, "its columns are in another order than they are read here")
        columns = tuple(
            StoredColumn(names[column.name], types[names[column.name]], column.type)
            for column in definition.columns
        )
        made = stored_view(forms, view.name, view.storage, columns, view.time_zone)
        return made if view.spare is None else _of_shown_rows(made, view.spare)

    def _with_hidden(
        self, stored: StoredView, view: MaterializedView, types: dict[str, str]
    ) -> StoredView:
        """The view with the columns that it does not show, and with the groups that it hides."""
        more = self._hidden(view, types) if view.hidden else None
        if more is None or not _is_same(stored, more.block, view.time_zone):
            return stored
        if stored.block.having:
            # Of groups that are not shown only keys and parts are there, which the query of all
            # that is stored says.
            return more
        outputs = (*stored.block.outputs, *more.block.outputs)
        return replace(
            stored,
            block=replace(stored.block, outputs=outputs),
            columns=(*stored.columns, *more.columns),
            rows=more.rows or stored.rows,
        )

    def _hidden(self, view: MaterializedView, types: dict[str, str]) -> StoredView | None:
        """The view as its storage table has it by the query of all that is stored."""
        analyzer: Analyzer = self._services.analyzer
        analysis = analyzer.analysis(view.definition, view)
        if isinstance(analysis, Reason) or tuple(analysis.program.hidden) != view.hidden:
            return None
        relations = PlaceholderRelations(self._services.resolver, analysis.tables)
        tree = parse(analysis.program.stored_query().sql("spark"))
        if tree is None:
            return None
        try:
            forms = _forms(_groups_of_sets(tree), relations, view.definition)
        except Unmatched:
            return None
        stored = {name.lower(): column for name, column in all_stored_columns(view).items()}
        shown = {column.name.lower(): column.type for column in view.definition.columns}
        columns = [_column(one, stored, shown, types) for one in forms[0].outputs]
        return stored_view(forms, view.name, view.storage, columns, view.time_zone)


def _of_shown_rows(stored: StoredView, spare: str) -> StoredView:
    """Without the stored rows that the view does not show, which a column marks."""
    is_spare = exp.column(spare, table=STORED, quoted=True)
    return replace(stored, rows=None, only=(*stored.only, exp.Not(this=is_spare)))


def _key(view: MaterializedView) -> tuple[str, str, str]:
    return view.id, view.definition_hash, view.storage.name


def _column(
    output: Output, stored: dict[str, str], shown: dict[str, str], types: dict[str, str]
) -> StoredColumn:
    name = stored[output.name.lower()]
    return StoredColumn(name, types[name], shown.get(output.name.lower(), types[name]))


def _groups_of_sets(query: exp.Expr) -> exp.Expr:
    """The query of stored sets of keys without the one around it, which computes more columns."""
    start = query.args.get("from_")
    inner = start.this.this if start is not None else None
    if not isinstance(inner, exp.Select) or inner.find(exp.GroupingSets) is None:
        return query
    named = {one.alias: one.this for one in inner.expressions}
    shown = [
        exp.alias_(named[one.unalias().name].copy(), one.alias_or_name, quoted=True)
        for one in query.expressions
        if isinstance(one.unalias(), exp.Column) and one.unalias().name in named
    ]
    made = inner.copy()
    made.set("expressions", shown)
    return made


def _forms(tree: exp.Expr, relations: Relations, definition: Definition) -> tuple[Block, ...]:
    forms = BlockReader(relations, skips=True).forms(tree, Scope(definition.home))
    if forms[0].limit:
        raise Unmatched(VIEW, "it keeps a part of its rows", "LIMIT")
    return forms


def _refuse_unstable(definition: Definition) -> None:
    for text in definition.texts:
        if calls := unstable(text) or moment_texts(text):
            raise Unmatched(VIEW, "its rows change without a write", ", ".join(calls))
        if found := storage_columns(text):
            raise Unmatched(VIEW, "it asks in which file a row lies", ", ".join(found))
    if definition.settings.get(_CASE_SENSITIVE) == "true":
        raise Unmatched(VIEW, "the names of its columns are case sensitive")


def _is_same(stored: StoredView, block: Block, zone: str) -> bool:
    """Whether two readings of one query are of the same rows and groups."""
    mine = stored.block
    if mine.tables != block.tables or mine.left_joins != block.left_joins:
        return False
    keys = [None if b.keys is None else {term.key for term in b.keys} for b in (mine, block)]
    return keys[0] == keys[1] and facts_of(mine.conditions, zone) == facts_of(
        block.conditions, zone
    )
