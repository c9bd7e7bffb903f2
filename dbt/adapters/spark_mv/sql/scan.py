"""Names that a text may stand for, where nobody can say what it reads: every one in it."""

from __future__ import annotations

from dbt.adapters.spark_mv.sql.spark_functions import RUN_CODE, SPARK_FUNCTIONS
from dbt.adapters.spark_mv.sql.words import Word, depths, name_at, words_between_ends, words_of

Parts = tuple[str, ...]
_DYNAMIC = ("IDENTIFIER", "IMMEDIATE")
_BEFORE_RELATION = ("FROM", "JOIN", "USING", "TABLE")
# Procedures of Iceberg that give a table other rows; others are maintenance.
_OF_ROWS = (
    "add_files cherrypick_snapshot fast_forward migrate publish_changes register_table "
    "rollback_to_snapshot rollback_to_timestamp set_current_snapshot snapshot"
).split()
_LOOPS = ("FOR", "LOOP", "REPEAT", "WHILE")


def names_in(words: tuple[Word, ...]) -> list[Parts]:
    """Every dotted name among the words, those in string literals too, each once."""
    found: dict[Parts, None] = {}
    for index, word in enumerate(words):
        if word.string:
            found.update(dict.fromkeys(_names_of_text(word.text)))
        elif not (index and words[index - 1].text == "." and not words[index - 1].quoted):
            parts, _ = name_at(words, index)
            if parts and (word.quoted or all(_is_name(part) for part in parts)):
                found[parts] = None
    return list(found)


def relations_in(words: tuple[Word, ...]) -> list[Parts]:
    """Those of the names that may be of relations: dotted ones, and others behind FROM and the
    like."""
    texts = [words, *(words_of(word.text) for word in words if word.string)]
    bare = {
        following.text
        for text in texts
        for word, following in zip(text, text[1:], strict=False)
        if word.upper in _BEFORE_RELATION
    }
    return [parts for parts in names_in(words) if len(parts) > 1 or parts[0] in bare]


def steps_of(script: str) -> list[tuple[Word, ...]]:
    """The statements of a script as they may run, those from its first loop to the end of the last
    one twice.

    >>> [" ".join(word.text for word in step) for step in steps_of("a; loop b; end loop; c")]
    ['a', 'loop b', 'end loop', 'loop b', 'end loop', 'c']
    """
    steps = words_between_ends(script)
    ends = [n for n, step in enumerate(steps, 1) if _ends_loop(step)]
    if not ends:  # other words of loops are those of functions, or of columns
        return steps
    begins = (n for n, step in enumerate(steps) if any(word.upper in _LOOPS for word in step))
    return [*steps[: ends[-1]], *steps[next(begins) :]]


def _ends_loop(step: tuple[Word, ...]) -> bool:
    return len(step) > 1 and step[0].upper == "END" and step[1].upper in _LOOPS


def calls_for_rows(words: tuple[Word, ...]) -> bool:
    """Whether a CALL is of a procedure of Iceberg's that gives a table other rows.

    >>> calls_for_rows(words_of("call local.system.fast_forward('d.t', 'main', 'other')"))
    True
    """
    parts, _ = name_at(words, 1)
    return bool(parts) and parts[-1].lower() in _OF_ROWS


def _names_of_text(text: str) -> list[Parts]:
    return [name for name in names_in(words_of(text)) if name != (text,) or _is_name(text)]


def _is_name(part: str) -> bool:
    return part[:1].isalpha() or part[:1] == "_"


def is_dynamic(words: tuple[Word, ...]) -> bool:
    """Whether a script makes names, or statements, that its text does not have."""
    for index, word in enumerate(words):
        if word.upper not in _DYNAMIC:
            continue
        after = words[index + 1 : index + 4]
        literal = [one for one in after if one.text != "("][:2]
        is_plain = bool(literal) and literal[0].string
        # Behind a lone literal the name, or the statement, ends.
        ends = len(literal) < 2 or literal[1].text in (")", ";") or literal[1].variable is False
        if not (is_plain and ends and (len(literal) < 2 or literal[1].text not in ("|", "||"))):
            return True
    return False


def executed(words: tuple[Word, ...], sql: str) -> str:
    """Of EXECUTE IMMEDIATE the expression whose value is the statement, as text; empty if there is
    none."""
    start = next((n for n, word in enumerate(words) if word.upper == "IMMEDIATE"), len(words)) + 1
    pairs = zip(words[start:], depths(words[start:]), strict=True)
    ends = (word.upper in ("INTO", "USING") and depth == 0 for word, depth in pairs)
    expression = words[start : next((n for n, end in enumerate(ends, start) if end), len(words))]
    return sql[expression[0].start : expression[-1].end] if expression else ""


def computed_names(
    words: tuple[Word, ...], sql: str, with_variables: bool
) -> list[tuple[int, int, str]]:
    """Where IDENTIFIER(..) stands, from start to end, and the text of its expression; only where
    texts, functions of Spark's own and, if they are those of the session, variables make the name.

    >>> sql = "select * from identifier('a.' || b)"
    >>> computed_names(words_of(sql), sql, with_variables=True)
    [(14, 35, "'a.' || b")]
    """
    found = []
    for index, word in enumerate(words[:-2]):
        if word.upper != "IDENTIFIER" or words[index + 1].text != "(":
            continue
        opened = depths(words[index + 1 :])
        end = next((n for n, depth in enumerate(opened, index + 1) if not depth), len(words))
        inside = words[index + 2 : end]
        if end < len(words) and inside and _is_constant(inside, with_variables):
            expression = sql[inside[0].start : inside[-1].end]
            found.append((word.start, words[end].end, expression))
    return found


def _is_constant(words: tuple[Word, ...], with_variables: bool) -> bool:
    """Whether an expression calls nothing but functions of Spark's own that run no code, and has
    no query; and no variable, if those are not to be there."""
    names = [index for index, word in enumerate(words) if word.quoted or word.upper.isidentifier()]
    calls = [
        index for index in names if [word.text for word in words[index + 1 : index + 2]] == ["("]
    ]
    known = all(words[index].text.lower() in SPARK_FUNCTIONS - RUN_CODE for index in calls)
    reads = any(word.upper in ("SELECT", "FROM", "TABLE", "VALUES", "MAP") for word in words)
    return known and not reads and (with_variables or len(names) == len(calls))


def reads_fixed_version(words: tuple[Word, ...]) -> bool:
    """Whether a query may read a table at a version or by options, which may name a branch."""
    texts = ["" if word.string else word.upper for word in words]
    for index, text in enumerate(texts):
        if text in ("SYSTEM_VERSION", "SYSTEM_TIME"):
            return True
        if text in ("VERSION", "TIMESTAMP") and texts[index + 1 : index + 3] == ["AS", "OF"]:
            return True
        ahead = words[index + 1 : index + 4]
        if text == "WITH" and len(ahead) == 3 and (ahead[0].text, ahead[2].text) == ("(", "="):
            return True
    return False
