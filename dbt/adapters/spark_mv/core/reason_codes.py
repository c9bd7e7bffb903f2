"""What each code of a `Reason` means, and the way out of it.

With `rewriting_codes` this is the only list of them: `explain`, the errors of strict methods and
docs/errors_and_reasons.md take their words from here.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.spark_mv.core.meanings import Meaning
from dbt.adapters.spark_mv.core.rewriting_codes import REWRITING

_REFRESH = "Refresh the view."
_JOIN = "Write the subquery as a join, or put it in a materialized view of its own."
_OVER_VIEW = "Put this part in a query, or in another view, over the materialized view."

FRESHNESS: Mapping[str, Meaning] = {
    "NOTHING_CHANGED": Meaning("No base table has changed since the last refresh."),
    "OF_THAT_TIME": Meaning("The rows are those of the time that `as_of` names."),
    "EQUIVALENT_VERSIONS": Meaning(
        "Base tables have new versions, for example after a compaction, and the same rows."
    ),
    "NEVER_BUILT": Meaning("The view has no stored rows yet.", _REFRESH),
    "BASE_TABLE_CHANGED": Meaning("Base tables were written to since the last refresh.", _REFRESH),
    "UPSTREAM_NOT_FRESH": Meaning(
        "The view reads another materialized view, which is not fresh.",
        "Refresh that one first; `refresh --args '{view: +name}'` does both.",
    ),
    "DEFINITION_CHANGED": Meaning(
        "The query of the view, or of a view that it reads, means something else now.", _REFRESH
    ),
    "REDUCED_RUN": Meaning(
        "The last build has a part of the rows only, because dbt ran with --empty or --sample.",
        "Run the model without these flags.",
    ),
    "WRITTEN_BY_HAND": Meaning(
        "The newest snapshot of the storage table was not made by a refresh.",
        "Refresh the view, which takes it back to its newest build if that is worth it, and write "
        "to its base tables only.",
    ),
    "STORAGE_ALTERED": Meaning(
        "Somebody altered the columns of the storage table.",
        "Refresh the view; it is built in another storage table.",
    ),
    "INVALIDATED": Meaning(
        "Somebody said by `invalidate` that stored rows may be wrong, although no base table shows "
        "it; a complete refresh, or one of their keys alone, computes them again.",
        _REFRESH,
    ),
    "EXPIRED": Meaning(
        "The query reads the clock, and the time has come at which its rows are others.", _REFRESH
    ),
    "MAX_AGE": Meaning("The rows are older than the option `max_age` allows.", _REFRESH),
    "CLOCK_MOVES_ALWAYS": Meaning(
        "The query computes with the time of day itself, so that its rows are others a moment "
        "later: each read computes them again.",
        "Store what the time is compared with, and compute with the clock in a view over the "
        "materialized view; or set `expiry: never`, so that rows change at refreshes only.",
    ),
    "EXPIRY_NOT_DERIVED": Meaning(
        "The query reads the clock where it is not known when the rows will be others, so that "
        "each read computes them again.",
        "Compare the clock with columns of one table in WHERE; or set `expiry: never`, so that "
        "rows change at refreshes only.",
    ),
    "CLOCK_NOT_CLEAR": Meaning(
        "The query has a text such as 'today' that Spark makes a date of, or calls the clock by "
        "a name that a column has, so that each read computes the rows again.",
        "Write `current_date()` or `current_timestamp()`; or set `expiry: never`, so that rows "
        "change at refreshes only.",
    ),
    "BASE_TABLE_DROPPED": Meaning(
        "A base table does not exist any more.",
        "Create the base table again, or change the query of the view.",
    ),
    "BASE_TABLE_UNVERSIONED": Meaning(
        "A base table has no versions, so that nothing says whether its rows are the same.",
        "Use an Iceberg table, or refresh the view on a schedule.",
    ),
}

REFRESHES: Mapping[str, Meaning] = {
    "REQUESTED": Meaning("Somebody asked for a complete refresh."),
    "KEYS_REQUESTED": Meaning("Somebody asked for the rows of some keys to be computed again."),
    "RESTORED": Meaning(
        "The newest snapshot of the storage table was not made by a refresh. The table was taken "
        "back to the newest one that was, because the rows of that are right, or can be brought up "
        "to date by what changed."
    ),
    "REDUCED_RUN_KEEPS": Meaning(
        "A run with --empty, --sample or --defer left a view as it is, because that has the rows "
        "of its whole definition.",
        "Run the model without these flags to change its definition.",
    ),
    "LOST_RACE": Meaning(
        "Something else was published, dropped or changed while the refresh was running, so that "
        "its build was discarded; it begins again if it is still needed."
    ),
    "FAST_FAILED": Meaning(
        "The statement of a fast refresh failed, so that a complete refresh follows.",
        "Please report the text of the failure and the view's query.",
    ),
    "OWNER_GONE": Meaning("The process of the refresh ended before the refresh did."),
    "OVER_TIME": Meaning(
        "The refresh has been running longer than `refresh_timeout`, so that another one may take "
        "its place.",
        "Make `refresh_timeout` in the profile longer than the longest refresh.",
    ),
    "DROPPED": Meaning("The view was dropped while it was being refreshed."),
    "REBUILT": Meaning(
        "An earlier refresh that `rebuild_metadata` found in the storage table and recorded again."
    ),
}

_PLANNING: Mapping[str, Meaning] = {
    "NOT_CHEAPER": Meaning(
        "The method is possible, and its cost estimate is not clearly below that of a complete "
        "refresh.",
        "Ask for the method by its name to use it all the same.",
    ),
    "FILES_REWRITTEN": Meaning(
        "A fast refresh would have to compare files that updates, deletes or merges wrote anew, "
        "and is not clearly cheaper than a complete one. It would be if the base table kept its "
        "files and wrote files of deletes.",
        "The `ALTER TABLE` in the reason does that for later updates, deletes and merges. Writes "
        "become cheaper; readers leave out the deleted rows themselves until "
        "`rewrite_data_files` has compacted the table.",
    ),
    "NO_BASE": Meaning(
        "There are no stored rows of a known state that changes could be added to.",
        "Refresh the view with method complete once.",
    ),
    "OTHER_LAYOUT": Meaning(
        "The storage table lacks columns that the fast refresh of this query keeps, or has them "
        "with the types that they had before a table was altered.",
        "Refresh the view with method complete once; it gets another storage table.",
    ),
    "NOT_PINNED": Meaning(
        "A base table cannot be read at a fixed version.",
        "Use an Iceberg table, without row filters of its catalog, that has been written to.",
    ),
    "NO_OLD_VERSION": Meaning(
        "A base table has no old version that its change could be computed from: nothing had been "
        "written to it, or it is no Iceberg table.",
        "If it is an Iceberg table, refresh the view with method complete once.",
    ),
    "SCHEMA_CHANGED": Meaning(
        "The columns of a base table were altered since the last refresh, other than by new ones "
        "that the query does not use and that something has been written to since.",
        "Refresh the view with method complete once.",
    ),
    "VERSION_GONE": Meaning(
        "A version of a base table that is needed has expired, or went with a table that was "
        "replaced.",
        "Refresh the view with method complete once. If no table was replaced, keep snapshots for "
        "longer than the time between two refreshes.",
    ),
    "NOT_PARTITIONED": Meaning(
        "The view has no partitions that a condition can name.",
        "Set `partition_by` to a column of the view that is neither a boolean nor nested.",
    ),
    "PARTITION_COLUMN": Meaning(
        "The query does not show from which rows a partition of the view is computed.",
        "Partition by a column of GROUP BY, and of PARTITION BY in every window.",
    ),
    "PARTITIONS_UNKNOWN": Meaning(
        "Spark failed to list the partitions that changed.",
        "Refresh the view with method complete, and report the text of the failure.",
    ),
    "TOO_MANY_PARTITIONS": Meaning(
        "More partitions may have changed than one statement can name.",
        "Refresh the view with method complete, or more often.",
    ),
}

_QUERY: Mapping[str, Meaning] = {
    "NOT_ADDITIVE": Meaning(
        "A change cannot be added to the stored groups; they can only be recomputed.",
        "Add a GROUP BY, or use COUNT, SUM, AVG, MIN and MAX of whole numbers and decimals.",
    ),
    "ONE_GROUP": Meaning("All rows form one group, which every change affects.", _OVER_VIEW),
    "WINDOW": Meaning(
        "A window, or QUALIFY, ranges over all rows, or cannot be followed.", _OVER_VIEW
    ),
    "TIME_WINDOW": Meaning(
        "A window of time has a form that cannot be followed: a session, overlapping windows, "
        "another type, or a length that is no number and unit.",
        _OVER_VIEW,
    ),
    "GROUPING_SETS": Meaning(
        "GROUPING SETS, ROLLUP or CUBE stand where their groups cannot be followed.",
        "Put them at the top of the query, over COUNT, SUM, AVG, MIN and MAX, or leave the total "
        "of all rows to another view.",
    ),
    "LIMIT": Meaning(
        "LIMIT or OFFSET chooses rows by their place, and stands where the place is not known.",
        "Put ORDER BY with LIMIT at the end of the query, or in a query over the view.",
    ),
    "ORDER_DEPENDENT": Meaning(
        "A value depends on the order in which rows are read.",
        "Put it at the top of the query, or in a view of its own; cast floating point numbers to "
        "decimals.",
    ),
    "SUBQUERY": Meaning("A subquery in a condition has a form that cannot be followed.", _JOIN),
    "SCALAR_SUBQUERY": Meaning(
        "A subquery that stands for a value has a form that cannot be followed.", _JOIN
    ),
    "CORRELATED": Meaning(
        "A subquery names columns of the query around it in a way that cannot be followed.", _JOIN
    ),
    "SEMI_JOIN": Meaning(
        "A semi or anti join stands before a right or full join.",
        "Put the semi or anti join in a subquery of FROM, or use EXISTS.",
    ),
    "SET_OPERATION": Meaning(
        "UNION, INTERSECT or EXCEPT matches columns by their names, or branches of other types.",
        "List the columns in one order on both sides, and cast them to one type.",
    ),
    "DISTINCT_ON": Meaning("DISTINCT ON keeps rows by their order.", "Use MIN or MAX."),
    "SAMPLE": Meaning("TABLESAMPLE has no delta query.", _OVER_VIEW),
    "PIVOT": Meaning("PIVOT has no delta query.", "Write it as aggregates of CASE."),
    "MATCH_RECOGNIZE": Meaning("MATCH_RECOGNIZE has no delta query.", _OVER_VIEW),
    "RECURSIVE": Meaning(
        "A recursive query has no delta query.", "Build a table of it, and read that."
    ),
    "STAR": Meaning(
        "A star stands inside of an expression, for other columns in each query that is made of "
        "the view's.",
        "Name the columns.",
    ),
    "RELATION": Meaning(
        "FROM has something that is neither a table nor a subquery.", "Use a subquery."
    ),
    "NOT_A_SELECT": Meaning(
        "A part of the query is no SELECT.", "Write the part as a SELECT in parentheses."
    ),
    "NOT_COMPARED": Meaning(
        "A column has a type whose values cannot be compared, such as a map.",
        "Return the column as text, or as a sorted array.",
    ),
    "VOLATILE_FUNCTION": Meaning(
        "The query calls a function whose value changes without a write.",
        "Call the function in a query over the view.",
    ),
    "CLOCK": Meaning(
        "The query uses the clock in another way than in comparisons with columns of one table, so "
        "that it is not known which rows are others as time passes.",
        "Compare the clock with columns of one table; or compute with it in a query over the view.",
    ),
    "CLOCK_OVER_GROUPS": Meaning(
        "The query compares groups, or rows that were put together, with the clock.",
        "Compare the clock with the rows before they are grouped, or do so in a query over the "
        "view.",
    ),
    "STORAGE_COLUMN": Meaning(
        "The query asks in which file a row lies, which a compaction changes.",
        "Leave the metadata column out.",
    ),
    "USER_FUNCTION": Meaning(
        "The query calls a function that is not Spark's own, so that nothing says what its value "
        "depends on.",
        "Write it as an expression.",
    ),
    "COLLATION": Meaning(
        "The query compares texts by a collation (`COLLATE`), which stored texts lack.",
        "Compare what a function makes of them, such as `lower(name)`; or compare them in a query "
        "over the view.",
    ),
    "CASE_SENSITIVE": Meaning(
        "Names of columns are told apart by letter case.", "Unset `spark.sql.caseSensitive`."
    ),
    "SPARK_VIEW": Meaning(
        "The view reads a view of Spark's own catalog, which has settings that it was made with.",
        "Make that view in an Iceberg catalog, or read its tables.",
    ),
    "TOO_LARGE": Meaning(
        "The query that finds what changes has a part for each way in which a row may come and go; "
        "with many full joins there are too many.",
        "Put some of the joins into a materialized view of its own.",
    ),
    "NOT_PARSED": Meaning(
        "The query was not understood with certainty.",
        "Name the relation of each column, and write the part in plain SELECTs.",
    ),
    "COLUMN_GONE": Meaning(
        "The query names a column that none of its tables has now.",
        "Correct the query, or give the table a column of this name.",
    ),
    "NOT_UNDERSTOOD": Meaning(
        "Spark plans the query in another way than it was understood.",
        "Write the part in another way, and please report the query.",
    ),
}

METHODS: Mapping[str, Meaning] = {**_PLANNING, **_QUERY}
CODES: Mapping[str, Meaning] = {**FRESHNESS, **REFRESHES, **METHODS, **REWRITING}
