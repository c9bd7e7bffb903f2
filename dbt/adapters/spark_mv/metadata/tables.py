"""The tables and views of the metadata schema, as SQL.

`mv_events` is the only table. The six views project it; `projection.py` does the same in
memory, and a test keeps the two equal.
"""

from __future__ import annotations

from dbt.adapters.spark_mv.sql.names import TableName

EVENTS = "mv_events"
EVENT_COLUMNS = (
    ("event_id", "STRING"),
    ("at", "TIMESTAMP"),
    ("view_id", "STRING"),
    ("view_name", "STRING"),
    ("kind", "STRING"),
    ("refresh_id", "STRING"),
    ("payload", "STRING"),
    ("invocation_id", "STRING"),
    ("writer", "STRING"),
)
_PROPERTIES = {
    "format-version": "2",
    "write.distribution-mode": "none",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
    "commit.retry.num-retries": "20",
    "commit.retry.min-wait-ms": "50",
    "commit.retry.max-wait-ms": "2000",
}


def create_events_table(events: TableName) -> str:
    """DDL of the event table."""
    columns = ", ".join(f"{name} {kind}" for name, kind in EVENT_COLUMNS)
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in _PROPERTIES.items())
    return (
        f"CREATE TABLE IF NOT EXISTS {events.sql} ({columns}) USING iceberg "
        f"TBLPROPERTIES ({properties})"
    )


def create_views(events: TableName) -> list[str]:
    """DDL of the six views over the event table."""
    return [
        f"CREATE OR REPLACE VIEW {events.sibling(name).sql} AS {query.format(events=events.sql)}"
        for name, query in _VIEWS.items()
    ]


# Payloads may be written by hand: a number that is none, or no moment, becomes NULL; as decimals of
# so many digits they never overflow a timestamp.
# The newest lifecycle event of each view that is not dropped, and the newest of a name: a drop is
# recorded last, when another view may have its name.
_LIVE = """
WITH e AS (
  SELECT event_id, min(at) AS at, any_value(view_id) AS view_id, any_value(view_name) AS view_name,
    any_value(kind) AS kind, any_value(refresh_id) AS refresh_id, any_value(payload) AS payload,
    any_value(invocation_id) AS invocation_id
  FROM {events} GROUP BY event_id
), by_id AS (
  SELECT view_id, max_by(view_name, at) AS view_name, max_by(kind, at) AS kind,
    max_by(payload, at) AS payload, max(at) AS at
  FROM e WHERE kind IN ('CREATED', 'REPLACED', 'OPTIONS_CHANGED', 'DROPPED') GROUP BY view_id
), lifecycle AS (
  SELECT view_name, max_by(view_id, at) AS view_id, max_by(payload, at) AS payload, max(at) AS at
  FROM by_id WHERE kind <> 'DROPPED' GROUP BY view_name
), live AS (
  SELECT view_name, view_id, at AS modified_at, payload,
    get_json_object(payload, '$.table_catalog') AS table_catalog,
    get_json_object(payload, '$.table_schema') AS table_schema,
    get_json_object(payload, '$.table_name') AS table_name
  FROM lifecycle
), folded AS (
  SELECT e.view_id,
    max_by(get_json_object(e.payload, '$.stale') = 'true', e.at)
      FILTER (WHERE e.kind IN ('MARKED_STALE', 'REFRESH_SUCCEEDED', 'REFRESH_SKIPPED',
        'REFRESH_FAILED'))
      OR coalesce(unix_micros(max(e.at) FILTER (WHERE e.kind = 'INVALIDATED'))
        > coalesce(max(TRY_CAST(get_json_object(e.payload, '$.covers_us') AS BIGINT))
          FILTER (WHERE e.kind = 'REFRESH_SUCCEEDED'), 0), false) AS is_stale,
    max(e.at) FILTER (WHERE e.kind IN ('REFRESH_SUCCEEDED', 'REFRESH_SKIPPED')) AS refreshed_at,
    max_by(e.payload, e.at) FILTER (WHERE e.kind = 'REFRESH_SUCCEEDED') AS build,
    max_by(e.payload, e.at) FILTER (WHERE e.kind LIKE 'REFRESH%' AND e.kind <> 'REFRESH_STARTED')
      AS last_end,
    max_by(e.kind, e.at) FILTER (WHERE e.kind IN ('REFRESH_SUCCEEDED', 'REFRESH_SKIPPED',
      'REFRESH_FAILED')) AS last_kind,
    max_by(e.kind, e.at) FILTER (WHERE e.kind IN ('SUSPENDED', 'RESUMED')) AS suspension,
    max(e.at) FILTER (WHERE e.kind = 'RESUMED') AS resumed_at,
    min(e.at) FILTER (WHERE e.kind IN ('CREATED', 'REPLACED', 'OPTIONS_CHANGED')) AS created_at,
    max(e.at) FILTER (WHERE e.kind LIKE 'REFRESH%' AND e.kind <> 'REFRESH_STARTED'
      AND get_json_object(e.payload, '$.trigger') = 'SCHEDULE') AS scheduled_at,
    max_by(get_json_object(e.payload, '$.schedule'), e.at) FILTER (WHERE e.kind LIKE 'REFRESH%'
      AND e.kind <> 'REFRESH_STARTED' AND get_json_object(e.payload, '$.trigger') = 'SCHEDULE')
      AS scheduled,
    timestamp_micros(CAST(TRY_CAST(get_json_object(max_by(e.payload, e.at)
      FILTER (WHERE e.kind = 'REFRESH_SUCCEEDED'), '$.expires_us') AS DECIMAL(18)) AS BIGINT))
      AS expires_at
  FROM e GROUP BY e.view_id
)
"""

# Rows are others from the first of these instants on.
_EXPIRES = """least(f.expires_at, timestamp_micros(
    CAST(TRY_CAST(get_json_object(f.build, '$.evaluated_ms') AS DECIMAL(15)) AS BIGINT) * 1000
    + CAST(TRY_CAST(get_json_object(l.payload, '$.max_age_us') AS DECIMAL(18)) AS BIGINT)))"""
_MATERIALIZED_VIEWS = (
    _LIVE
    + f"""
SELECT l.table_catalog, l.table_schema, l.table_name,
  f.refreshed_at AS last_refresh_time,
  timestamp_millis(CAST(TRY_CAST(get_json_object(f.build, '$.watermark')
    AS DECIMAL(15)) AS BIGINT)) AS refresh_watermark,
  get_json_object(l.payload, '$.options.enable_refresh') = 'true' AS enable_refresh,
  CASE WHEN get_json_object(l.payload, '$.options.schedule') IS NULL
    THEN TRY_CAST(get_json_object(l.payload, '$.options.refresh_interval_minutes') AS BIGINT)
    END AS refresh_interval_minutes,
  l.modified_at AS last_modified_time,
  coalesce(f.is_stale, true) OR coalesce({_EXPIRES} <= current_timestamp(), false) AS is_stale
FROM live l LEFT JOIN folded f ON f.view_id = l.view_id
"""
)

# As `config.schedule.Slots.next_due` counts, and as `due_from_json` reads.
_STATUS = (
    _LIVE
    + f"""
, slots AS (
  SELECT l.view_id,
    coalesce(CAST(TRY_CAST(get_json_object(l.payload, '$.schedule.start_us') AS DECIMAL(18))
      AS BIGINT),
      unix_micros(f.created_at)) AS start_us,
    nullif(CAST(TRY_CAST(get_json_object(l.payload, '$.schedule.interval_us') AS DECIMAL(18))
      AS BIGINT), 0) AS interval_us,
    unix_micros(coalesce(f.scheduled_at, f.created_at)) AS after_us,
    get_json_object(l.payload, '$.schedule.cron') AS cron,
    greatest(
      CAST(TRY_CAST(get_json_object(l.payload, '$.schedule.due_us') AS DECIMAL(18)) AS BIGINT),
      CASE WHEN get_json_object(f.scheduled, '$.cron')
            = get_json_object(l.payload, '$.schedule.cron')
          AND get_json_object(f.scheduled, '$.time_zone')
            = get_json_object(l.payload, '$.schedule.time_zone')
        THEN CAST(TRY_CAST(get_json_object(f.scheduled, '$.due_us') AS DECIMAL(18)) AS BIGINT)
        END) AS due_us
  FROM live l LEFT JOIN folded f ON f.view_id = l.view_id
)
SELECT l.table_catalog, l.table_schema, l.table_name,
  get_json_object(l.payload, '$.storage_table') AS storage_table,
  get_json_object(l.payload, '$.definition') AS definition,
  get_json_object(l.payload, '$.definition_hash') AS definition_hash,
  get_json_object(l.payload, '$.options') AS options,
  CASE WHEN f.suspension = 'SUSPENDED' THEN 'SUSPENDED'
    WHEN f.last_kind = 'REFRESH_FAILED' THEN 'BROKEN' ELSE 'READY' END AS status,
  CASE WHEN f.last_kind = 'REFRESH_FAILED' THEN get_json_object(f.last_end, '$.error')
    END AS status_reason,
  CASE WHEN coalesce(f.is_stale, true) THEN (SELECT min(x.at) FROM e x
    WHERE x.view_id = l.view_id AND x.kind IN ('MARKED_STALE', 'INVALIDATED', 'REFRESH_FAILED')
      AND x.at > coalesce(f.refreshed_at, timestamp_millis(0))) END AS stale_since,
  get_json_object(f.build, '$.method') AS last_refresh_method,
  get_json_object(f.last_end, '$.reason') AS last_refresh_reason,
  TRY_CAST(get_json_object(f.build, '$.seconds') AS DOUBLE) AS last_refresh_seconds,
  TRY_CAST(get_json_object(f.build, '$.rows') AS BIGINT) AS `rows`,
  TRY_CAST(get_json_object(f.build, '$.bytes') AS BIGINT) AS bytes,
  (SELECT count(*) FROM e x WHERE x.view_id = l.view_id AND x.kind = 'REFRESH_FAILED'
    AND get_json_object(x.payload, '$.automatic') = 'true'
    AND x.at > coalesce(greatest(f.refreshed_at, f.resumed_at), timestamp_millis(0)))
    AS consecutive_failures,
  CASE WHEN coalesce(f.suspension, 'RESUMED') <> 'SUSPENDED'
    AND get_json_object(l.payload, '$.options.enable_refresh') = 'true'
    THEN timestamp_micros(CASE WHEN s.cron IS NOT NULL THEN s.due_us
      WHEN s.after_us < s.start_us THEN s.start_us
      ELSE s.start_us + ((s.after_us - s.start_us) DIV s.interval_us + 1) * s.interval_us END)
    END AS next_refresh_time,
  {_EXPIRES} AS expires_at,
  get_json_object(l.payload, '$.methods.fast') AS can_be_fast,
  get_json_object(l.payload, '$.methods.partition') AS can_be_by_partition
FROM live l LEFT JOIN folded f ON f.view_id = l.view_id
  LEFT JOIN slots s ON s.view_id = l.view_id
"""
)

_SOURCE = (
    "array<struct<catalog:string,schema:string,name:string,kind:string,depth:int,table:string>>"
)
_GRAPH = (
    _LIVE
    + f"""
, edges AS (
  SELECT l.*, f.build,
    explode(from_json(get_json_object(l.payload, '$.sources'), '{_SOURCE}')) AS s
  FROM live l LEFT JOIN folded f ON f.view_id = l.view_id
)
SELECT table_catalog, table_schema, table_name, s.catalog AS source_catalog,
  s.schema AS source_schema, s.name AS source_name, s.kind AS source_kind, s.depth AS depth,
  from_json(get_json_object(build, '$.to'), 'map<string,string>')[s.table] AS pinned_version,
  timestamp_millis(CAST(TRY_CAST(get_json_object(build, '$.evaluated_ms')
    AS DECIMAL(15)) AS BIGINT)) AS pinned_at
FROM edges
"""
)

_HISTORY = """
WITH e AS (
  SELECT event_id, min(at) AS at, any_value(view_name) AS view_name, any_value(kind) AS kind,
    any_value(refresh_id) AS refresh_id, any_value(payload) AS payload,
    any_value(invocation_id) AS invocation_id
  FROM {events} WHERE refresh_id IS NOT NULL AND kind LIKE 'REFRESH%' GROUP BY event_id
), r AS (
  SELECT refresh_id, any_value(invocation_id) AS invocation_id,
    min_by(payload, at) AS first,
    max_by(kind, at) FILTER (WHERE kind <> 'REFRESH_STARTED') AS last_kind,
    max_by(payload, at) FILTER (WHERE kind <> 'REFRESH_STARTED') AS last,
    max(at) FILTER (WHERE kind <> 'REFRESH_STARTED') AS ended_at
  FROM e GROUP BY refresh_id
)
SELECT refresh_id,
  get_json_object(first, '$.table_catalog') AS table_catalog,
  get_json_object(first, '$.table_schema') AS table_schema,
  get_json_object(first, '$.table_name') AS table_name,
  get_json_object(first, '$.trigger') AS `trigger`,
  get_json_object(first, '$.requested_method') AS requested_method,
  coalesce(get_json_object(last, '$.method'), get_json_object(first, '$.method')) AS method,
  coalesce(get_json_object(last, '$.reason'), get_json_object(first, '$.reason')) AS reason,
  CASE WHEN last_kind IS NULL THEN 'RUNNING' ELSE substring(last_kind, 9) END AS state,
  timestamp_micros(CAST(TRY_CAST(get_json_object(first, '$.started_us')
    AS DECIMAL(18)) AS BIGINT)) AS started_at,
  ended_at,
  TRY_CAST(get_json_object(last, '$.seconds') AS DOUBLE) AS seconds,
  from_json(get_json_object(first, '$.from'), 'map<string,string>') AS from_versions,
  from_json(coalesce(get_json_object(last, '$.to'), get_json_object(first, '$.to')),
    'map<string,string>') AS to_versions,
  TRY_CAST(get_json_object(last, '$.rows_inserted') AS BIGINT) AS rows_inserted,
  TRY_CAST(get_json_object(last, '$.rows_updated') AS BIGINT) AS rows_updated,
  TRY_CAST(get_json_object(last, '$.rows_deleted') AS BIGINT) AS rows_deleted,
  get_json_object(last, '$.error') AS error,
  get_json_object(first, '$.owner_host') AS owner_host,
  TRY_CAST(get_json_object(first, '$.owner_pid') AS BIGINT) AS owner_pid,
  invocation_id,
  get_json_object(first, '$.estimate') AS estimate
FROM r
ORDER BY started_at
"""

_OPTIONS = (
    _LIVE
    + """
, options AS (
  SELECT table_schema, table_name,
    explode(from_json(get_json_object(payload, '$.options'), 'map<string,string>'))
      AS (option_name, option_value)
  FROM live
)
SELECT table_schema, table_name, option_name,
  CASE WHEN option_value IN ('true', 'false') THEN 'BOOL'
    WHEN try_cast(option_value AS BIGINT) IS NOT NULL THEN 'INT64'
    ELSE 'STRING' END AS option_type,
  option_value
FROM options WHERE option_value IS NOT NULL
"""
)

_REWRITES = """
SELECT max(e.at) AS at, any_value(e.view_name) AS view_name,
  any_value(get_json_object(e.payload, '$.reader')) AS reader,
  any_value(TRY_CAST(get_json_object(e.payload, '$.rows') AS BIGINT)) AS rows_read,
  any_value(TRY_CAST(get_json_object(e.payload, '$.original_rows') AS BIGINT)) AS rows_instead_of,
  any_value(e.invocation_id) AS invocation_id
FROM {events} e WHERE e.kind = 'REWRITTEN' GROUP BY e.event_id
"""

_VIEWS = {
    "materialized_views": _MATERIALIZED_VIEWS,
    "mv_status": _STATUS,
    "mv_dependencies_graph": _GRAPH,
    "mv_refresh_history": _HISTORY,
    "table_options": _OPTIONS,
    "mv_rewrites": _REWRITES,
}
