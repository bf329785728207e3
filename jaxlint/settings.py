"""All settings of a configuration file: names, accepted values, defaults and meanings. Nothing else declares them.

The reader (`jaxlint.config`), the schema (`jaxlint.schemas`) and `jaxlint config` use this table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jaxlint.finding import Severity
from jaxlint.jaxapi.versions import VersionError, parse_range

_VERSION = r"\d+(\.\d+){1,3}"


class WrongValue(ValueError):
    """What a value must be."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value: its reader, which raises WrongValue, and its JSON schema."""

    read: Callable[[Any], Any]
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """One key. `default` is None if it has none."""

    key: str
    kind: Kind
    default: Any
    meaning: str

    @property
    def field(self) -> str:
        """The field of `Config` that holds it."""
        return self.key.replace("-", "_")


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise WrongValue("must be a list of strings")
    return tuple(value)


def _string(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise WrongValue("must be a string that is not empty")
    if "\0" in value:
        raise WrongValue("must be a string without NUL characters")
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongValue("must be true or false")
    return value


def _severity(value: Any) -> Severity:
    try:
        return Severity(value)
    except ValueError:
        names = ", ".join(f'"{severity}"' for severity in Severity)
        raise WrongValue(f"must be one of {names}") from None


def read_version(value: Any) -> str:
    """A version of JAX or a range of them. Raises WrongValue."""
    wrong = WrongValue('must be a version of JAX or a range of them, such as "0.10.2" or ">=0.4.30,<0.7"')
    if not isinstance(value, str) or not value.strip():
        raise wrong
    if value.strip()[0].isdigit() and not re.fullmatch(_VERSION, value.strip()):
        raise wrong
    try:
        parse_range(value)
    except VersionError:
        raise wrong from None
    return value.strip()


def _file_ignores(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, Mapping):
        raise WrongValue(
            'must be a table from path patterns to lists of rules, such as { "tests/**" = ["JAX401"] }'
        )
    return tuple((pattern, _strings(selectors)) for pattern, selectors in value.items())


_RULES = {"type": "array", "items": {"$ref": "#/$defs/rule"}}
_PATTERNS = {"type": "array", "items": {"type": "string"}}
RULES = Kind(_strings, _RULES)
PATTERNS = Kind(_strings, _PATTERNS)
TEXT = Kind(_string, {"type": "string", "minLength": 1})
SWITCH = Kind(_boolean, {"type": "boolean"})
SEVERITY = Kind(_severity, {"enum": [str(severity) for severity in Severity]})
VERSION = Kind(read_version, {"type": "string", "minLength": 1, "examples": ["0.10.2", ">=0.4.30,<0.7"]})
FILE_IGNORES = Kind(_file_ignores, {"type": "object", "additionalProperties": _RULES})

SETTINGS = (
    Setting("select", RULES, ["ALL"], "The rules that run."),
    Setting("extend-select", RULES, [], "Further rules, added to `select`."),
    Setting("ignore", RULES, [], "Rules that do not run."),
    Setting("exclude", PATTERNS, None, "Path patterns that a search through folders skips."),
    Setting("extend-exclude", PATTERNS, [], "Further patterns, added to `exclude`."),
    Setting(
        "extend-include",
        PATTERNS,
        [],
        "Path patterns of files that a search checks besides *.py and *.ipynb.",
    ),
    Setting(
        "per-file-ignores",
        FILE_IGNORES,
        {},
        "Maps path patterns to the rules that are silent in matching files.",
    ),
    Setting(
        "respect-gitignore", SWITCH, True, "Skip what .gitignore files name when searching through folders."
    ),
    Setting("force-exclude", SWITCH, False, "Apply `exclude` and .gitignore to paths given by name as well."),
    Setting(
        "target-jax",
        VERSION,
        None,
        "The versions of JAX to check against; else what the project asks for, else the newest known.",
    ),
    Setting("preview", SWITCH, False, "Run the rules that are still in preview."),
    Setting("severity", SEVERITY, "warning", "The lowest severity that is reported."),
    Setting(
        "report-unused-suppressions", SWITCH, False, "Report suppression comments that suppress nothing."
    ),
    Setting("baseline", TEXT, None, "A file of known findings inside the project, which are not shown."),
    Setting(
        "cache-dir",
        TEXT,
        None,
        "Where results of unchanged files are kept; else .jaxlint_cache beside the settings.",
    ),
)
BY_KEY = {setting.key: setting for setting in SETTINGS}
