"""Targets of profiles.yml are read as dbt reads them; what is not understood is an error."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dbt.adapters.spark_mv.core.errors import InvalidProfile, NeedsSpark
from dbt.adapters.spark_mv.instant.folder import Folder
from dbt.adapters.spark_mv.instant.profiles import Place, folder_of

SHOP = {
    "target": "dev",
    "outputs": {
        "dev": {"type": "spark_mv", "method": "embedded", "schema": "analytics", "path": "/lake"},
        "prod": {
            "type": "spark_mv",
            "method": "embedded",
            "schema": "{{ env_var('SHOP_SCHEMA', 'main') }}",
            "path": "{{ env_var('SHOP_HOME') }}/lake",
            "metadata_schema": "meta",
            "refresh_timeout": "{{ env_var('SHOP_TIMEOUT', '60') | as_number }}",
            "server_side_parameters": {"spark.sql.ansi.enabled": True, "a": "first"},
            "spark_conf": {"a": "{{ env_var('SHOP_A', '7') }}"},
        },
        "server": {"type": "spark_mv", "method": "thrift", "schema": "s", "host": "h"},
        "session": {"type": "spark_mv", "schema": "s"},
    },
}


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PROFILES_DIR", "PROJECT_DIR", "PROFILE", "TARGET"):
        monkeypatch.delenv(f"DBT_{name}", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SHOP_HOME", "/data")
    monkeypatch.chdir(tmp_path)
    written(tmp_path, {"shop": SHOP, "other": {"outputs": {"default": SHOP["outputs"]["dev"]}}})
    (tmp_path / "dbt_project.yml").write_text(yaml.safe_dump({"profile": "shop"}))
    return tmp_path


def written(folder: Path, content: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "profiles.yml").write_text(yaml.safe_dump(content))


def target_with(shop: Path, **keys: object) -> Place:
    written(shop / "own", {"own": {"outputs": {"default": {**SHOP["outputs"]["dev"], **keys}}}})
    return Place(profiles_dir=str(shop / "own"), profile="own")


def test_the_target_of_the_project() -> None:
    assert folder_of(Place()) == Folder("/lake", "analytics")


def test_every_key() -> None:
    settings = {"spark.sql.ansi.enabled": "true", "a": "7"}
    assert folder_of(Place(target="prod")) == Folder("/data/lake", "main", "meta", 60, settings)


def test_a_relative_path_begins_here(shop: Path) -> None:
    assert folder_of(target_with(shop, path="below")).path == str(shop / "below")


@pytest.mark.parametrize("way", ["option", "variable", "home"])
def test_where_profiles_are_found(shop: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    elsewhere = shop / "home" / ".dbt"
    written(elsewhere, {"shop": {"outputs": {"default": SHOP["outputs"]["dev"]}}})
    if way == "variable":
        monkeypatch.setenv("DBT_PROFILES_DIR", str(elsewhere))
    if way == "home":
        (shop / "profiles.yml").unlink()
    place = Place(profiles_dir=str(elsewhere) if way == "option" else None)
    assert folder_of(place).schema == "analytics"


def test_profile_and_target_by_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_TARGET", "prod")
    assert folder_of(Place()).schema == "main"
    monkeypatch.setenv("DBT_PROFILE", "other")
    monkeypatch.setenv("DBT_TARGET", "default")
    assert folder_of(Place()).schema == "analytics"
    assert folder_of(Place(profile="shop", target="prod")).schema == "main"


def test_a_folder_below_the_project(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shop / "models").mkdir()
    monkeypatch.chdir(shop / "models")
    assert folder_of(Place(profiles_dir=str(shop))).schema == "analytics"


@pytest.mark.parametrize("target", ["server", "session"])
def test_other_methods_need_spark(target: str) -> None:
    with pytest.raises(NeedsSpark, match=f"target {target} has the method"):
        folder_of(Place(target=target))


@pytest.mark.parametrize(
    ("place", "problem", "way_out"),
    [
        (Place(target="test"), "no target 'test'", "dev, prod, server, session"),
        (Place(profile="shoe"), "no profile 'shoe'", "other, shop"),
        (Place(profiles_dir="/nowhere"), "/nowhere/profiles.yml cannot be read", "--profiles-dir"),
        (Place(project_dir="/nowhere"), "/nowhere/dbt_project.yml names no profile", "--profile"),
    ],
)
def test_what_is_not_there(place: Place, problem: str, way_out: str) -> None:
    with pytest.raises(InvalidProfile) as caught:
        folder_of(place)
    assert problem in caught.value.problem and way_out in caught.value.way_out


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"path": "{{ var('lake') }}"}, "path in the profile cannot be filled in: 'var'"),
        ({"path": "{{ env_var('NOBODY') }}"}, "no environment variable NOBODY"),
        ({"path": "{{ env_var('A' }}"}, "path in the profile cannot be filled in"),
        ({"path": "{{ [].pop() }}"}, "path in the profile cannot be filled in"),
        ({"path": "{{ ''.__class__ }}"}, "path in the profile cannot be filled in"),
        ({"spark_conf": {"a": "x{{ b }}"}}, "spark_conf.a in the profile"),
        ({"refresh_timeout": "soon"}, "refresh_timeout cannot be 'soon'"),
        ({"metadata_shema": "m"}, "no key 'metadata_shema'"),
        ({"type": "spark"}, "has the type spark"),
        ({"schema": ""}, "has no schema"),
        ({"server_side_parameters": ["a"]}, "server_side_parameters must be a mapping"),
    ],
)
def test_what_is_wrong(shop: Path, keys: dict[str, object], problem: str) -> None:
    """Each error has two lines."""
    with pytest.raises(InvalidProfile) as caught:
        folder_of(target_with(shop, **keys))
    assert problem in str(caught.value) and len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize("text", ["- a", "a: [", ""])
def test_a_file_that_is_no_profile(shop: Path, text: str) -> None:
    (shop / "profiles.yml").write_text(text)
    with pytest.raises(InvalidProfile, match=r"profiles\.yml"):
        folder_of(Place())
