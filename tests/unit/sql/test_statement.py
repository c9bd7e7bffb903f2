from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.sql.statement import Kind, classify
from dbt.adapters.spark_mv.sql.words import without_end, words_of

WRITES = {
    "insert into db.t values (1)": "db.t",
    "insert into table db.t select 1": "db.t",
    "INSERT OVERWRITE TABLE `db`.`t` PARTITION (d = 1) SELECT 1": "db.t",
    "insert overwrite db.t select * from db.u": "db.t",
    "insert into db.t (a, b) select 1, 2": "db.t",
    "with c as (select 1) insert into db.t select * from c": "db.t",
    "from db.u insert into db.t select *": "db.t",
    "from db.u insert into db.t select * insert overwrite db.v select *": "db.t db.v",
    "update db.t set x = 1": "db.t",
    "delete from db.t where x = 1": "db.t",
    "merge into db.t as d using s on d.x = s.x when matched then delete": "db.t",
    "truncate table db.t": "db.t",
    "create table db.t (x int)": "db.t",
    "create table if not exists db.t (x int)": "db.t",
    "create or replace table db.t using iceberg as select 1": "db.t",
    "create external table db.t (x int) location '/x'": "db.t",
    "replace table db.t using iceberg as select 1": "db.t",
    "alter table db.t add column y int": "db.t",
    "alter table db.t rename to db.u": "db.t db.u",
    "load data local inpath '/x' into table db.t": "db.t",
    "load data inpath '/x' overwrite into table db.t": "db.t",
    "call local.system.rollback_to_snapshot('db.t', 1)": "db.t",
    "call system.expire_snapshots(table => 'db.t')": "db.t",
    "/* note */ insert into db.t -- more\n values (1)": "db.t",
    "insert into a.b.c.d values (1)": "a.b.c.d",
    "insert with schema evolution into db.t select 1": "db.t",
    "merge with schema evolution into db.t using s on true when matched then delete": "db.t",
    "with c as (select 1) delete from db.t where x in (select * from c)": "db.t",
    "with c as (select 1) update db.t as t set x = 1": "db.t",
    "with c as (select '(' as a) insert into db.t select a from c": "db.t",
    "with c as (select '((' as a) delete from db.t where x in (select a from c)": "db.t",
    "with c (a) as (select 1) merge into db.t using c on a = x when matched then delete": "db.t",
}
_TWO = (("db", "t"), ("db", "u"))


@pytest.mark.parametrize("sql", WRITES)
def test_writes(sql: str) -> None:
    found = classify(sql)
    assert found.kind is Kind.WRITE
    assert [".".join(target) for target in found.targets] == WRITES[sql].split()


@pytest.mark.parametrize(
    ("sql", "kind", "targets"),
    [
        ("select 1", Kind.QUERY, ()),
        ("(select 1)", Kind.QUERY, ()),
        ("values (1)", Kind.QUERY, ()),
        ("table db.t", Kind.QUERY, ()),
        ("with c as (select 1) select * from c", Kind.QUERY, ()),
        ("from db.t select x", Kind.QUERY, ()),
        ("select 'insert into db.t' as insert_into", Kind.QUERY, ()),
        ("create view db.v as select 1", Kind.CREATE_VIEW, (("db", "v"),)),
        (
            "create or replace view db.v (a comment 'b') as select 1",
            Kind.CREATE_VIEW,
            (("db", "v"),),
        ),
        ("create or replace temporary view v as select 1", Kind.CREATE_TEMPORARY_VIEW, (("v",),)),
        ("create temp view v as select 1", Kind.CREATE_TEMPORARY_VIEW, (("v",),)),
        (
            "create or replace global temporary view v as select 1",
            Kind.CREATE_TEMPORARY_VIEW,
            (("v",),),
        ),
        ("drop table if exists db.t purge", Kind.DROP, (("db", "t"),)),
        ("drop view db.v", Kind.DROP, (("db", "v"),)),
        ("drop schema if exists db cascade", Kind.DROP_SCHEMA, (("db",),)),
        ("drop database db", Kind.DROP_SCHEMA, (("db",),)),
        ("use db", Kind.USE, ()),
        ("use local.db", Kind.USE, ()),
        ("show tables in db", Kind.HARMLESS, ()),
        ("describe table db.t", Kind.HARMLESS, ()),
        ("explain select * from db.t", Kind.HARMLESS, ()),
        ("explain execute immediate 'x'", Kind.EXECUTE, ()),
        ("explain extended execute immediate 'x'", Kind.EXECUTE, ()),
        ("execute immediate 'insert into t select 1'", Kind.EXECUTE, (("t",),)),
        ("begin insert into db.t select 1; delete from db.u; end", Kind.SCRIPT, _TWO),
        ("marked: begin update db.t set x = 1; truncate table db.u; end", Kind.SCRIPT, _TWO),
        ("cache table c as select 1", Kind.CACHE, (("c",),)),
        ("cache lazy table db.t", Kind.CACHE, (("db", "t"),)),
        ("declare x int default 1", Kind.OTHER, ()),
        ("set var x = (select 1)", Kind.OTHER, ()),
        ("create function f() returns int return 1", Kind.CREATE_FUNCTION, (("f",),)),
        ("select delete from db.t", Kind.QUERY, ()),
        ("select update, merge from db.t", Kind.QUERY, ()),
        ("insert overwrite local directory '/x' select 1", Kind.WRITE, ()),
        ("set a.b = c", Kind.HARMLESS, ()),
        ("create schema db", Kind.HARMLESS, ()),
        ("drop function f", Kind.HARMLESS, ()),
        ("", Kind.OTHER, ()),
    ],
)
def test_other_kinds(sql: str, kind: Kind, targets: tuple[tuple[str, ...], ...]) -> None:
    found = classify(sql)
    assert (found.kind, found.targets) == (kind, targets)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select 1", True),
        ("insert into t select * from u", True),
        ("create table t as select * from u", True),
        ("create temp view v as select * from u", True),
        ("delete from t where x in (select x from u)", True),
        ("create view v as select * from u", False),
        ("alter table t add column x int", False),
        ("drop table t", False),
        ("truncate table t", False),
        ("call system.expire_snapshots('t')", False),
        ("show tables", False),
        ("execute immediate x", True),
        ("begin end", True),
        ("cache table t", True),
        ("declare x int default 1", True),
        ("nobody knows this", True),
        ("use db", False),
    ],
)
def test_what_reads(sql: str, expected: bool) -> None:
    assert classify(sql).reads_relations is expected


def test_words() -> None:
    words = words_of("select `a b`, 'c', \"d\", e.f -- g\n from t")
    assert [(w.text, w.quoted, w.string) for w in words][:4] == [
        ("select", False, False),
        ("a b", True, False),
        (",", False, False),
        ("c", False, True),
    ]
    assert "g" not in [word.text for word in words]


@pytest.mark.parametrize("text", ["'a b'", "r'a b'", 'R"a b"', "n'a b'"])
def test_every_literal_is_one_string(text: str) -> None:
    (word,) = words_of(text)
    assert (word.text, word.upper, word.string) == ("a b", "", True)
    assert (word.start, word.end) == (0, len(text))


def test_a_binary_literal_is_no_text() -> None:
    assert [word.text for word in words_of("'41', x'41'")] == ["41", ",", "X'41'"]


def test_what_cannot_be_split_has_no_words() -> None:
    assert words_of("select 'open") == ()
    assert classify("select 'open").kind is Kind.OTHER


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select 1", "select 1"),
        ("select 1 ;", "select 1"),
        ("select 1 ; ;\n", "select 1"),
        ("select 1; -- done", "select 1"),
        ("select 1 -- not; done", "select 1"),
        ("select ';'", "select ';'"),
        ("select `;` from t", "select `;` from t"),
        ("select /* kept */ 1 /* query comment */", "select /* kept */ 1"),
    ],
)
def test_without_end(sql: str, expected: str) -> None:
    assert without_end(sql) == expected
