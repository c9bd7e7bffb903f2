"""A PostgreSQL server of the tests' own, on a free port of this machine, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dbt.adapters.spark_mv.spark.local import jars, warehouse
from tests.functional.servers.processes import free_port

USER = "spark"
# Enough for three commands at once, and less than one command would leave open.
CONNECTIONS = 40
DRIVER = jars.Jar(
    "org.postgresql",
    "postgresql",
    "42.7.14",
    "73914527305a40cce504b0d3d90b23caf565136912d607ae8ae7c5895512332c",
)
_STARTS_WITHIN = 60
_PLACES = "/usr/lib/postgresql/*/bin"


def catalog_conf(address: str, driver: str) -> dict[str, str]:
    """What makes the catalog of an embedded folder one of a server at `address`."""
    catalog = f"spark.sql.catalog.{warehouse.CATALOG}"
    return {
        f"{catalog}.uri": f"jdbc:postgresql://{address}/postgres",
        f"{catalog}.jdbc.user": USER,
        "spark.driver.extraClassPath": driver,
    }


def _program(name: str) -> str:
    folders = [str(path) for path in sorted(Path("/").glob(_PLACES.lstrip("/")), reverse=True)]
    found = shutil.which(name, path=os.pathsep.join([os.environ["PATH"], *folders]))
    if found is None:
        missing = f"PostgreSQL is not installed: no {name} on the path or in {_PLACES}"
        if os.environ.get("TEST_REQUIRES_POSTGRES"):
            pytest.fail(missing)
        pytest.skip(missing)
    return found


@contextmanager
def running_server() -> Iterator[str]:
    """A server that runs inside the block; gives its host and port."""
    initdb, server = _program("initdb"), _program("postgres")
    # It refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="postgres"))
    if user is not None:
        shutil.chown(folder, user)
    port, data = free_port(), folder / "data"
    make = [initdb, "--pgdata", str(data), "--username", USER, "--auth", "trust", "--no-sync"]
    subprocess.run(make, check=True, capture_output=True, user=user, cwd=folder)
    # Nothing here has to outlive a power cut.
    options = ["-c", "fsync=off", "-c", "listen_addresses=127.0.0.1", "-k", str(folder)]
    options += ["-c", f"max_connections={CONNECTIONS}"]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            [server, "-D", str(data), "-p", str(port), *options],
            stdout=log,
            stderr=log,
            user=user,
            cwd=folder,
        )
    try:
        _wait(process, folder / "log")
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(folder)


def _wait(process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _STARTS_WITHIN
    while process.poll() is None and time.monotonic() < deadline:
        if "ready to accept connections" in log.read_text():
            return
        time.sleep(0.1)
    raise AssertionError(f"PostgreSQL does not start:\n{log.read_text()}")
