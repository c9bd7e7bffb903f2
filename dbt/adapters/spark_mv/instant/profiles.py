"""Reads a target of profiles.yml as dbt does, without dbt: of jinja there is only `env_var`."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from dbt.adapters.spark_mv.config import profile as defaults
from dbt.adapters.spark_mv.config.profile import OUR_KEYS, as_conf, check_profile, warehouse_path
from dbt.adapters.spark_mv.core.errors import InvalidProfile, NeedsSpark
from dbt.adapters.spark_mv.instant.folder import Folder

_EMBEDDED = "embedded"
_ONE_EXPRESSION = re.compile(r"\{\{((?:(?!\{\{|\}\}|\{%).)*)\}\}", re.DOTALL)
_FILTERS = ("as_bool", "as_native", "as_number")


@dataclass(frozen=True)
class Place:
    """Where a profile is, as dbt's options of the same names say; None is what was not said."""

    profiles_dir: str | None = None
    project_dir: str | None = None
    profile: str | None = None
    target: str | None = None


def folder_of(place: Place) -> Folder:
    """The embedded folder of a target.

    Raises `InvalidProfile` for a profile that is not there or is wrong, and `NeedsSpark` for one of
    another method.
    """
    path = _profiles_file(place)
    profiles = _mapping(path)
    name = place.profile or os.environ.get("DBT_PROFILE") or _profile_of_project(place)
    profile = _entry(profiles, name, "profile", str(path))
    target = place.target or os.environ.get("DBT_TARGET") or profile.get("target", "default")
    target = _rendered(target, "target")
    outputs = _entry(profile, "outputs", "key", f"The profile {name}")
    output = _entry(outputs, target, "target", f"The profile {name}")
    return _folder({key: _rendered(value, key) for key, value in output.items()}, str(target))


def _folder(output: Mapping[str, Any], target: str) -> Folder:
    check_profile(output, (*OUR_KEYS, "type", "method", "schema", "threads"))
    if output.get("type") != "spark_mv":
        raise InvalidProfile(
            f"The target {target} has the type {output.get('type')}.",
            "Name one of the type spark_mv with --target.",
        )
    if output.get("method") != _EMBEDDED:
        raise NeedsSpark(f"the target {target} has the method {output.get('method', 'session')}")
    if not output.get("schema"):
        raise InvalidProfile(f"The target {target} has no schema.", "Give it one.")
    return Folder(
        warehouse_path(output.get("path", defaults.PATH)),
        str(output["schema"]),
        output.get("metadata_schema", defaults.METADATA_SCHEMA),
        output.get("refresh_timeout", defaults.REFRESH_TIMEOUT),
        {**_settings(output, "server_side_parameters"), **_settings(output, "spark_conf")},
    )


def _settings(output: Mapping[str, Any], key: str) -> dict[str, str]:
    found = output.get(key) or {}
    if not isinstance(found, dict):
        raise InvalidProfile(f"{key} must be a mapping.", "Write one line for each setting.")
    return as_conf(found)


def _profiles_file(place: Place) -> Path:
    given = place.profiles_dir or os.environ.get("DBT_PROFILES_DIR")
    here = Path.cwd()
    found = Path(given) if given else here if (here / "profiles.yml").exists() else _of_home()
    return found / "profiles.yml"


def _of_home() -> Path:
    return Path.home() / ".dbt"


def _profile_of_project(place: Place) -> str:
    given = place.project_dir or os.environ.get("DBT_PROJECT_DIR")
    here = Path.cwd()
    folders = [Path(given)] if given else [here, *here.parents]
    path = next((f / "dbt_project.yml" for f in folders if (f / "dbt_project.yml").exists()), None)
    name = _rendered(_mapping(path).get("profile"), "profile") if path else None
    if not name:
        raise InvalidProfile(
            f"{path or folders[0] / 'dbt_project.yml'} names no profile.",
            "Name one with --profile, or the folder of the project with --project-dir.",
        )
    return str(name)


def _mapping(path: Path) -> Mapping[str, Any]:
    try:
        found = yaml.safe_load(path.read_text())
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise InvalidProfile(
            f"{path} cannot be read: {reason}.",
            "Name its folder with --profiles-dir or --project-dir, or correct it.",
        ) from None
    if not isinstance(found, dict):
        raise InvalidProfile(f"{path} is not a mapping of names.", "Correct it.")
    return found


def _entry(holder: Mapping[str, Any], name: Any, kind: str, where: str) -> Mapping[str, Any]:
    found = holder.get(name)
    if not isinstance(found, dict):
        names = ", ".join(str(key) for key, value in holder.items() if isinstance(value, dict))
        raise InvalidProfile(
            f"{where} has no {kind} {name!r}.", f"Expected one of: {names or 'none is there'}."
        )
    return found


def _rendered(value: Any, key: str) -> Any:
    """A value of the profile with its templates filled in."""
    if isinstance(value, dict):
        return {name: _rendered(one, f"{key}.{name}") for name, one in value.items()}
    if isinstance(value, list):
        return [_rendered(one, key) for one in value]
    if isinstance(value, str) and ("{{" in value or "{%" in value):
        return _filled_in(value, key)
    return value


def _filled_in(text: str, key: str) -> Any:
    """A template's value: of its own type if it is one expression, else a text."""
    import jinja2
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=jinja2.StrictUndefined)
    environment.filters.update(dict.fromkeys(_FILTERS, _native), as_text=str)
    try:
        single = _ONE_EXPRESSION.fullmatch(text)
        if single is None:
            return environment.from_string(text).render(env_var=_env_var)
        expression = environment.compile_expression(single[1].strip(), undefined_to_none=False)
        value = expression(env_var=_env_var)
        return value if isinstance(value, (bool, int, float)) else str(value)
    except (jinja2.TemplateError, LookupError, TypeError, ValueError) as error:
        raise InvalidProfile(
            f"The value of {key} in the profile cannot be filled in: {error.args[0]}.",
            "Only env_var is known here; with dbt there is more: `dbt run-operation status`.",
        ) from None


def _env_var(name: str, default: str | None = None) -> str:
    found = os.environ.get(name, default)
    if found is None:
        raise LookupError(f"there is no environment variable {name}")
    return found


def _native(text: str) -> Any:
    with suppress(ValueError, SyntaxError):
        return ast.literal_eval(text)
    return text
