"""What a profile of type `spark_mv` may say: dbt-spark's keys and ours."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from dbt.adapters.spark.connections import SparkCredentials
from dbt_common.dataclass_schema import StrEnum, ValidationError
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.spark_mv.config import profile
from dbt.adapters.spark_mv.config.profile import as_conf, check_profile, refusal
from dbt.adapters.spark_mv.core.errors import InvalidProfile

_PREFIXES_KNOWN_TO_THRIFT = ("set:", "use:")


class SparkMVConnectionMethod(StrEnum):
    """How statements reach Spark."""

    THRIFT = "thrift"
    HTTP = "http"
    ODBC = "odbc"
    SESSION = "session"
    EMBEDDED = "embedded"


IN_PROCESS = (SparkMVConnectionMethod.SESSION, SparkMVConnectionMethod.EMBEDDED)
HIVE_PROTOCOL = (SparkMVConnectionMethod.THRIFT, SparkMVConnectionMethod.HTTP)


@dataclass
class SparkMVCredentials(SparkCredentials):
    """A profile target: where Spark is, and where our own tables go."""

    method: SparkMVConnectionMethod = SparkMVConnectionMethod.SESSION  # type: ignore[assignment]
    host: str | None = None
    server_side_parameters: dict[str, str] = field(default_factory=dict)
    path: str = profile.PATH
    metadata_schema: str = profile.METADATA_SCHEMA
    refresh_timeout: int = profile.REFRESH_TIMEOUT
    spark_conf: dict[str, Any] = field(default_factory=dict)
    class_data_archive: bool = True
    allow_unsafe_sql: bool = False
    query_rewrite: bool = True
    query_rewrite_min_rows: int = profile.REWRITE_MIN_ROWS
    query_rewrite_stale: str = profile.REWRITE_SKIPS

    @classmethod
    def validate(cls, data: Any) -> None:
        """Raise `ValidationError` that names the key of a wrong profile."""
        try:
            check_profile(data, {*(one.name for one in fields(cls)), *cls._ALIASES})
            super().validate(data)
        except InvalidProfile as error:
            raise ValidationError(str(error)) from None
        except ValidationError as error:
            raise ValidationError(refusal(error)) from None

    @classmethod
    def __pre_deserialize__(cls, data: dict[Any, Any]) -> dict[Any, Any]:
        data = super().__pre_deserialize__(data)
        parameters = data.get("server_side_parameters")
        if isinstance(parameters, dict):
            data["server_side_parameters"] = as_conf(parameters)
        return data

    def __post_init__(self) -> None:
        if self.method in IN_PROCESS and self.host is None:
            self.host = "localhost"
        if "@" in str(self.host):
            # The host is printed by everybody who cannot reach it.
            raise DbtConfigError(
                "host must be a name or an address, and contains '@'.\n"
                "Give the login in user, password or token."
            )
        super().__post_init__()
        self.server_side_parameters.update(as_conf(self.spark_conf))
        if self.method == SparkMVConnectionMethod.EMBEDDED:
            # Every Thrift client starts in `default`. What a definition means depends on where it
            # was given, so the same model through both has to be given in the same place.
            self.server_side_parameters.setdefault(profile.HOME_SETTING, profile.HOME)
        if self.method in HIVE_PROTOCOL:
            # An open-source Thrift server ignores a key without this prefix.
            self.server_side_parameters = {
                key if key.startswith(_PREFIXES_KNOWN_TO_THRIFT) else f"set:hiveconf:{key}": value
                for key, value in self.server_side_parameters.items()
            }

    @property
    def type(self) -> str:
        """The adapter's name in a profile."""
        return "spark_mv"

    @property
    def unique_field(self) -> str:
        """What tells one warehouse from another in anonymous statistics."""
        return self.warehouse_path if self.method == "embedded" else str(self.host)

    @property
    def warehouse_path(self) -> str:
        """The embedded folder as an absolute path."""
        return profile.warehouse_path(self.path)

    def _connection_keys(self) -> tuple[str, ...]:
        if self.method == SparkMVConnectionMethod.EMBEDDED:
            return "method", "schema", "path", "metadata_schema"
        return "method", *super()._connection_keys(), "metadata_schema"
