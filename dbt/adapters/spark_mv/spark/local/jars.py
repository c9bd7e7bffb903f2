"""The two Java libraries of the embedded method: found or downloaded, and checked at each use.

Not by a note of an earlier check: whoever can change the file could write that note too, and the
content of both is read in a tenth of the time that Spark takes to start.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from dbt_common.events.functions import fire_event
from dbt_common.events.types import Note
from dbt_common.exceptions import DbtRuntimeError

MAVEN_CENTRAL = "https://repo1.maven.org/maven2"
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Jar:
    """One library at one version, known by its content."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """The name under which the file is kept."""
        return f"{self.artifact}-{self.version}.jar"

    @property
    def url(self) -> str:
        """Where the file is published."""
        base = os.environ.get("DBT_SPARK_MV_MAVEN_URL", MAVEN_CENTRAL).rstrip("/")
        group = self.group.replace(".", "/")
        return f"{base}/{group}/{self.artifact}/{self.version}/{self.file_name}"


JARS = (
    Jar(
        "org.apache.iceberg",
        "iceberg-spark-runtime-4.1_2.13",
        "1.11.0",
        "d6ea6c5d099288daeb7d5a92061bd3d7d8f296492632b42378e5f2f0e3066242",
    ),
    Jar(
        "org.xerial",
        "sqlite-jdbc",
        "3.50.3.0",
        "a3f53a2aa15ae9425a9e793bbe9c8e5288febeb4b65ef5c1a4e80d4c2045cf08",
    ),
)


def cache_folder() -> Path:
    """The user's folder for files that can be made again."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "dbt-spark-mv"


def jar_paths() -> list[Path]:
    """Paths of all libraries, in class path order; downloads what is missing."""
    return [jar_path(jar) for jar in JARS]


def jar_path(jar: Jar) -> Path:
    """Path of one library, which is downloaded if it is missing."""
    return _given(jar) or _cached(jar) or _download(jar)


def _given(jar: Jar) -> Path | None:
    """The library in the folder that the user names; no other content is put in its place."""
    folder = os.environ.get("DBT_SPARK_MV_JARS_DIR")
    path = Path(folder or "", jar.file_name).absolute()
    if not folder or not path.is_file():
        return None
    if not _is_published(path, jar):
        raise DbtRuntimeError(
            f"{path} is not the published file (SHA-256 differs).\nGet it from {jar.url}."
        )
    return path


def _cached(jar: Jar) -> Path | None:
    path = (cache_folder() / "jars" / jar.file_name).absolute()
    if not path.is_file():
        return None
    if _is_published(path, jar):
        return path
    fire_event(Note(msg=f"{path} is not the published file (SHA-256 differs): it is replaced"))
    return None


def _is_published(path: Path, jar: Jar) -> bool:
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise DbtRuntimeError(
            f"{path} cannot be read: {error.strerror}.\nMake it readable, or remove it."
        ) from None
    return digest.hexdigest() == jar.sha256


def _download(jar: Jar) -> Path:
    folder = cache_folder() / "jars"
    fire_event(Note(msg=f"Downloading {jar.file_name} (once, to {folder})"))
    part: str | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=folder, suffix=".part")
        digest = hashlib.sha256()
        with os.fdopen(handle, "wb") as file, urllib.request.urlopen(jar.url, timeout=60) as body:
            while chunk := body.read(_CHUNK):
                digest.update(chunk)
                file.write(chunk)
        if digest.hexdigest() != jar.sha256:
            raise OSError("the downloaded file is not the published one (SHA-256 differs)")
        target = folder / jar.file_name
        os.replace(part, target)
        return target
    except OSError as error:
        if part and os.path.exists(part):
            os.unlink(part)
        raise DbtRuntimeError(
            f"{jar.file_name} could not be downloaded: {error}.\n"
            f"Get it from {jar.url} and put it into {folder}, "
            f"or name a folder that holds it in DBT_SPARK_MV_JARS_DIR."
        ) from None
