"""What each code of a reason means that says whether a view answers a statement."""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.spark_mv.core.meanings import Meaning

REWRITING: Mapping[str, Meaning] = {
    "USED": Meaning("The statement reads the view in place of base tables."),
    "COST": Meaning(
        "Base tables, or another view, have to be read less, or the statement reads so little that "
        "another text would not be noticed.",
    ),
    "VIEW_NOT_FRESH": Meaning(
        "The rows of the view are not known to be those of its query now.", "Refresh the view."
    ),
    "SETTINGS_DIFFER": Meaning(
        "The session has settings under which the query of the view, or the statement, might mean "
        "something else.",
        "Build and read the view with the same profile, and leave the setting that is named as "
        "Spark has it.",
    ),
    "REWRITE_DISABLED": Meaning(
        "An option of the view, the profile or the session switches rewriting off."
    ),
    "QUERY_NOT_SUPPORTED": Meaning(
        "A part of the statement has a form that no view is held against.",
        "Write the part that is to be answered as a SELECT of tables, joined, filtered, grouped.",
    ),
    "VIEW_NOT_SUPPORTED": Meaning(
        "The query of the view has a form that nothing is held against.",
        "Put the joins, filters and groups in one view, the rest in another over it.",
    ),
    "NOT_A_FUNCTION_OF_ROWS": Meaning(
        "The statement calls a function of which it is not known that it depends on its arguments "
        "alone.",
    ),
    "DIFFERENT_TABLES": Meaning(
        "The view reads tables that the statement does not read.",
        "Give the keys by which it joins them the tests unique, relationships and not_null.",
    ),
    "ROWS_NOT_COVERED": Meaning(
        "The view leaves out rows that the statement wants, or may leave them out.",
        "Drop the condition from the view; run the tests of its keys again.",
    ),
    "COLUMN_NOT_COVERED": Meaning(
        "The statement needs a column that the view does not store.",
        "Return the column in the view; of a grouped view, group by it.",
    ),
    "AGGREGATE_NOT_DERIVABLE": Meaning(
        "The view stores nothing from which an aggregate of the statement can be computed exactly.",
        "Return the aggregate, or SUM and COUNT of the same argument, in the view.",
    ),
    "TYPES_DIFFER": Meaning("Spark gives the two texts columns of different names or types."),
    "NOT_PINNABLE": Meaning(
        "A table is read beside the view that cannot be read at the version of the view's rows."
    ),
    "WRITES_BASE_TABLE": Meaning("The statement writes to a table that the view reads."),
    "NAMED_IN_STATEMENT": Meaning(
        "The statement reads the view by its name, too, and may compare it with its query."
    ),
    "NOT_TRIED": Meaning("More views read these tables than are held against one statement."),
    "FAILED": Meaning(
        "Looking for views failed, and the statement runs as it was written.",
        "Please report the statement.",
    ),
}
