"""Terms: expressions of a query over columns of base tables, equal if they are known to mean the
same.

Two terms are equal if their keys are. A key has the operands of `=`, `<>`, `<=>`, `+`, `*`, AND and
OR in one order, and knows no `>`; it never regroups sums, whose rounding depends on it. What is
printed is made of the trees that were read, with parentheses around every operator: sqlglot leaves
out some that are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched

_Slot = tuple[str, bool]
_COMMUTATIVE = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Add, exp.Mul, exp.And, exp.Or)
# They say how sqlglot read a text, and nothing of its meaning.
_OF_SQLGLOT = frozenset({"big_int", "safe", "typed", "coalesce", "ignore_nulls", "zone"})
_OPPOSITE: dict[type[exp.Expr], type[exp.Expr]] = {exp.EQ: exp.NEQ, exp.NEQ: exp.EQ}
_OPPOSITE |= {exp.NullSafeEQ: exp.NullSafeNEQ, exp.NullSafeNEQ: exp.NullSafeEQ}
_OPERATORS = (exp.Binary, exp.Unary, exp.Predicate, exp.Connector)
# Whose operands may be values of floating point that are equal and not the same.
COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is)
_PADDED = ("char", "varchar")
# Of a subquery: the argument of its node that holds the columns of the query around it, and in the
# meta of its trees a digest of its rows and the table that a relation is.
OUTER, DIGEST, TABLE = "mv_outer", "mv_digest", "mv_table"
# In the meta of IN with a subquery: EXISTS with the same meaning in a conjunct. In that of a column
# of a query around: the name of its relation, in lower case.
AS_TEST, AROUND = "mv_as_test", "mv_around"
# How the tables of subqueries are called begins with it.
INNER = "mv_inner_"
# The call that a term has of which nothing is known but that it is one value of a group.
UNKNOWN = "UNKNOWN"
_MOST_USES = 10_000


@dataclass(frozen=True, order=True)
class ColumnOf:
    """A column of one occurrence in FROM; `name` in the letter case of the table. A column of a
    query that stands there has a digest of its term as its name, and goes by `text`."""

    occurrence: int
    name: str
    type: str = field(compare=False)
    text: str = field(default="", compare=False)

    @property
    def is_padded(self) -> bool:
        """Whether Spark compares its values by their length, too."""
        return self.type.startswith(_PADDED)

    @property
    def shown(self) -> str:
        """What users call it."""
        return self.text or self.name


@dataclass(frozen=True)
class Term:
    """An expression. `node` is a tree of its kind, whose children `slots` are the terms `args`;
    of a column nothing but `column` counts. `call` names an aggregate function, in upper case.
    `uses` is how often it names columns."""

    key: str
    node: exp.Expr = field(compare=False, repr=False)
    args: tuple[Term, ...] = field(default=(), compare=False, repr=False)
    slots: tuple[_Slot, ...] = field(default=(), compare=False, repr=False)
    column: ColumnOf | None = field(default=None, compare=False, repr=False)
    call: str = field(default="", compare=False, repr=False)
    distinct: bool = field(default=False, compare=False, repr=False)
    uses: int = field(default=0, compare=False, repr=False)

    def walk(self) -> Iterator[Term]:
        """The term and everything in it."""
        yield self
        for arg in self.args:
            yield from arg.walk()

    @property
    def columns(self) -> set[ColumnOf]:
        """The columns in it."""
        return {found.column for found in self.walk() if found.column is not None}

    @property
    def has_calls(self) -> bool:
        """Whether an aggregate function is in it."""
        return any(found.call for found in self.walk())

    @property
    def has_windows(self) -> bool:
        """Whether a window function is in it."""
        return any(isinstance(found.node, exp.Window) for found in self.walk())

    @property
    def is_constant(self) -> bool:
        """Whether no column and no call is in it."""
        return not any(found.column or found.call for found in self.walk())

    def __str__(self) -> str:
        tree = tree_of(self, lambda term: None)
        for query in list(tree.find_all(exp.Select)):
            tables = ", ".join(table.name for table in query.find_all(exp.Table))
            query.replace(exp.Var(this=f"SELECT .. FROM {tables}"))
        return tree.sql("spark")


def digest(of: object) -> str:
    """What stands for a key, or several, in the name of a column or table."""
    return sha256(repr(of).encode()).hexdigest()


def column_term(column: ColumnOf) -> Term:
    """The term that is a column."""
    key = f"{column.occurrence}.{column.name.lower()}"
    return Term(f"`{key}`", exp.column(column.shown, quoted=True), column=column, uses=1)


def made(
    node: exp.Expr,
    args: Sequence[Term] = (),
    slots: Sequence[_Slot] = (),
    call: str = "",
    distinct: bool = False,
) -> Term:
    """The term of a node with these children; a slot names the argument of the node, and says
    whether that is a list. Raises `Unmatched` if written out it would be too large."""
    uses = sum(arg.uses for arg in args)
    if uses > _MOST_USES:
        raise Unmatched(QUERY, "its expressions are too large")
    key = _key(node, args, slots, call, distinct)
    return Term(key, node, tuple(args), tuple(slots), None, call, distinct, uses)


def binary(kind: type[exp.Expr], left: Term, right: Term) -> Term:
    """An operator with two operands."""
    return made(kind(), (left, right), (("this", False), ("expression", False)))


def connected(kind: type[exp.Expr], operands: Sequence[Term]) -> Term:
    """AND or OR of operands, each once; those of its own kind are taken apart."""
    flat: dict[str, Term] = {}
    for operand in operands:
        parts = operand.args if type(operand.node) is kind else (operand,)
        flat.update({part.key: part for part in parts})
    if len(flat) == 1:
        return next(iter(flat.values()))
    return made(kind(), tuple(flat.values()), (("expressions", True),) * len(flat))


def is_list(node: exp.Expr) -> bool:
    """Whether it is IN with a list."""
    return type(node) is exp.In and not node.args.get("query")


def counted_rows() -> Term:
    """COUNT(*)."""
    return made(exp.Count(this=exp.Star(), big_int=True), call="COUNT")


def is_null(term: Term) -> Term:
    """That a term is NULL."""
    return binary(exp.Is, term, made(exp.Null()))


def is_not_null(term: Term) -> Term:
    """That a term is not NULL."""
    return made(exp.Not(), (is_null(term),), (("this", False),))


def as_test(term: Term) -> Term:
    """A conjunct as one with EXISTS, if it is IN with a subquery and one is known that is true in
    the same rows; to be compared with others, and not to be printed."""
    known = term.node.meta.get(AS_TEST) if isinstance(term.node, exp.In) else None
    if known is None:
        return term
    digest, order = known
    query = exp.Select()
    query.meta[DIGEST] = digest
    test = exp.Exists(this=query)
    return made(test, [term.args[number] for number in order], ((OUTER, True),) * len(order))


def negated(term: Term) -> Term:
    """NOT of a term, pushed inward where that is the same for NULL and NaN, too."""
    kind = type(term.node)
    if kind is exp.Not:
        return term.args[0]
    if kind in (exp.And, exp.Or):
        other = exp.Or if kind is exp.And else exp.And
        return connected(other, [negated(arg) for arg in term.args])
    if kind in _OPPOSITE:
        return binary(_OPPOSITE[kind], *term.args)
    if kind in (exp.LT, exp.LTE):
        return binary(exp.LTE if kind is exp.LT else exp.LT, term.args[1], term.args[0])
    return made(exp.Not(), (term,), (("this", False),))


def mapped(term: Term, change: Callable[[ColumnOf], Term]) -> Term:
    """The term with other terms in place of its columns."""
    return replaced(term, lambda found: change(found.column) if found.column is not None else None)


def replaced(term: Term, change: Callable[[Term], Term | None]) -> Term:
    """The term with others in place of those parts, the largest first, that `change` knows."""
    known = change(term)
    if known is not None:
        return known
    args = tuple(replaced(arg, change) for arg in term.args)
    if args == term.args and all(a is b for a, b in zip(args, term.args, strict=True)):
        return term
    if type(term.node) in (exp.And, exp.Or):
        return connected(type(term.node), args)
    return made(term.node, args, term.slots, term.call, term.distinct)


def tree_of(term: Term, show: Callable[[Term], exp.Expr | None]) -> exp.Expr:
    """A tree to print; `show` gives that of terms which are printed in another way."""
    shown = show(term)
    if shown is not None:
        return shown
    if not term.args:
        return term.node.copy()
    children = [bracketed(tree_of(arg, show)) for arg in term.args]
    if type(term.node) in (exp.And, exp.Or):
        made_of = exp.and_ if type(term.node) is exp.And else exp.or_
        return made_of(*children, copy=False)
    if type(term.node) is exp.Case:
        return _case_of(children)
    node = term.node.copy()
    for name, is_list in term.slots:
        node.set(name, [] if is_list else None)
    if term.distinct:
        node.set("this", exp.Distinct(expressions=children))
        return _bound(node)
    for (name, is_list), child in zip(term.slots, children, strict=True):
        (node.append if is_list else node.set)(name, child)
    return _bound(node)


def _bound(node: exp.Expr) -> exp.Expr:
    """A subquery with the columns of the query around it in their places."""
    outer = node.args.pop(OUTER, None)
    # What IN asks about may stand for a column of a query further out.
    query = node.args.get("query") or node
    for place in list(query.find_all(exp.Parameter)) if outer else ():
        place.replace(outer[int(place.this.name)].copy())
    return node


def _case_of(children: list[exp.Expr]) -> exp.Expr:
    branches = zip(children[:-1:2], children[1:-1:2], strict=True)
    ifs = [exp.If(this=condition, true=value) for condition, value in branches]
    return exp.Case(ifs=ifs, default=children[-1])


def bracketed(node: exp.Expr) -> exp.Expr:
    """A tree as an operand: an operator in parentheses."""
    is_operator = isinstance(node, _OPERATORS) and not isinstance(node, (exp.Paren, exp.Dot))
    return exp.Paren(this=node) if is_operator else node


def _key(
    node: exp.Expr, args: Sequence[Term], slots: Sequence[_Slot], call: str, distinct: bool
) -> str:
    keys = [arg.key for arg in args]
    if isinstance(node, _COMMUTATIVE):
        keys.sort()
    elif is_list(node):
        values = sorted(set(keys[1:]))
        keys = [keys[0], *values, *values[-1:] * (len(keys) - 1 - len(values))]
    said = {name for name, _ in slots}
    others = [
        f"{name}={_said(value)}"
        for name, value in sorted(node.args.items())
        if name not in said and name not in _OF_SQLGLOT and value not in (None, False, [])
    ]
    places = ",".join(f"{name}:{key}" for (name, _), key in zip(slots, keys, strict=True))
    return f"{_kind(node)}{'!' if distinct else ''}{call}[{';'.join(others)}]({places})"


def _kind(node: exp.Expr) -> str:
    if isinstance(node, exp.Cast):
        # CAST is read as either; only TRY_CAST is another function.
        return "TRY_CAST" if node.args.get("safe") else "CAST"
    return type(node).__name__


def _said(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(_said, value))
    if not isinstance(value, exp.Expr):
        return repr(value)
    query = value.this if isinstance(value, exp.Subquery) else value
    return str(query.meta.get(DIGEST)) if DIGEST in query.meta else value.sql("spark")
