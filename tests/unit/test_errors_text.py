import pytest

from dbt.adapters.spark_mv.errors_text import spark_message


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (
            "An error occurred while calling o58.sql.\n: org.apache.iceberg.exceptions."
            "AlreadyExistsException: View with same name already exists: a.v\n\tat x.Y(Z.java:1)",
            "AlreadyExistsException: View with same name already exists: a.v",
        ),
        (
            "org.apache.hive.service.cli.HiveSQLException: Error running query: "
            "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n\tat a.B\nCaused by: c.D",
            "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012",
        ),
        (
            "[UNRESOLVED_COLUMN] No `x`. SQLSTATE: 42703; line 1 pos 7;\n'Project ['x]\n+- Range",
            "[UNRESOLVED_COLUMN] No `x`. SQLSTATE: 42703;",
        ),
        ("[USER_RAISED_EXCEPTION] boom\nsecond line", "[USER_RAISED_EXCEPTION] boom\nsecond line"),
    ],
)
def test_spark_message(raw: str, shown: str) -> None:
    assert spark_message(raw).rstrip(";") == shown.rstrip(";")


def test_an_exception_without_text_has_its_name() -> None:
    assert spark_message(TimeoutError()) == "TimeoutError"
