"""Spark's own message out of what reaches Python: no stack, no wrapper, no query plan."""

from __future__ import annotations

import re

_PY4J = re.compile(r"^An error occurred while calling .*?\n: ", re.S)
_HIVE = re.compile(r"(?:org\.apache\.hive\.service\.cli\.HiveSQLException: )?Error running query: ")
_JAVA_PACKAGE = re.compile(r"^(?:[a-z_][\w$]*\.)+(?=[A-Z][\w$]*(?:Exception|Error)\b)")
_PLAIN_CLASS = re.compile(r"^(?:Extended)?(?:Analysis|Parse|Spark\w*)Exception: (?=\[)")
_PLAN = re.compile(r"(;?)(?: line \d+ pos \d+)?;\n(?=['+!:A-Z])")
_STACK = re.compile(
    r"\n\s*(?:\tat |\.\.\. \d+ more|Caused by: |JVM stacktrace:|Driver stacktrace:)"
)


def spark_message(error: BaseException | str) -> str:
    """The message a user can act on."""
    text = error if isinstance(error, str) else _raw_text(error)
    text = _PY4J.sub("", text.strip())
    text = _STACK.split(text, maxsplit=1)[0]
    text = _HIVE.sub("", text)
    text = _JAVA_PACKAGE.sub("", text.strip())
    text = _PLAIN_CLASS.sub("", text)
    # "[CODE] message; line 1 pos 7;" is followed by the whole logical plan.
    plan = _PLAN.search(text)
    return (text[: plan.start()] if plan and text.startswith("[") else text).strip()


def _raw_text(error: BaseException) -> str:
    first = error.args[0] if error.args else None
    status = getattr(first, "status", None)
    if status is not None and getattr(status, "errorMessage", None):
        return str(status.errorMessage)
    java = getattr(error, "java_exception", None)
    if java is not None:
        return str(java.toString())
    return str(error) or type(error).__name__
