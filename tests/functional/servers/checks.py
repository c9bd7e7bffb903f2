"""What has to hold over every connection method."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.functional.servers.processes import SECOND, Client
from tests.sampling import WHOLE

VIEWS = (
    "busiest_carriers",
    "current_showtimes",
    "daily_flights",
    "delays_by_airport",
    "delays_by_carrier",
    "empty_base",
    "paid_tickets_by_showtime",
    "routes",
    "showtimes_ahead",
    "weather_by_day",
)
RUN_SQL = "{% macro run_sql(statement) %}{% do run_query(statement) %}{% endmacro %}"
# A query over base tables alone that says what the view says.
DIRECT = {
    "delays_by_carrier": """
        select f.carrier, a.name, count(*), count(arr_delay), sum(arr_delay), avg(arr_delay)
        from raw.flights f join raw.airlines a on a.carrier = f.carrier
        group by f.carrier, a.name""",
    "busiest_carriers": """
        select f.carrier, a.name, count(*), avg(arr_delay)
        from raw.flights f join raw.airlines a on a.carrier = f.carrier
        group by f.carrier, a.name having count(*) >= 10000""",
    "delays_by_airport": """
        select dest, coalesce(a.name, dest), count(*), count(arr_delay), sum(arr_delay),
          max(arr_delay)
        from raw.flights f left join raw.airports a on a.faa = f.dest
        group by dest, coalesce(a.name, dest)""",
    "paid_tickets_by_showtime": """
        select o.showtime_id, count(t.ticket_id), sum(t.price)
        from cinema.orders o left join cinema.tickets t on t.order_id = o.order_id
        group by o.showtime_id""",
}
CHANGES = (
    "insert into raw.flights by name select * except (flight), flight + 10000 as flight "
    "from raw.flights where carrier = 'OO' and month = 1",
    "update raw.flights set arr_delay = arr_delay + 5 "
    "where carrier = 'UA' and flight_date = date'2013-01-03'",
    "delete from raw.flights where flight_date = date'2013-02-09' and arr_delay is null",
)


def labels(client: Client) -> dict[str, tuple[str, dict[str, Any]]]:
    """(refresh id, state) that the head of each storage table carries."""
    tables = [row[1] for row in client.sql("show tables in analytics like '*__mv_*'")]
    union = " union all ".join(
        f"select '{table}', s.summary['mv.refresh_id'], s.summary['mv.refresh_state'] "
        f"from analytics.{table}.snapshots s join analytics.{table}.refs r "
        "on r.snapshot_id = s.snapshot_id and r.name = 'main'"
        for table in tables
    )
    found = {row[0].split("__mv_")[0]: (row[1], json.loads(row[2])) for row in client.sql(union)}
    assert sorted(found) == sorted(VIEWS)
    return found


def states(client: Client) -> dict[str, str]:
    """Freshness of each view as `status` prints it."""
    words = [line.split() for line in client.operation("status").splitlines()]
    return {w[0].split(".")[-1]: w[2] for w in words if w and w[0].startswith("analytics.")}


def assert_all_fresh(client: Client) -> None:
    assert states(client) == dict.fromkeys(VIEWS, "FRESH")


WITHOUT_TESTS = ("--exclude-resource-type", "test")


def assert_builds_again(client: Client, with_tests: bool = WHOLE) -> None:
    """A build succeeds, and refreshes no view that another method has built.

    The project's tests take twice as long as its models, and read what other checks read.
    """
    before = labels(client)
    for without in ((), WITHOUT_TESTS) if with_tests else (WITHOUT_TESTS,):
        nodes = client.dbt("build", *without)["nodes"]
        assert len(nodes) > (15 if without else 50)
        assert set(nodes.values()) <= {"success", "pass", "no-op"}
    after = labels(client)
    assert {name: label[0] for name, label in after.items()} == {
        name: label[0] for name, label in before.items()
    }


def assert_same_versions(client: Client) -> None:
    """A refresh with nothing changed labels its build as the one before it was labelled."""
    names = ("busiest_carriers", "current_showtimes", "empty_base")
    before = labels(client)
    for name in names:
        client.operation("refresh", view=name, method="complete")
    after = labels(client)
    for name in names:
        assert after[name][0] != before[name][0]
        for key in ("sources", "definition_hash", "storage_schema_id"):
            assert after[name][1][key] == before[name][1][key]


def assert_follows_changes(client: Client) -> None:
    """A read after a change that dbt has not seen equals the direct query."""
    for statement in CHANGES:
        client.sql(statement)
    found = states(client)
    assert found["delays_by_carrier"] == "STALE"
    assert found["busiest_carriers"] == "STALE"
    assert found["paid_tickets_by_showtime"] == "FRESH"
    for name, direct in DIRECT.items():
        rows = client.rows(f"select * from {{{{ ref('{name}') }}}}")
        assert rows
        assert rows == client.rows(direct), name


def assert_operations(client: Client) -> None:
    """status, refresh, verify, explain_rewrite and history after another change."""
    client.sql("update raw.weather set temp = temp + 1 where origin = 'JFK' and month = 3")
    assert states(client)["weather_by_day"] == "STALE"
    refreshed = client.operation("refresh")
    assert "weather_by_day" in refreshed
    assert_all_fresh(client)
    verified = client.operation("verify")
    assert verified.count(" OK ") == len(VIEWS)
    explained = client.operation("explain_rewrite", sql=DIRECT["delays_by_carrier"])
    assert "analytics.delays_by_carrier" in explained
    assert "SETTINGS_DIFFER" not in explained, explained
    history = client.operation("history", view="weather_by_day").splitlines()[-1]
    assert "weather_by_day" in history
    assert "SUCCEEDED" in history


def assert_names_with_catalogs(client: Client, project: Path) -> None:
    """Base tables and views may be named with their catalog, also one that this session has never
    used; Spark then lists neither."""
    (project / "macros" / "run_sql.sql").write_text(RUN_SQL)
    client.sql(f"create schema if not exists {SECOND}.x")
    client.sql(f"create or replace table {SECOND}.x.t using iceberg as select 1 as a")
    client.sql(f"create or replace view analytics.plain as select a from {SECOND}.x.t")
    made = {
        "analytics.named": "select count(*) as n from local.raw.flights",
        "local.analytics.named_too": "select n from local.analytics.named",
        "analytics.named_second": f"select count(*) as n from {SECOND}.x.t",
        "analytics.named_plain": "select count(*) as n from analytics.plain",
    }
    for name, query in made.items():
        client.operation("run_sql", statement=f"create materialized view {name} as {query}")
    client.sql(f"insert into {SECOND}.x.t values (2)")
    client.operation("run_sql", statement="refresh materialized view local.analytics.named_second")
    assert client.sql("select n from analytics.named_second") == [[2]]
    assert client.rows("select n from local.analytics.named_plain") == [[2]]
    for name in reversed(made):
        full = name if name.startswith("local.") else f"local.{name}"
        client.operation("run_sql", statement=f"drop view {full}")
    assert not client.sql("show tables in analytics like 'named*'")
    client.sql("drop view analytics.plain")


def assert_comments_with_quotes(client: Client, project: Path) -> None:
    """SHOW CREATE TABLE, by which a server says what a view reads, does not escape them."""
    (project / "macros" / "run_sql.sql").write_text(RUN_SQL)
    client.sql("create or replace table raw.owned using iceberg as select 1 as a, 'x' as b")
    client.sql(
        """create or replace view analytics.owned (a comment "the customer's (name", b) """
        """comment "it's" as select a, b from raw.owned"""
    )
    create = "create materialized view analytics.over_owned as select sum(a) as n"
    client.operation("run_sql", statement=f"{create} from analytics.owned")
    client.sql("insert into raw.owned values (2, 'y')")
    assert client.rows("select n from analytics.over_owned") == [[3]]
    client.operation("drop_mv", view="over_owned")
    client.sql("drop view analytics.owned")
    client.sql("drop table raw.owned")


def assert_one_name(client: Client, project: Path) -> None:
    """A view has one name, in whichever letters it is written, where the catalog has only those in
    lower case; and what is in use is never swept."""
    (project / "macros" / "run_sql.sql").write_text(RUN_SQL)
    folds = "hive" in client.output["spark_conf"].values()
    written, also = "Upper_X.UpSales", "UPPER_X.upsales" if folds else "Upper_X.UpSales"
    client.sql("create schema if not exists Upper_X")
    client.sql("create or replace table Upper_X.Base using iceberg as select 1 as a")
    create = f"create materialized view {written} as select sum(a) as n from upper_x.base"
    client.operation(
        "run_sql", statement=create if folds else create.replace("upper_x.base", "Upper_X.Base")
    )
    client.sql("insert into Upper_X.Base values (2)")
    assert client.rows(f"select n from {also}") == [[3]]
    status = client.operation("status", all=True)
    assert status.lower().count("upper_x.upsales ") == 1
    assert ("upper_x.upsales " in status) is folds
    # A person may write either.
    for name in (written, "upsales"):
        assert "nothing to clean up" in client.operation("sweep", view=name), name
    client.operation("drop_mv", view="upper_x.upsales")
    client.sql("drop table Upper_X.Base")
    client.sql("drop schema Upper_X")


def assert_seeds(client: Client, project: Path, first: str, unchanged: str) -> None:
    """The table has the rows of the file; `first` is the format in which it is made, `unchanged`
    the word for a seed that has not changed."""
    old, new = "k,v\n1,a\n2,b\n", "k,v\n1,a\n3,it's\n"
    steps = [
        (old, first, "INSERT"),
        (old, "iceberg", unchanged if first == "iceberg" else "INSERT"),
    ]
    steps += [(old, "iceberg", unchanged), (new, "iceberg", "INSERT")]
    folder = project / "seeds"
    for text, file_format, word in steps:
        (folder / "pairs.csv").write_text(text)
        config = f"seeds: [{{name: pairs, config: {{schema: seeded, file_format: {file_format}}}}}]"
        (folder / "pairs.yml").write_text(config)
        assert f"[{word} 2 in" in "\n".join(client.dbt("seed", "--select", "pairs")["lines"])
        found = sorted(client.rows("select k, v from {{ ref('pairs') }}"))
        assert found == [[int(line[0]), line[2:]] for line in text.splitlines()[1:]]
    for name in ("pairs.csv", "pairs.yml"):
        (folder / name).unlink()
