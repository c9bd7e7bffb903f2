from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.spark.error_messages import MAX_LENGTH, short_message, spark_message


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (
            "An error occurred while calling o58.sql.\n: org.apache.iceberg.exceptions."
            "AlreadyExistsException: View with same name already exists: a.v\n\tat x.Y(Z.java:1)",
            "AlreadyExistsException: View with same name already exists: a.v",
        ),
        (
            "TSocket read 0 bytes",
            "The connection to the Spark server was lost (TSocket read 0 bytes).",
        ),
        (
            "<_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.UNAVAILABLE\n"
            '\tdetails = "failed to connect to all addresses"\n'
            '\tdebug_error_string = "UNKNOWN:.. {grpc_status:14}"\n>',
            "The connection to the Spark server was lost (failed to connect to all addresses).",
        ),
        (
            "[NO_ACTIVE_SESSION] No active Spark session found. Please create a new Spark session "
            "before running the code.",
            "The connection to the Spark server was lost ([NO_ACTIVE_SESSION]).",
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
        (
            "An error occurred while calling o1.sql.\n: java.lang.RuntimeException: Max iterations",
            "Max iterations",
        ),
        (
            "An error occurred while calling o1.sql.\n: java.lang.StackOverflowError\n\tat a.B",
            "The statement is nested too deeply for Spark.",
        ),
        (
            "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0"
            " failed 1 times, most recent failure: Lost task 0.0 in stage 1.0 (TID 3) (10.0.0.1 "
            "executor driver): java.lang.IllegalArgumentException: Empty name\n\tat a.B",
            "Empty name",
        ),
        (
            "An error occurred while calling o2.sql.\n: org.apache.spark.SparkException: Exception "
            "thrown in awaitResult: \n\tat a.B\nCaused by: c.D: outer\n\tat e.F\n"
            "Caused by: java.lang.IllegalStateException: inner\n\tat g.H\n\t... 9 more",
            "inner",
        ),
        (
            "org.apache.iceberg.exceptions.RESTException: Error occurred while processing GET "
            "request\n\nJVM stacktrace:\norg.apache.iceberg.exceptions.RESTException: Error\n"
            "\tat a.B\nCaused by: org.apache.hc.HttpHostConnectException: Connect to "
            "http://c.example.com:8181 failed: Connection refused\n\tat c.D\n\t... 9 more",
            "RESTException: Error occurred while processing GET request: HttpHostConnectException: "
            "Connect to http://c.example.com:8181 failed: Connection refused",
        ),
        ("[USER_RAISED_EXCEPTION] mv: rows went SQLSTATE: P0001", "rows went"),
        ("[USER_RAISED_EXCEPTION] boom\nsecond line", "[USER_RAISED_EXCEPTION] boom\nsecond line"),
    ],
)
def test_spark_message(raw: str, shown: str) -> None:
    assert spark_message(raw).rstrip(";") == shown.rstrip(";")


class Thrown(Exception):
    """As py4j has exceptions of Java's."""

    def __init__(self, text: str, cause: Thrown | None = None) -> None:
        self.java_exception, self._text, self._cause = self, text, cause

    def toString(self) -> str:  # noqa: N802 - it is Java's
        return self._text

    def getCause(self) -> Thrown | None:  # noqa: N802
        return self._cause


def test_what_a_catalog_says_has_its_cause() -> None:
    root = Thrown("org.postgresql.util.PSQLException: FATAL: sorry, too many clients already")
    failed = "org.apache.iceberg.jdbc.UncheckedSQLException: Failed to connect: jdbc:postgresql:"
    said = "UncheckedSQLException: Failed to connect: jdbc:postgresql:: PSQLException: FATAL: sorry"
    assert spark_message(Thrown(failed, Thrown("a.B: less", root))).startswith(said)
    assert spark_message(Thrown("[CODE] it failed", root)) == "[CODE] it failed"


def test_an_exception_without_text_has_its_name() -> None:
    assert spark_message(TimeoutError()) == "TimeoutError"


def test_a_short_message_is_one_line_with_the_marked_one() -> None:
    raw = "[PARSE] Error at 'x': y. (line 2, pos 3)\n\n== SQL ==\n{}\n---^^^\nfrom t"
    for statement, line in {
        "EXPLAIN EXTENDED select x": "select x",
        "DESCRIBE QUERY select 1,\n  x,,": "x,,",
        "select '" + "x" * 200: "select '" + "x" * 112 + " ..",
    }.items():
        found = short_message(raw.format(statement))
        assert found == f"[PARSE] Error at 'x': y., in: {line}"
    assert short_message("[PARSE] Error.\n\n== SQL ==\nselect 1") == "[PARSE] Error."
    assert short_message("[NOT_FOUND] t is not there.\nSay otherwise.") == (
        "[NOT_FOUND] t is not there. Say otherwise."
    )
    assert len(short_message("x" * 5000)) == MAX_LENGTH


@pytest.mark.parametrize(
    "text",
    [
        "password=hunter2",
        "jdbc:x://h/d?user=u&password=hunter2&ssl=true",
        "jdbc:x://user:hunter2@host/d",
        "PASSWORD = 'hunter2', x",
        '{"api_key": "hunter2"}',
        "fs.s3a.secret.key=hunter2",
        "fs.azure.sas-token=hunter2",
        "aws_secret_access_key=hunter2",
        "Authorization: Bearer hunter2hunter2",
    ],
)
def test_secrets_are_left_out(text: str) -> None:
    assert "hunter2" not in spark_message(f"[FAILED] {text}")
    assert "*****" in spark_message(f"[FAILED] {text}")


@pytest.mark.parametrize(
    "text", ["Syntax error at token: 'x'", "column `password` not found", "the token 'a' is bad"]
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert spark_message(text) == text
