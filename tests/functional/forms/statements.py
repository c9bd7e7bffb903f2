"""Forms in which a statement reads a materialized view, and what makes each possible.

`@.mv` is a materialized view, `@.pv` a view over it, `tv` and `global_temp.gv` temporary views.
"""

from __future__ import annotations

from dataclasses import dataclass

EXACT, WIDE, WARNED = "gated exactly", "gated widely", "gated widely, with a warning"


@dataclass(frozen=True)
class Form:
    """A statement; `before` runs first, while everything is fresh."""

    sql: str
    how: str = EXACT
    before: tuple[str, ...] = ()


_VARIABLE = "declare or replace variable named string default '@.mv'"
_QUERY = "declare or replace variable query string default 'select * from @.mv'"
_FUNCTION = "create or replace temporary function biggest() returns bigint return {}"
_TABLE_FUNCTION = "create or replace temporary function all_of() returns table (n bigint) return {}"
_TARGET = "create or replace table @.target (k bigint, n bigint) using iceberg"

FORMS: dict[str, Form] = {
    "select": Form("select * from @.mv"),
    "comment_first": Form("/* note */ -- more\n select * from @.mv"),
    "with": Form("with c as (select * from @.mv) select * from c"),
    "from_first": Form("from @.mv select k"),
    "subquery": Form("select (select max(n) from @.mv) as m"),
    "lateral": Form("select * from range(1) r, lateral (select n from @.mv where k > r.id) l"),
    "table": Form("table @.mv"),
    "table_in_parentheses": Form("(table @.mv)"),
    "table_in_union": Form("select 1, 2 union all table @.mv"),
    "table_in_with": Form("with c as (table @.mv) select * from c"),
    "table_in_exists": Form("select 1 where exists (table @.mv)"),
    "table_in_from": Form("select * from (table @.mv)"),
    "pipe": Form("select * from @.mv |> where n > 0"),
    "table_and_pipe": Form("table @.mv |> select k"),
    "pipe_union": Form("select 1 as k, 2 as n |> union all table @.mv"),
    "identifier": Form("select * from identifier('@.mv')"),
    "identifier_of_texts": Form("select * from identifier('@.' || 'mv')"),
    "identifier_of_a_variable": Form("select * from identifier(named)", before=(_VARIABLE,)),
    "execute_a_literal": Form("execute immediate 'select * from @.mv'"),
    "execute_a_variable": Form("execute immediate query", before=(_QUERY,)),
    "execute_texts": Form("execute immediate 'select * ' || 'from @.mv'"),
    "execute_into": Form(
        "execute immediate 'select max(n) from @.mv' into most",
        before=("declare or replace variable most bigint",),
    ),
    "execute_a_write": Form(
        "execute immediate 'insert into @.target select k, n from @.mv'", before=(_TARGET,)
    ),
    "set_variable": Form(
        "set var most = (select max(n) from @.mv)",
        before=("declare or replace variable most bigint",),
    ),
    "script": Form("begin select * from @.mv; end", WIDE),
    "script_that_loops": Form(
        "begin declare i int default 0; while i < 1 do insert into @.target select k, n from @.mv; "
        "set i = i + 1; end while; end",
        WIDE,
        (_TARGET,),
    ),
    "script_that_executes": Form(
        "begin declare q string; set q = 'select * from @.mv'; execute immediate q; end", WARNED
    ),
    "script_with_identifier": Form(
        "begin declare q string default '@.mv'; select * from identifier(q); end", WARNED
    ),
    "stream": Form("select * from stream @.mv"),
    "over_a_view": Form("select * from @.pv"),
    "temporary_view": Form(
        "select * from tv", before=("create or replace temporary view tv as select * from @.mv",)
    ),
    "temporary_view_of_table": Form(
        "select * from tv2", before=("create or replace temporary view tv2 as table @.mv",)
    ),
    "temporary_view_over_another": Form(
        "select * from tv3",
        before=(
            "create or replace temporary view tv as select * from @.pv",
            "create or replace temporary view tv3 as select * from tv",
        ),
    ),
    "global_temporary_view": Form(
        "select * from global_temp.gv",
        before=("create or replace global temporary view gv as select * from @.pv",),
    ),
    "temporary_function": Form(
        "select biggest()", before=(_FUNCTION.format("select max(n) from @.mv"),)
    ),
    "temporary_table_function": Form(
        "select * from all_of()", before=(_TABLE_FUNCTION.format("select n from @.mv"),)
    ),
    "cache_select": Form(
        "cache table c1 as select * from @.mv", before=("drop view if exists c1",)
    ),
    "cache_lazy": Form(
        "cache lazy table c2 as select * from @.mv", before=("drop view if exists c2",)
    ),
    "cache_itself": Form("cache table @.mv", before=("uncache table if exists @.mv",)),
    "shift": Form("select n >>> 1 from @.mv"),
    "corr_distinct": Form("select corr(distinct k, n) from @.mv"),
    "transform": Form("select transform (k, n) using 'cat' as (a, b) from @.mv"),
    "map": Form("from @.mv map k using 'cat' as (a)"),
    "create_table": Form("create or replace table @.copy using iceberg as table @.mv"),
    "replace_table": Form(
        "replace table @.copy2 using iceberg as select * from @.mv",
        before=("create or replace table @.copy2 (k bigint) using iceberg",),
    ),
    "insert": Form("insert into @.target select k, n from @.mv", before=(_TARGET,)),
    "insert_from_first": Form("from @.mv insert into @.target select k, n", before=(_TARGET,)),
    "overwrite": Form("insert overwrite table @.target select k, n from @.mv", before=(_TARGET,)),
    "overwrite_directory": Form(
        "insert overwrite directory '/tmp/mv_directory' using parquet select * from @.mv"
    ),
    "merge": Form(
        "merge into @.target t using (select k, n from @.mv) s on t.k = s.k "
        "when not matched then insert *",
        before=(_TARGET,),
    ),
    "merge_with_evolution": Form(
        "merge with schema evolution into @.target t using (select k, n from @.mv) s on t.k = s.k "
        "when not matched then insert *",
        before=(_TARGET,),
    ),
    "delete": Form("delete from @.target where k in (select k from @.mv)", before=(_TARGET,)),
    "pipe_union_bare": Form("from @.mv |> select k |> union all select k from @.mv"),
    "with_delete": Form(
        "with c as (select k from @.mv) delete from @.target where k in (select k from c)",
        before=(_TARGET,),
    ),
    "update": Form(
        "update @.target set n = (select max(n) from @.mv) where k > 0", before=(_TARGET,)
    ),
}

# Statements that write to a materialized view, or to its storage table {storage}.
REFUSED = [
    "delete from @.mv",
    "with c as (select 1 as a) delete from @.mv where k in (select a from c)",
    "with c as (select 1 as a) update @.mv set n = 1 where k in (select a from c)",
    "merge with schema evolution into @.mv t using @.orders s on t.k = s.id "
    "when matched then delete",
    "execute immediate 'delete from @.mv'",
    "execute immediate 'delete ' || 'from @.mv'",
    "begin delete from @.mv; end",
    "begin if (select count(*) from @.orders) > 0 then truncate table @.mv; end if; end",
    "insert into {storage} select 1, 2",
    "with c as (select 1 as a) delete from {storage}",
    "execute immediate 'delete from {storage}'",
    "begin insert into {storage} values (1, 2); end",
    "insert into {storage}.branch_main select * from {storage}",
    "delete from {storage}.branch_main where true",
    "call local.system.set_current_snapshot('{storage}', 1)",
    "call local.system.rollback_to_snapshot(table => '{storage}', snapshot_id => 1)",
    "call local.system.rollback_to_timestamp('{storage}', timestamp '2020-01-01')",
    "call local.system.cherrypick_snapshot('{storage}', 1)",
    "call local.system.fast_forward('{storage}', 'main', 'other')",
]
