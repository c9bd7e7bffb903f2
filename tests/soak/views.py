"""The views that are soaked: of every refresh method and of several kinds of query."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class View:
    """A view, and the methods by which it may be refreshed on demand; strict if `method` is one."""

    query: str
    methods: tuple[str, ...] = ("", "complete")
    method: str = "auto"
    partitions: str = ""
    policy: str = ""

    def create(self, name: str) -> str:
        """The statement that creates it, or leaves it as it is."""
        layout = f"partitioned by ({self.partitions}) " if self.partitions else ""
        chosen = ", ".join(filter(None, (f"refresh_method = '{self.method}'", self.policy)))
        options = f"options ({chosen}) "
        return f"create or replace materialized view @.{name} {layout}{options}as {self.query}"


_FAST = ("", "fast", "fast", "complete")
_PARTITION = ("", "partition", "partition", "complete")
VIEWS = {
    "totals": View(
        "select customer, count(*) as n, sum(amount) as total from @.orders group by customer",
        _FAST,
    ),
    "joined": View(
        "select o.id, o.customer, i.item, i.price "
        "from @.orders o left join @.items i on i.order_id = o.id",
        _FAST,
    ),
    "grand": View("select sum(n) as n, sum(total) as total from @.totals"),
    "changing": View("select id, amount from @.orders"),
    "brief": View("select item, max(price) as most from @.items group by item", _FAST),
    "computed": View(
        "select customer, max(id) as last from @.orders group by customer", method="complete"
    ),
    "added": View(
        "select item, count(*) as n, sum(price) as total, avg(price) as mean, min(price) as low "
        "from @.items group by item",
        _FAST,
        "fast",
    ),
    "paid": View(
        "select o.customer, i.item, sum(i.price) as paid, count(distinct o.id) as orders "
        "from @.orders o join @.items i on i.order_id = o.id group by o.customer, i.item",
        _FAST,
        "fast",
    ),
    "copied": View("select id, customer, amount from @.orders where amount > 20", _FAST, "fast"),
    "bought": View(
        "select distinct o.customer, i.item from @.orders o left join @.items i "
        "on i.order_id = o.id",
        _FAST,
        "fast",
    ),
    "by_customer": View(
        "select o.customer, o.id, i.item from @.orders o left join @.items i on i.order_id = o.id",
        _PARTITION + ("fast",),
        "partition",
        "customer",
    ),
    "by_item": View(
        "select item, bucket, count(*) as n, sum(price) as total "
        "from (select *, order_id div 50 as bucket from @.items) group by item, bucket",
        _PARTITION + ("fast",),
        "partition",
        "item, bucket",
    ),
    "served": View(
        "select customer, sum(amount) as total from @.orders group by customer",
        _FAST,
        policy="when_stale = 'serve'",
    ),
    "inlined": View(
        "select item, count(*) as n from @.items group by item", policy="when_stale = 'inline'"
    ),
    "refused": View("select id from @.orders where amount > 50", policy="when_stale = 'fail'"),
    "tolerant": View(
        "select id, amount from @.orders",
        policy="max_staleness = 'INTERVAL 20 SECOND', on_refresh_error = 'serve'",
    ),
    "untouched": View("select count(*) as n from @.items", policy="enable_refresh = false"),
    "latest": View("select max(at) as at from @.ticks", _FAST),
    "latest_inlined": View("select max(at) as at from @.ticks", policy="when_stale = 'inline'"),
    "latest_above": View("select max(at) as at from @.latest"),
    "latest_by_part": View(
        "select part, max(at) as at from @.ticks group by part", _PARTITION, "partition", "part"
    ),
}
# Whoever reads one of these gets what was committed before, in whatever form it is asked for.
ALWAYS_FRESH = ("latest", "latest_inlined", "latest_above", "latest_by_part", "over_latest")
FORMS = (
    "select max(at) from @.{v}",
    "with c as (table @.{v}) select max(at) from c",
    "select max(at) from identifier('@.{v}')",
    "execute immediate 'select max(at) from @.{v}'",
    "from @.{v} |> aggregate max(at)",
    "select (select max(at) from @.{v})",
)
# A definition of `changing` that the workers swap in and out.
OTHER = "select id, amount + 1 as amount from @.orders"
# What may be dropped, and is created again.
DROPPED = ("brief", "added", "by_item")
