"""Spark's own message out of what reaches Python: no stack, no wrapper, no query plan."""

from __future__ import annotations

import re
from typing import Any

MAX_LENGTH = 2000
_LONGEST_LINE = 120

_PY4J = re.compile(r"^An error occurred while calling .*?\n: ", re.S)
_HIVE = re.compile(r"(?:org\.apache\.hive\.service\.cli\.HiveSQLException: )?Error running query: ")
_JAVA_PACKAGE = re.compile(r"^(?:[a-z_][\w$]*\.)+(?=[A-Z][\w$]*(?:Exception|Error)\b)")
_PLAIN_CLASS = re.compile(
    r"^(?:(?:Extended)?(?:Analysis|Parse|Spark\w*)Exception: (?=\[)"
    r"|(?:Runtime|IO|RuntimeIO|UncheckedIO|NotFound|Validation|IllegalArgument|IllegalState"
    r"|UnsupportedOperation)Exception: |FSError: )"
)
_PLAN = re.compile(r"(;?)(?: line \d+ pos \d+)?;\n(?=['+!:A-Z])")
_STACK = re.compile(
    r"\n\s*(?:\tat |\.\.\. \d+ more|Caused by: |JVM stacktrace:|Driver stacktrace:)"
)
# What Spark was given, often with our own clauses around the user's query, and a place in it.
_QUOTED_SQL = re.compile(r"\s*(?:\(line \d+, pos \d+\))?\s*\n== SQL\b.*", re.S)
_MARKED_LINE = re.compile(r"\n== SQL ==\n(?:.*\n)*?(.*)\n-*\^\^\^")
_OUR_VERBS = re.compile(r"^\s*(?:EXPLAIN EXTENDED|DESCRIBE QUERY) ")
_TASK = re.compile(
    r"^(?:SparkException: )?Job aborted due to stage failure: .*? executor \w+\): ", re.S
)
_AWAITED = "Exception thrown in awaitResult"
# These say what was tried, and their causes what happened: which server refused, and why.
_OF_CATALOGS = re.compile(r"^(?:REST|UncheckedSQL|RuntimeMeta|UncheckedIO)Exception: ")
_CAUSES = re.compile(r"^Caused by: (.*)$", re.M)
# What a statement of ours raises itself is a text for people already.
_OWN = re.compile(r"^\[USER_RAISED_EXCEPTION\] mv: (.*?)(?: SQLSTATE: \w+)?$", re.S)
_OVERFLOW = re.compile(r"^StackOverflowError\b.*", re.S)
_LOST = re.compile(
    r"^(TSocket read 0 bytes|\[Errno (?:32|104)\] [\w ]+)$"
    # Spark Connect: nobody listens, or somebody who does not know this session.
    r"|^<_\w+ of RPC that terminated with:.*?StatusCode\.UNAVAILABLE\s+details = \"([^\"]*)\".*"
    r"|^(\[(?:NO_ACTIVE_SESSION|INVALID_HANDLE\.SESSION_\w+)\]).*",
    re.S,
)
_SECRETS = (
    # password=.., "api_key": "..", fs.s3a.secret.key = '..'
    re.compile(
        r"((?:password|passwd|pwd|secret|token|api_?key|access_?key|credential)[\w.-]*"
        r"(?:[\"'`]?\s*=|[\"']\s*:)\s*[\"']?)[^\s\"'&;,)}\]]+",
        re.IGNORECASE,
    ),
    re.compile(r"(\b(?:Bearer|Basic)\s+)[\w.~+/=-]{8,}"),
    re.compile(r"(\w://[^\s/:@]*:)[^\s/@]+(?=@)"),
)


def spark_message(error: BaseException | str) -> str:
    """The message a user can act on."""
    text = error if isinstance(error, str) else _raw_text(error)
    text = _PY4J.sub("", text.strip())
    causes = [_JAVA_PACKAGE.sub("", str(cause)) for cause in _CAUSES.findall(text)]
    if causes and _AWAITED in text.split("\n", 1)[0]:
        text = causes[-1]
    text = _STACK.split(text, maxsplit=1)[0]
    text = _HIVE.sub("", text)
    text = _TASK.sub("", _JAVA_PACKAGE.sub("", text.strip()))
    if causes and _OF_CATALOGS.match(text):
        text = f"{text.strip()}: {causes[-1]}"
    # One exception may be the message of another.
    for _ in range(3):
        text = _PLAIN_CLASS.sub("", _JAVA_PACKAGE.sub("", text))
    text = _OWN.sub(r"\1", text)
    text = _LOST.sub(r"The connection to the Spark server was lost (\1\2\3).", text)
    text = _OVERFLOW.sub("The statement is nested too deeply for Spark.", text)
    # "[CODE] message; line 1 pos 7;" is followed by the whole logical plan.
    plan = _PLAN.search(text)
    return without_secrets(
        (text[: plan.start()] if plan and text.startswith("[") else text).strip()
    )


def short_message(error: BaseException | str) -> str:
    """The message as part of a line: without the statement, which is not the user's own, but for
    the line of it that Spark has marked."""
    whole = spark_message(error)
    text = re.sub(r"\s*\n\s*", " ", _QUOTED_SQL.sub("", whole))
    marked = _MARKED_LINE.search(whole)
    if marked:
        line = _OUR_VERBS.sub("", marked.group(1)).strip()
        text += f", in: {line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + ' ..'}"
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 2] + ".."


def without_secrets(text: str) -> str:
    """A text with the values of passwords, tokens and the like left out."""
    for secret in _SECRETS:
        text = secret.sub(r"\1*****", text)
    return text


def _raw_text(error: BaseException) -> str:
    first = error.args[0] if error.args else None
    status = getattr(first, "status", None)
    if status is not None and getattr(status, "errorMessage", None):
        return str(status.errorMessage)
    java = getattr(error, "java_exception", None)
    if java is not None:
        return _text_of_java(java)
    return str(error) or type(error).__name__


def _text_of_java(java: Any) -> str:
    """What an exception of Java's says, with its causes if those say more."""
    while _AWAITED in (text := str(java.toString())) and java.getCause() is not None:
        java = java.getCause()
    if not _OF_CATALOGS.match(_JAVA_PACKAGE.sub("", text)):
        return text
    while (cause := java.getCause()) is not None:
        java = cause
        text += f"\nCaused by: {java.toString()}"
    return text


_ENDED = re.compile(r"cancel|interrupt|abort|kill", re.IGNORECASE)
_BEFORE_IT_RAN = "Cannot find snapshot with ID"


def may_run_again(message: str, writes_rows: bool) -> bool:
    """Whether another text for a statement may run after this error: nobody has ended it, and
    nothing can have been written."""
    if writes_rows:
        return _BEFORE_IT_RAN in message
    return _ENDED.search(message) is None
