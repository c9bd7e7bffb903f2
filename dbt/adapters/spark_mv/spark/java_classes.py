"""Classes of the JVM by their names, without asking it what each part of a name is.

py4j asks that for every part, each time it is written, and the JVM looks for a class of that name
in all its jars: a tenth of a short command's time was spent so.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


class JavaClasses:
    """Stands for py4j's `jvm`: what begins with an upper-case letter is a class, and what is before
    it a package.

    >>> classes = JavaClasses(client=None, made_of=lambda name, client: name)
    >>> classes.java.util.ArrayList
    'java.util.ArrayList'
    """

    def __init__(self, client: Any, made_of: Any, package: str = "") -> None:
        self._client, self._made_of, self._package = client, made_of, package

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        whole = self._package + name
        if name[0].isupper():
            found = self._made_of(whole, self._client)
        else:
            found = JavaClasses(self._client, self._made_of, f"{whole}.")
        # The next time nobody asks for it here.
        setattr(self, name, found)
        return found


def java_classes(session: Any) -> JavaClasses:
    """The classes of the JVM of a session in this process."""
    return _classes(session._sc._gateway)


@lru_cache(maxsize=4)
def _classes(gateway: Any) -> JavaClasses:
    # Its type is not imported: who is a client of Connect has no py4j.
    return JavaClasses(gateway._gateway_client, type(gateway.jvm.Object))
