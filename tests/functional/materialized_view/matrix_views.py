"""Views of the matrix: partitioned by a column or by expressions of it, and every form that is
refreshed fast with the column as its key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.functional.materialized_view.matrix_types import TRUTHS, Kind

ANY = ("partition", "fast", "auto")
FAST = ("fast",)


@dataclass(frozen=True)
class View:
    """A query, what it is partitioned by, and the methods by which it is refreshed in turn.

    `{t}` and `{u}` stand for the tables; `form` is what the sample counts. The methods that are
    `refused` are so when it is created, and no others ever.
    """

    form: str
    query: str
    by: str = ""
    methods: tuple[str, ...] = FAST
    options: str = ""
    refused: tuple[str, ...] = ()

    def create(self, name: str, method: str) -> str:
        """The statement that creates it."""
        by = f" partitioned by ({self.by})" if self.by else ""
        return (
            f"create materialized view @.{name}{by} options (refresh_method = '{method}'"
            f"{self.options}) as {self.query}"
        )


_PAIRED = (
    "select t.id, t.k, u.w from {t} t left join {u} u on t.k = u.k",
    "select t.id, u.k, u.w from {t} t right join {u} u on t.k = u.k",
    "select u.k, count(*) as n, sum(t.m) as s from {t} t join {u} u on t.k = u.k group by u.k",
    "select k, id from {t} t where not exists (select 1 from {u} u where u.k = t.k)",
    "select k from {t} union select k from {u}",
    "select k, w from {u} where k in (select k from {t})",
)
_PLAIN = (
    ("rows", "select id, k from {t}"),
    ("groups", "select k, count(*) as n, sum(m) as s from {t} group by k"),
    *(("two tables", query) for query in _PAIRED),
)
# Spark simplifies conditions on the first, and texts do not tell all values of the others.
_NO_STEERING = ("boolean", "binary", "double")


def _pairs(kind: Kind) -> list[str]:
    """Two fields, of one column and of two."""
    names = [transform.format(k="k") for transform in kind.transforms]
    buckets = [name for name in names if "bucket" in name]
    of_one = [f"{name}, {bucket}" for bucket in buckets for name in names if name != bucket]
    return [*of_one, *(f"g, {name}" for name in names)]


def by_partition(kind: Kind) -> Iterator[View]:
    """Every layout of a view: by the column, and by expressions of it, of rows and of groups."""
    cannot = ("partition",) if kind.type in _NO_STEERING else ()
    for transform in kind.transforms:
        by = transform.format(k="k")
        how = "column" if by == "k" else "transform"
        for form, query in _PLAIN:
            yield View(f"{form} by {how}", query, by, ANY, refused=cannot)
    cannot = () if kind.type == "boolean" else cannot
    for by in _pairs(kind):
        yield View("rows by two", "select id, k, g from {t}", by, ANY, refused=cannot)
        grouped = "select k, g, count(*) as n from {t} group by k, g"
        yield View("groups by two", grouped, by, ANY, refused=cannot)
    for expression, transforms in kind.expressions.items():
        value = expression.format(k="k")
        cannot = ("partition",) if expression in TRUTHS else ()
        rows = f"select id, {value} as p from {{t}}"
        groups = f"select {value} as p, count(*) as n from {{t}} group by 1"
        for transform in transforms:
            by = transform.format(k="p")
            how = "expression" if by == "p" else "transform of expression"
            yield View(f"rows by {how}", rows, by, ANY, refused=cannot)
            yield View(f"groups by {how}", groups, by, ANY, refused=cannot)


_FORMS = {
    "rows": "select id, k from {t}",
    "filtered rows": "select k from {t} where g > 0",
    "texts": "select id, cast(k as string) as s from {t}",
    "measures of rows": "select id, x, cast(x as string) as s, -x as y from {t}",
    "groups": "select k, count(*) as n, sum(m) as s, min(id) as i from {t} group by k",
    "groups by two": "select k, g, count(*) as n, max(m) as s from {t} group by k, g",
    "groups by a double": "select x, count(*) as n from {t} group by x",
    "groups of a text": "select cast(k as string) as s, count(*) as n from {t} group by 1",
    "averages": "select k, avg(m) as a from {t} group by k",
    "having": "select k, count(*) as n from {t} group by k having count(*) > 1",
    "groups of groups": "select n, count(*) as c from "
    "(select k, count(*) as n from {t} group by k) group by n",
    "distinct count": "select g, count(distinct k) as n from {t} group by g",
    "one row": "select count(k) as n, count(*) as c, sum(m) as s from {t}",
    "distinct": "select distinct k from {t}",
    "distinct doubles": "select distinct k, x from {t}",
    "inner join": "select t.id, u.w, t.k, u.k as uk from {t} t join {u} u on t.k = u.k",
    "left join": "select t.id, u.w, t.k, u.k as uk from {t} t left join {u} u on t.k = u.k",
    "right join": "select t.id, u.w, t.k, u.k as uk from {t} t right join {u} u on t.k = u.k",
    "full join": "select t.id, u.w, t.k, u.k as uk from {t} t full join {u} u on t.k = u.k",
    "join of nulls": "select t.id, u.w from {t} t join {u} u on t.k <=> u.k",
    "self join": "select a.id, b.id as other, b.k from {t} a join {t} b "
    "on a.k = b.k and a.id < b.id",
    "groups of a join": "select u.k, count(*) as n, sum(t.m) as s "
    "from {t} t join {u} u on t.k = u.k group by u.k",
    "groups of an outer join": "select t.k, count(u.w) as n, sum(u.w) as s "
    "from {t} t left join {u} u on t.k = u.k group by t.k",
    "exists": "select id, k from {t} t where exists (select 1 from {u} u where u.k = t.k)",
    "not exists": "select id, k from {t} t where not exists (select 1 from {u} u where u.k = t.k)",
    "in": "select id from {t} where k in (select k from {u})",
    "union": "select k from {t} union select k from {u}",
    "union all": "select k, id from {t} union all select k, w from {u}",
    "except": "select k from {t} except select k from {u}",
    "intersect": "select k from {t} intersect select k from {u}",
    "window": "select k, id, row_number() over (partition by k order by id) as r from {t}",
    "top": "select id, k from (select *, row_number() over (partition by k order by id) as r "
    "from {t}) where r = 1",
}
_SUMS = "select k, sum(x) as s, count(x) as n, avg(x) as a from {t} group by k"


def by_delta() -> Iterator[View]:
    """Every form of a fast view in which the column is a key."""
    for form, query in _FORMS.items():
        yield View(form, query)
    yield View("sums of doubles", _SUMS, options=", float_additive = true")
