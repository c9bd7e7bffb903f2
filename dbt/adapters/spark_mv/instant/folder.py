"""One embedded folder as a profile names it, and the questions that its files answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.config import profile
from dbt.adapters.spark_mv.config.profile import CATALOG
from dbt.adapters.spark_mv.core import clock
from dbt.adapters.spark_mv.core.errors import NeedsSpark
from dbt.adapters.spark_mv.instant.executor import FileExecutor
from dbt.adapters.spark_mv.instant.file_catalog import FileCatalog
from dbt.adapters.spark_mv.instant.spark_version import spark_home
from dbt.adapters.spark_mv.metadata.events import Event
from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.metadata.store import MetadataStore
from dbt.adapters.spark_mv.metadata.tables import EVENTS
from dbt.adapters.spark_mv.operations.arguments import checked
from dbt.adapters.spark_mv.operations.choice import Choice
from dbt.adapters.spark_mv.operations.questions import Questions
from dbt.adapters.spark_mv.operations.report import Report
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import TableName

QUESTIONS = ("status", "history", "explain", "check_staleness")
_DEFAULT_CATALOG = "spark.sql.defaultCatalog"
_FILE_SYSTEM = "spark.hadoop.fs.defaultFS"
_CATALOGS = "spark.sql.catalog."


@dataclass(frozen=True)
class Folder:
    """An embedded warehouse; `settings` are those that the profile gives to Spark."""

    path: str
    schema: str
    metadata_schema: str = profile.METADATA_SCHEMA
    refresh_timeout: float = profile.REFRESH_TIMEOUT
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def home(self) -> tuple[str, ...]:
        """The namespace in which a session begins."""
        return tuple(self.settings.get(profile.HOME_SETTING, profile.HOME).split("."))


class _ReadOnlyLog(MetadataLog):
    """A log to which nothing is appended: whoever would has Spark do all of it."""

    def record(self, event: Event) -> None:
        """Raise `NeedsSpark`."""
        raise NeedsSpark(f"{event.kind} is to be recorded for {event.view_name}")


def ask(
    folder: Folder,
    question: str,
    arguments: Mapping[str, Any],
    schemas: Iterable[str],
    warn: Callable[[str], None],
) -> Report:
    """The answer to one of `QUESTIONS`, as the operation of this name gives it.

    `schemas` are those of the project. Raises `NeedsSpark` if files do not say all that is asked,
    and the errors that the operation raises.
    """
    given = checked(question, arguments)
    _refuse_settings(folder.settings)
    with closing(FileCatalog(folder.path, folder.home)) as catalog:
        questions = _questions(folder, FileExecutor(catalog), schemas, warn)
        answer: Callable[..., Report] = getattr(questions, question)
        return answer(**given)


def _questions(
    folder: Folder, executor: FileExecutor, schemas: Iterable[str], warn: Callable[[str], None]
) -> Questions:
    events = TableName(CATALOG, (folder.metadata_schema,), EVENTS)

    @contextmanager
    def store() -> Iterator[MetadataStore]:
        yield MetadataStore(executor, Resolver(executor), events)

    clock.announce(warn)
    log = _ReadOnlyLog(store, warn, "")
    services = Services(executor, log, warn, warn, warn, folder.refresh_timeout, (folder.schema,))
    choice = Choice(log)
    choice.target_schema, choice.schemas = folder.schema, schemas
    return Questions(services, choice)


def _refuse_settings(settings: Mapping[str, str]) -> None:
    """Raise `NeedsSpark` if Spark would be given other catalogs, or another file system."""
    for key, value in settings.items():
        is_other = key.startswith(_CATALOGS) and key != profile.HOME_SETTING
        if is_other or key == _FILE_SYSTEM or (key == _DEFAULT_CATALOG and value != CATALOG):
            raise NeedsSpark(f"the profile sets {key}")
    for name, text in _settings_of_the_machine():
        if any(key in text for key in (_CATALOGS, _DEFAULT_CATALOG)):
            raise NeedsSpark(f"{name} has settings of catalogs")


def _settings_of_the_machine() -> Iterator[tuple[str, str]]:
    """What gives settings to every Spark that pyspark starts, by its name, and its text."""
    yield "PYSPARK_SUBMIT_ARGS", os.environ.get("PYSPARK_SUBMIT_ARGS", "")
    given = os.environ.get("SPARK_CONF_DIR")
    path = (Path(given) if given else spark_home() / "conf") / "spark-defaults.conf"
    try:
        if path.is_file():
            yield str(path), path.read_text(errors="replace")
    except OSError as error:
        raise NeedsSpark(f"{path} cannot be read: {error}") from None
