"""Tests of dbt say what holds of keys, and at which versions; views that join more tables than a
query reads answer it as long as that is so."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.rewritten import explained, of_small_tables
from tests.functional.materialized_view.warehouse import Warehouse

ASKED = "select kind, sum(amount) as total, count(*) as n from @.orders group by kind"
OF_CUSTOMERS = "select c.region, count(*) as n from @.orders o join @.customers c "
OF_CUSTOMERS += "on c.id = o.customer group by c.region"
SOURCES = """
sources:
  - name: raw
    schema: {schema}
    tables:
      - name: orders
      - name: customers
      - name: areas
        columns: [{{name: region, data_tests: [unique]}}]
"""
KEYS = """
models:
  - name: customers_named
    columns:
      - name: customer_id
        data_tests: [unique]
  - name: some_orders
    columns:
      - name: id
        data_tests: [unique]
  - name: orders_named
    columns:
      - name: order_id
        data_tests:
          - unique:
              config: {where: "order_id > 3"}
      - name: customer_id
        data_tests:
          - not_null
          - relationships:
              arguments: {to: ref('customers_named'), field: customer_id}
"""
FILES = {
    "models/customers_named.sql": "{{ config(materialized='view') }} "
    "select id as customer_id, region from {{ source('raw', 'customers') }}",
    "models/orders_named.sql": "{{ config(materialized='view') }} "
    "select customer as customer_id, id as order_id from {{ source('raw', 'orders') }}",
    "models/some_orders.sql": "{{ config(materialized='view') }} "
    "select id, customer from {{ source('raw', 'orders') }} where id > 3",
    "models/by_region.sql": "{{ config(materialized='bq_materialized_view') }} "
    "select c.region, o.kind, a.name as area, sum(o.amount) as total from "
    "{{ source('raw', 'orders') }} o join {{ source('raw', 'customers') }} c on c.id = o.customer "
    "left join {{ source('raw', 'areas') }} a on a.region = c.region group by 1, 2, 3",
    "models/keys.yml": KEYS,
}


@pytest.fixture(scope="module")
def project(lake: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> DbtProject:
    lake.spark(
        "create or replace table @.orders using iceberg as select cast(id as int) as id, "
        "cast(id % 40 as int) as customer, id % 3 as kind, cast(id as decimal(9, 2)) as amount "
        "from range(4000)"
    )
    lake.spark(
        "create or replace table @.customers using iceberg as select cast(id as int) as id, "
        "concat('r', id % 5) as region from range(50)"
    )
    lake.spark(
        "create or replace table @.areas using iceberg as select concat('r', id) as region, "
        "concat('a', id % 2) as name from range(4)"
    )
    shop = of_small_tables(lake)
    made = DbtProject(tmp_path_factory.mktemp("tested"), shop)
    made.write(FILES)
    made.write({"models/sources.yml": SOURCES.format(schema=lake.schema)})
    made.dbt("run")
    return made


def answer(project: DbtProject, query: str = ASKED) -> tuple[list[str], set[str]]:
    """The views that answer a query, and why others do not."""
    _, *attempts = explained(project.warehouse, query)
    used = [str(row[1]).rpartition(".")[2] for row in attempts if row[2]]
    return used, {f"{row[3]} {row[4]}" for row in attempts}


def held(project: DbtProject) -> Counter[str]:
    """What the metadata says of keys: kinds and columns."""
    rows = project.warehouse.spark("select payload from @meta.mv_events where kind = 'HELD'")
    said = (json.loads(payload) for (payload,) in rows)
    return Counter(
        f"{one['constraint']} {' '.join('.'.join(c[2:]) for c in one['columns'])}" for one in said
    )


def assert_right(project: DbtProject, query: str = ASKED) -> None:
    shop = project.warehouse
    assert Counter(shop.apart(query)) == Counter(shop.spark(query))


@pytest.mark.behaviour("C21")
def test_tests_say_what_holds(project: DbtProject) -> None:
    """Those of logical views hold for their tables if they have all rows; a part says nothing."""
    assert answer(project)[0] == []
    project.dbt("test")
    expected = {
        "UNIQUE customers.id": 1,
        "UNIQUE areas.region": 1,
        "NOT_NULL orders.customer": 1,
        "REFERENCES orders.customer customers.id": 1,
    }
    assert held(project) == expected
    assert answer(project)[0] == ["by_region"]
    assert_right(project)
    assert answer(project, OF_CUSTOMERS)[0] == ["by_region"]
    assert_right(project, OF_CUSTOMERS)
    project.dbt("test")
    assert held(project) == expected


def test_at_other_versions_nothing_is_known(project: DbtProject) -> None:
    """A customer twice: each of his orders is in the view twice."""
    project.dbt("test")
    shop = project.warehouse
    shop.spark("insert into @.customers values (3, 'r9')")
    assert answer(project)[0] == []
    shop.operation("refresh")
    used, why = answer(project)
    assert used == []
    assert any("tested at other versions" in one for one in why), why
    assert_right(project)
    project.dbt("test", fails=True)
    assert answer(project)[0] == []
    assert_right(project)
    shop.spark("delete from @.customers where region = 'r9'")
    shop.operation("refresh")
    assert answer(project)[0] == []
    project.dbt("test")
    assert answer(project)[0] == ["by_region"]
    assert_right(project)


def test_orders_of_nobody(project: DbtProject) -> None:
    """An order without a customer, or of one who is gone, is in no row of the view."""
    project.dbt("test")
    shop = project.warehouse
    for customer in ("null", "77"):
        shop.spark(f"insert into @.orders values (9000, {customer}, 1, 5.5)")
        shop.operation("refresh")
        project.dbt("test", fails=True)
        assert answer(project)[0] == []
        assert_right(project)
        shop.spark("delete from @.orders where id = 9000")
    shop.operation("refresh")
    project.dbt("test")
    assert answer(project)[0] == ["by_region"]


def test_what_a_table_says_is_forgotten_with_its_versions(project: DbtProject) -> None:
    """A rebuilt metadata table knows no tests; the next ones say it again."""
    project.dbt("test")
    project.operation("rebuild_metadata")
    assert answer(project)[0] in ([], ["by_region"])
    project.dbt("test")
    assert answer(project)[0] == ["by_region"]
