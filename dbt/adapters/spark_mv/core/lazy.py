"""Values that an object computes when they are first asked for, while other threads go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801  as `property` is
    """As `functools.cached_property`, which up to Python 3.11 has one lock for all objects: who
    asks Spark in it would keep every other thread waiting. Two threads that ask one object at the
    same time may both compute its value."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, one: None, owner: type) -> lazy[T]: ...

    @overload
    def __get__(self, one: object, owner: type) -> T: ...

    def __get__(self, one: object | None, owner: type) -> lazy[T] | T:
        if one is None:
            return self
        # An attribute of its own goes before this, which has no __set__.
        found = one.__dict__[self._name] = self._compute(one)
        return found
