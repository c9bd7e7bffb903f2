"""Which statements sqlglot understood for certain, as far as their relations go.

A tree that was parsed may still name less than Spark reads: names made at run time, functions that
read tables, words that sqlglot takes for something else. Whoever needs all relations asks Spark
about every statement that is not understood here.
"""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp

from dbt.adapters.spark_mv.sql.reads import Reads, parse, reads_of
from dbt.adapters.spark_mv.sql.spark_functions import SPARK_FUNCTIONS
from dbt.adapters.spark_mv.sql.words import Word, words_of

_KNOWN_STATEMENTS = 2048
_BEFORE_TABLE = frozenset({"INTO", "OVERWRITE", "CREATE", "REPLACE", "EXTERNAL"})
# What else stands before a parenthesis under a name of its own.
_CLAUSES = frozenset(
    "years months days hours bucket truncate options tblproperties properties dbproperties "
    "partitioned clustered columns rows tablesample repeatable pivot unpivot varchar char "
    "decimal dec numeric string binary interval struct array map group try_cast".split()
)


@lru_cache(_KNOWN_STATEMENTS)
def understood(sql: str) -> Reads | None:
    """The references of one statement, if they are all that it reads; None if only Spark knows.

    >>> understood("select * from identifier('t')") is None
    True
    """
    tree = None if _SUBSTITUTED in sql else parse(sql)
    if tree is None:
        return None
    reads = reads_of(tree)
    words = words_of(sql)
    if reads.unresolved or _says_more(words) or foreign_functions(tree, words):
        return None
    return reads


# Spark puts variables of its configuration into a text before it reads that.
_SUBSTITUTED = "${"


def _says_more(words: tuple[Word, ...]) -> bool:
    """Whether a word may name a relation in a way that sqlglot does not know."""
    for index, word in enumerate(words):
        before = words[index - 1].upper if index else ""
        if word.upper == "STREAM":
            return True
        if word.upper == "TABLE" and before not in _BEFORE_TABLE:
            return True
    return False


def foreign_functions(tree: exp.Expression, words: tuple[Word, ...]) -> set[str]:
    """Names of called functions, in lower case, that are not Spark's own: SQL functions of a user
    may read tables, and so may table functions."""
    named = {found.alias.lower() for found in tree.find_all(exp.CTE, exp.TableAlias) if found.alias}
    named |= {
        found.name.lower() for found in tree.find_all(exp.TableAlias) if found.args.get("columns")
    }
    named |= {
        found.this.name.lower() for found in tree.find_all(exp.Schema) if found.this is not None
    }
    called = {
        word.text.lower()
        for word, following in zip(words, words[1:], strict=False)
        if (word.variable or word.quoted) and following.text == "(" and not following.string
    }
    return called - SPARK_FUNCTIONS - _CLAUSES - named
