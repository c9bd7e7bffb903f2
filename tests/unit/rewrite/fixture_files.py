"""The cases of `fixtures/`: a view, a query, and the text that is run, or why there is none.

`python -m tests.unit.rewrite.fixture_files` writes the texts anew, after a rule was changed on
purpose; read the diff.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from tests.unit.rewrite.harness import Tables, answered, stored_view, text_of

FOLDER = Path(__file__).parent / "fixtures"


@dataclass(frozen=True)
class Case:
    """`types` are those of the columns that the view stores; `expected` is a text or `no: ..`."""

    name: str
    types: tuple[str, ...]
    view: str
    query: str
    expected: str

    @property
    def found(self) -> str:
        """What comes out."""
        tables = Tables()
        try:
            return text_of(
                answered(self.query, stored_view(self.view, [*self.types], tables), tables)
            )
        except Unmatched as error:
            reason = error.reason
            return f"no: {reason.code} {reason.text}{f': {reason.clause}' if reason.clause else ''}"


def cases(path: Path) -> list[Case]:
    """The cases of a file."""
    found = []
    for part in path.read_text().split("-- case: ")[1:]:
        name, rest = part.split("\n-- view: ")
        types, rest = rest.split("\n", 1)
        view, rest = rest.split("\n-- query\n")
        query, expected = rest.split("\n-- ", 1)
        text = expected.removeprefix("text\n").strip()
        found.append(Case(name, tuple(types.split(", ")), view, query, text))
    return found


def every_case() -> list[Case]:
    """The cases of all files."""
    return [case for path in sorted(FOLDER.glob("*.sql")) for case in cases(path)]


def written(case: Case) -> str:
    """A case as it stands in its file."""
    mark = "-- " if case.expected.startswith("no: ") else "-- text\n"
    head = f"-- case: {case.name}\n-- view: {', '.join(case.types)}\n{case.view}\n"
    return f"{head}-- query\n{case.query}\n{mark}{case.expected}\n"


def main() -> None:
    """Write what comes out as what is expected."""
    for path in sorted(FOLDER.glob("*.sql")):
        changed = [replace(case, expected=case.found) for case in cases(path)]
        path.write_text("\n".join(map(written, changed)))


if __name__ == "__main__":
    main()
