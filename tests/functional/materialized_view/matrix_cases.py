"""Cases of the matrix: a base table of some type and layout, views over it, and changes.

Everything is drawn from the case's name, so that it is the same whenever it is made.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.functional.materialized_view.matrix_types import KINDS, Kind
from tests.functional.materialized_view.matrix_views import View

ZONES = ("UTC", "America/New_York", "Asia/Kolkata", "Pacific/Apia")
_MERGE_ON_READ = ", ".join(
    f"'write.{kind}.mode'='merge-on-read'" for kind in ("delete", "update", "merge")
)
_OVERWRITE = "set spark.sql.sources.partitionOverwriteMode"


@dataclass(frozen=True)
class Layout:
    """How a base table is partitioned: at first, and by ALTER TABLE once it has rows; `late` if
    only after the views are there."""

    form: str
    first: str = ""
    alter: tuple[str, ...] = ()
    late: bool = False


@dataclass(frozen=True)
class Case:
    """Statements that make the tables, the views over them, and the changes, each followed by a
    refresh. Prints itself as SQL."""

    name: str
    zone: str
    statements: tuple[str, ...]
    views: tuple[View, ...]
    changes: tuple[str, ...]

    def sql(self, done: list[str] | None = None) -> str:
        """What was done so far, to be done by hand."""
        zone = f"set spark.sql.session.timeZone = {self.zone}"
        return ";\n".join([zone, *(self.statements if done is None else done)])

    def __str__(self) -> str:
        return self.sql([*self.statements, *self.changes])


def layouts(kind: Kind) -> Iterator[Layout]:
    """None, every transform, two of one column, and two specs one after the other."""
    names = [transform.format(k="k") for transform in kind.transforms]
    yield Layout("none")
    for name in names:
        form = "identity" if name == "k" else "bucket" if "bucket" in name else "transform"
        yield Layout(form, name)
    yield Layout("several", "g, " + names[-1])
    for name in names[1:]:
        yield Layout("several", f"k, {name}")
    if "bucket(3, k)" in names and len(names) > 2:
        yield Layout("several", f"bucket(3, k), {names[-1 if names[-1] != 'bucket(3, k)' else 1]}")
    for late in (False, True):
        for first, alter in _evolved(names):
            yield Layout("evolved", first, alter, late)


def _evolved(names: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "", (f"add partition field {names[0]}",)
    yield names[0], (f"drop partition field {names[0]}",)
    for one, other in zip(names, [*names[1:], names[0]], strict=True):
        if one != other:
            yield one, (f"replace partition field {one} with {other}",)
            yield one, (f"drop partition field {one}", "add partition field bucket(2, id)")
    if len(names) > 1:
        yield names[0], (f"add partition field {names[-1]}",)


@dataclass
class Drawn:
    """What draws rows and changes of tables `t` and `u`."""

    name: str
    kind: Kind
    chance: random.Random
    values: list[str]
    next_id: int = 100

    def value(self) -> str:
        """A value of the key, sometimes NULL."""
        if self.chance.random() < 0.15:
            return f"cast(null as {self.kind.type})"
        return self.chance.choice(self.values)

    def row(self, id: int, value: str | None = None) -> str:
        """A row of t."""
        x = self.chance.choice(("0.5D", "-0.0D", "0.0D", "2.25D", "null"))
        m = self.chance.choice(("1.50bd", "-0.25bd", "10bd", "null"))
        return f"({id}, {value or self.value()}, {self.chance.randint(1, 2)}, {m}, {x})"

    def rows(self, count: int) -> str:
        """New rows of t."""
        self.next_id += count
        return ", ".join(self.row(self.next_id - count + number) for number in range(count))

    def is_value(self) -> str:
        """A condition that a whole partition meets."""
        value = self.value()
        return "k is null" if "null as" in value else f"k = {value}"


def _first(drawn: Drawn, layout: Layout) -> tuple[str, ...]:
    """Statements that make the tables and their first rows, of every value one at least."""
    t, u, kind = f"@.{drawn.name}_t", f"@.{drawn.name}_u", drawn.kind.type
    by = f" partitioned by ({layout.first})" if layout.first else ""
    how = f" tblproperties ({_MERGE_ON_READ})" if drawn.chance.random() < 0.4 else ""
    other_by = drawn.chance.choice(("", *drawn.kind.transforms)).format(k="k")
    values = [*drawn.values, f"cast(null as {kind})"]
    rows = ", ".join(drawn.row(id, value) for id, value in enumerate([*values, *values[:3]]))
    others = ", ".join(f"({value}, {number})" for number, value in enumerate(values[::2]))
    columns = f"id bigint, k {kind}, g int, m decimal(12,2), x double"
    return (
        f"create table {t} ({columns}) using iceberg{by}{how}",
        f"create table {u} (k {kind}, w int) using iceberg"
        + (f" partitioned by ({other_by})" if other_by else ""),
        f"insert into {t} values {rows}",
        f"insert into {u} values {others}",
        *(() if layout.late else _evolution(drawn, layout)),
    )


def _evolution(drawn: Drawn, layout: Layout) -> tuple[str, ...]:
    if not layout.alter:
        return ()
    t = f"@.{drawn.name}_t"
    altered = [f"alter table {t} {alter}" for alter in layout.alter]
    return (*altered, f"insert into {t} values {drawn.rows(4)}")


def _changes(drawn: Drawn) -> dict[str, str]:
    """Changes of every kind; some are several statements."""
    t, u = f"@.{drawn.name}_t", f"@.{drawn.name}_u"
    merged = ", ".join([drawn.row(1), drawn.row(4), drawn.rows(2)])
    one, other = drawn.values[0], drawn.values[1]
    return {
        "insert": f"insert into {t} values {drawn.rows(3)}",
        "swap": f"update {t} set k = case when k <=> {one} then {other} else {one} end, "
        "x = case when x = 0 then -x else x end where id % 3 = 0",
        "move": f"update {t} set k = {drawn.value()}, m = m + 1 where id % 4 = 1",
        "some": f"delete from {t} where id % 5 = 2",
        "merge": f"merge into {t} as t using (select * from values {merged} as s(id, k, g, m, x)) "
        "as s on t.id = s.id when matched then update set * when not matched then insert *",
        "partition": f"delete from {t} where {drawn.is_value()}",
        "other": f"delete from {u} where w = 1;\ninsert into {u} values ({drawn.value()}, 7), "
        f"({drawn.value()}, 8);\nupdate {u} set k = {drawn.value()} where w = 2",
        "dynamic": f"{_OVERWRITE} = dynamic;\ninsert overwrite {t} values {drawn.rows(3)};\n"
        f"{_OVERWRITE} = static",
        "overwrite": f"insert overwrite {t} values {drawn.rows(6)}",
        "empty": f"delete from {t}",
        "fill": f"insert into {t} values {drawn.rows(8)}",
    }


STEPS = tuple(_changes(Drawn("", KINDS["boolean"], random.Random(0), ["true", "false"])))


def make_case(
    name: str,
    kind: str,
    layout: Layout,
    zone: str,
    views: tuple[View, ...],
    steps: tuple[str, ...] = STEPS,
    values: int = 9,
) -> Case:
    """A case drawn from its name; the first values of the type are always there."""
    chance = random.Random(name)
    corner, rest = list(KINDS[kind].values[:4]), list(KINDS[kind].values[4:])
    chance.shuffle(rest)
    drawn = Drawn(name, KINDS[kind], chance, (corner + rest)[:values])
    made, all_changes = _first(drawn, layout), _changes(drawn)
    late = ";\n".join(_evolution(drawn, layout)) if layout.late else ""
    tables = {"t": f"@.{name}_t", "u": f"@.{name}_u"}
    named = tuple(replace(view, query=view.query.format(**tables)) for view in views)
    changes = (*([late] if late else []), *(all_changes[step] for step in steps))
    return Case(name, zone, made, named, changes)
