"""Tables of random columns with few values each, and what random programs do to them."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

# Sums of these doubles are exact in any order.
VALUES: dict[str, tuple[str, ...]] = {
    "bigint": ("1L", "2L", "3L", "-1L"),
    "int": ("0", "1", "2", "5"),
    "string": ("'a'", "'b'", "'B'", "''"),
    "decimal(10,2)": ("1.50bd", "2.25bd", "-0.75bd"),
    "decimal(38,10)": ("0.0000000001bd", "2.5bd", "-123456789.25bd"),
    "double": ("0.5d", "1.25d", "-2.0d", "double('NaN')"),
    "date": ("date'2024-01-31'", "date'2024-02-29'", "date'2025-01-01'"),
    "timestamp": (
        "timestamp'2024-01-31 10:00:00'",
        "timestamp'2024-02-29 23:59:59.5'",
        "timestamp'2025-01-01 00:00:00'",
    ),
    "boolean": ("true", "false"),
    "array<int>": ("array(1, 2)", "array(1, null)", "cast(array() as array<int>)"),
    "struct<f:int,g:string>": (
        "named_struct('f', 1, 'g', 'a')",
        "named_struct('f', 2, 'g', cast(null as string))",
    ),
    "map<string,int>": ("map('a', 1)", "map('a', 2, 'b', 3)", "map('b', cast(null as int))"),
}
PLAIN = tuple(VALUES)[:9]
NAMES = ("x", "y", "z", "mixed Case", "a b", "select", "Order", "x.y", "1st", "ünï")
MERGE_ON_READ = ", ".join(
    f"'write.{kind}.mode'='merge-on-read'" for kind in ("delete", "update", "merge")
)
_PROPERTIES = (
    "",
    "",
    MERGE_ON_READ,
    "'format-version'='3'",
    f"'format-version'='3', {MERGE_ON_READ}",
)
_PARTITIONS = ("", "", "k", "bucket(2, k)", "s", "truncate(1, s)")


def quoted(name: str) -> str:
    """A name as it is written in a statement."""
    return name if name.isalnum() and name.isascii() and name.islower() else f"`{name}`"


@dataclass(frozen=True)
class Column:
    name: str
    type: str

    @property
    def sql(self) -> str:
        """The name as it is written."""
        return "`select`" if self.name == "select" else quoted(self.name)


@dataclass(frozen=True)
class Table:
    """A table or view with its columns; the first three of a table are k, n and s."""

    name: str
    columns: tuple[Column, ...]


def value(chance: random.Random, type_name: str) -> str:
    """A literal of a type, sometimes NULL."""
    if chance.random() < 0.2:
        return f"cast(null as {type_name})"
    return chance.choice(VALUES[type_name])


def rows(chance: random.Random, table: Table, most: int) -> str:
    """VALUES of one row at least, in which duplicates are likely."""
    made = [
        "(" + ", ".join(value(chance, column.type) for column in table.columns) + ")"
        for _ in range(chance.randint(1, most))
    ]
    if chance.random() < 0.4:
        made.append(chance.choice(made))
    return "values " + ", ".join(made)


def make_table(chance: random.Random, number: int) -> tuple[Table, list[str]]:
    """A table, and the statements that make it and its first rows."""
    names = chance.sample(NAMES, chance.randint(1, 4))
    types = [chance.choice(tuple(VALUES)) for _ in names]
    common = (Column("k", "bigint"), Column("n", "int"), Column("s", "string"))
    made = Table(f"@.t{number}", (*common, *map(Column, names, types)))
    listed = ", ".join(f"{column.sql} {column.type}" for column in made.columns)
    partition, properties = chance.choice(_PARTITIONS), chance.choice(_PROPERTIES)
    create = f"create table {made.name} ({listed}) using iceberg"
    create += f" partitioned by ({partition})" if partition else ""
    create += f" tblproperties ({properties})" if properties else ""
    first = [f"insert into {made.name} {rows(chance, made, 6)}"] if chance.random() < 0.9 else []
    return made, [create, *first]


def condition(chance: random.Random, table: Table) -> str:
    """A condition on single columns of a table, for UPDATE and DELETE."""
    column = chance.choice([column for column in table.columns if column.type in PLAIN])
    literal = chance.choice(VALUES[column.type])
    return chance.choice(
        (
            f"{column.sql} = {literal}",
            f"{column.sql} <> {literal}",
            f"{column.sql} is null",
            f"{column.sql} is not null",
            f"not ({column.sql} <=> {literal})",
            "k = 1 or n = 1",
        )
    )


class Writer:
    """Changes tables at random; `tables` has their columns as they are."""

    def __init__(self, chance: random.Random, schema: str, tables: list[Table]) -> None:
        self._chance, self._schema, self.tables = chance, schema, tables
        self._columns_added = 0
        self._renamed: list[tuple[int, str]] = []

    def change(self) -> list[str]:
        """The statements of one change."""
        number = self._chance.randrange(len(self.tables))
        if self._renamed and self._chance.random() < 0.7:
            return self._name_back()
        kinds = {
            self._insert: 8,
            self._update: 6,
            self._delete: 6,
            self._merge: 3,
            self._overwrite: 3,
            self._all: 2,
            self._nothing: 1,
            self._compact: 2,
            self._expire: 1,
            self._roll_back: 2,
            self._replace: 1,
            self._alter: 2,
            self._move: 2,
        }
        (kind,) = self._chance.choices(tuple(kinds), tuple(kinds.values()))
        return kind(number)

    def _insert(self, number: int) -> list[str]:
        table = self.tables[number]
        if self._chance.random() < 0.15:
            return [f"insert into {table.name} select * from {table.name}"]
        return [f"insert into {table.name} {rows(self._chance, table, 3)}"]

    def _update(self, number: int) -> list[str]:
        table = self.tables[number]
        column = self._chance.choice(table.columns)
        new = value(self._chance, column.type)
        where = condition(self._chance, table)
        return [f"update {table.name} set {column.sql} = {new} where {where}"]

    def _delete(self, number: int) -> list[str]:
        table = self.tables[number]
        return [f"delete from {table.name} where {condition(self._chance, table)}"]

    def _merge(self, number: int) -> list[str]:
        table = self.tables[number]
        listed = ", ".join(value(self._chance, column.type) for column in table.columns)
        k = self._chance.choice(VALUES["bigint"])
        deed = self._chance.choice(("update set s = 'm', n = 7", "delete"))
        return [
            f"merge into {table.name} t using (select {k} as m) s on t.k = s.m "
            f"when matched and t.n is not null then {deed} "
            f"when not matched then insert * ({listed})"
        ]

    def _overwrite(self, number: int) -> list[str]:
        table = self.tables[number]
        kept = f"select * from {table.name} where {condition(self._chance, table)}"
        return [
            f"insert overwrite {table.name} "
            + self._chance.choice((kept, rows(self._chance, table, 4)))
        ]

    def _all(self, number: int) -> list[str]:
        name = self.tables[number].name
        return [self._chance.choice((f"delete from {name}", f"truncate table {name}"))]

    def _nothing(self, number: int) -> list[str]:
        name = self.tables[number].name
        return [
            self._chance.choice(
                (
                    f"insert into {name} select * from {name} where false",
                    f"delete from {name} where k = 99",
                    f"update {name} set n = 1 where k = 99",
                )
            )
        ]

    def _compact(self, number: int) -> list[str]:
        return [self._call("rewrite_data_files", number, "options => map('min-input-files', '1')")]

    def _expire(self, number: int) -> list[str]:
        when = "older_than => timestamp '2100-01-01', retain_last => 1"
        return [self._call("expire_snapshots", number, when)]

    def _roll_back(self, number: int) -> list[str]:
        """`{parent}` stands for the snapshot before the newest one, if there is one."""
        return [self._call("rollback_to_snapshot", number, "snapshot_id => {parent}")]

    def _replace(self, number: int) -> list[str]:
        table = self.tables[number]
        where = condition(self._chance, table)
        return [
            f"create or replace table {table.name} using iceberg as "
            f"select * from {table.name} where {where}"
        ]

    def _alter(self, number: int) -> list[str]:
        table = self.tables[number]
        last = table.columns[-1]
        if last.name.startswith("added") and self._chance.random() < 0.5:
            self.tables[number] = replace(table, columns=table.columns[:-1])
            return [f"alter table {table.name} drop column {last.sql}"]
        if self._chance.random() < 0.3:
            self._renamed.append((number, "s"))
            columns = [Column("s2", c.type) if c.name == "s" else c for c in table.columns]
            self.tables[number] = replace(table, columns=tuple(columns))
            return [f"alter table {table.name} rename column s to s2"]
        self._columns_added += 1
        column = Column(f"added{self._columns_added}", self._chance.choice(PLAIN))
        self.tables[number] = replace(table, columns=(*table.columns, column))
        return [f"alter table {table.name} add column {column.sql} {column.type}"]

    def _name_back(self) -> list[str]:
        number, name = self._renamed.pop()
        table = self.tables[number]
        columns = [Column("s", c.type) if c.name == "s2" else c for c in table.columns]
        self.tables[number] = replace(table, columns=tuple(columns))
        return [f"alter table {table.name} rename column s2 to {name}"]

    def _move(self, number: int) -> list[str]:
        name = self.tables[number].name
        return [
            self._chance.choice(
                (
                    f"alter table {name} add partition field bucket(3, n)",
                    f"alter table {name} set tblproperties ('format-version'='3')",
                    f"alter table {name} set tblproperties ({MERGE_ON_READ})",
                    f"alter table {name} write ordered by k",
                    self._call("rewrite_position_delete_files", number, ""),
                    self._call("rewrite_manifests", number, ""),
                )
            )
        ]

    def _call(self, procedure: str, number: int, arguments: str) -> str:
        table = self.tables[number].name.replace("@", self._schema)
        given = f", {arguments}" if arguments else ""
        return f"call local.system.{procedure}(table => '{table}'{given})"
