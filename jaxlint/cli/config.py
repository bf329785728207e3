"""`jaxlint config`: the settings that apply to a file, and where each comes from."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from jaxlint.cli.common import Failure
from jaxlint.cli.options import RunOptions, run_options
from jaxlint.config import Config, common_folder
from jaxlint.jaxapi.history import NEWEST
from jaxlint.narrowing.baseline import place_of
from jaxlint.nearest import Nearest
from jaxlint.registry import all_rules
from jaxlint.report.escaping import escaped, wellformed
from jaxlint.settings import SETTINGS
from jaxlint.source.discovery import discover
from jaxlint.source.read import shown_path


@click.command("config")
@run_options
@click.option("--schema", is_flag=True, help="Print the JSON schema of the settings instead.")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="How to show them (text)."
)
def command(options: RunOptions, schema: bool, output_format: str) -> None:
    """Show the settings that apply to a file or folder, and where each comes from.

    PATH is one file or folder; by default the current folder. The other options are those of `check`, and change what applies.
    """
    if schema:
        from jaxlint.schemas import settings_schema

        click.echo(json.dumps(settings_schema(), indent=2))
        return
    if options.stdin is not None or len(options.paths) != 1:
        raise Failure("name one file or folder")
    path = Path(os.path.abspath(options.paths[0]))
    if not os.path.lexists(path):
        raise Failure(f"{options.paths[0]}: no such file or folder; check the path")
    held = settings_of(path, options.config)
    if output_format == "json":
        click.echo(json.dumps(wellformed(held.record()), indent=2))
    else:
        for line in held.lines():
            click.echo(escaped(line))


@dataclass(frozen=True, slots=True)
class Held:
    """The settings of a path: each with its value and source, and the resulting configuration."""

    path: str
    source: str | None
    root: str
    values: dict[str, tuple[Any, str]]
    checked: bool | None  # None for a folder
    rules: list[str]
    silent: list[str]  # rules that are disabled in this file alone

    def record(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "settings": self.source,
            "project": self.root,
            "checked": self.checked,
            "rules": self.rules,
            "silent": self.silent,
            "values": {key: {"value": value, "from": origin} for key, (value, origin) in self.values.items()},
        }

    def lines(self) -> list[str]:
        found = [
            f"path      {self.path}",
            f"settings  {self.source or 'none; the defaults apply'}",
            f"project   {self.root}",
        ]
        if self.checked is not None:
            found.append(
                f"checked   {'yes' if self.checked else 'no: it is excluded in a search through folders'}"
            )
        found.append(f"rules     {len(self.rules)} of {len(all_rules())} run")
        if self.silent:
            found.append(f"silent    {', '.join(self.silent)} (per-file-ignores)")
        width = max(len(key) for key in self.values)
        found.append("")
        for key, (value, origin) in self.values.items():
            shown = json.dumps(value, ensure_ascii=False)
            if key == "extend-exclude":
                shown = "listed under exclude"
            found.append(f"{key:<{width}}  {shown}  ({origin})")
        return found


def settings_of(path: Path, given: Config) -> Held:
    """The settings for the file or folder at the absolute `path`, in a run with `given`. Raises ConfigError."""
    is_file = not path.is_dir()
    config = Nearest(given).of(path if is_file else path / "__init__.py")
    config.check()
    rules = [rule.name for rule in config.rules()]
    silent_codes = config.ignored_in(path) if is_file else frozenset()
    silent = [rule.name for rule in config.rules() if rule.code in silent_codes]
    checked = None
    if is_file:
        search = discover([common_folder([config.root])], config.search)
        checked = os.path.realpath(path) in {os.path.realpath(file.path) for file in search.files}
    return Held(
        shown_path(path),
        str((config.base or config).source) if (config.base or config).source else None,
        shown_path(config.root),
        {setting.key: _held(setting.key, setting.field, config) for setting in SETTINGS},
        checked,
        [name for name in rules if name not in silent],
        silent,
    )


def _held(key: str, field: str, config: Config) -> tuple[Any, str]:
    """The value of a key and its source."""
    file = config.base or config
    said = f"{file.source}" if key in file.said else ""
    if key in ("exclude", "extend-exclude"):
        # Both form one list; those of the command line are relative to the current folder.
        said = said or "default"
        patterns = [pattern for one in config.exclude for pattern in one.patterns]
        if key == "extend-exclude":
            return (None, said)  # it has no value of its own
        return (patterns, said if config.exclude == file.exclude else f"{said}, command line")
    if key == "target-jax" and not said:
        if config.target_jax is None:
            return (NEWEST, "the newest known release")
        return (
            config.target_jax,
            "command line" if config.target_jax != file.target_jax else "what the project requires",
        )
    if key == "baseline" and config.baseline is not None:
        place = place_of(config)
        return (shown_path(place) if place is not None else None, said)
    if key == "cache-dir":
        folder = config.cache_dir or config.root / ".jaxlint_cache"
        return (
            shown_path(folder),
            "command line or environment" if config.cache_dir_given else said or "default",
        )
    value = getattr(config, field)
    if key in ("extend-include", "per-file-ignores"):
        return (_patterns(key, value), said or "default")
    before = getattr(file, field)
    origin = said or "default"
    return (
        value,
        origin if value == before else f"{origin}, command line" if said and before else "command line",
    )


def _patterns(key: str, value: Any) -> Any:
    if key == "extend-include":
        return [pattern for one in value for pattern in one.patterns]
    return {pattern: list(rules) for one, rules in value for pattern in one.patterns}
