"""The lowest versions that pyproject.toml allows, as pip's constraints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from packaging.requirements import Requirement

EXTRA = "embedded"


def requirements(project: dict[str, Any]) -> list[Requirement]:
    """What the package needs at run time, with Spark in the process."""
    found = project["project"]
    texts = [*found["dependencies"], *found["optional-dependencies"][EXTRA]]
    return [Requirement(text) for text in texts]


def lowest(wanted: Iterable[Requirement]) -> list[str]:
    """Each at the version that its range begins with; raises `ValueError` for one without."""
    return [f"{one.name}=={_begin(one)}" for one in wanted]


def _begin(wanted: Requirement) -> str:
    begins = [part.version for part in wanted.specifier if part.operator in (">=", "==", "~=")]
    if len(begins) != 1:
        raise ValueError(f"pyproject.toml: {wanted} does not say where its range begins.")
    return begins[0]
