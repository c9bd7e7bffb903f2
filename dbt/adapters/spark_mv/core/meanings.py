"""What a code means in general, and the way out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Meaning:
    """What a code says in general; the text of a reason says what it is about in the case at hand.

    `way_out` is a sentence, empty where nothing has to be done.
    """

    meaning: str
    way_out: str = ""
