"""The versions of packages that a project requires, read from its files without running anything.

The most reliable source goes first: `[project]` of pyproject.toml, then Poetry's table, the extras and groups, Pixi's
tables, setup.cfg, the literals of setup.py, Pipfile and pixi.toml, requirements files, and conda environments last.
"""

from __future__ import annotations

import ast
import configparser
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jaxlint.jaxapi.versions import VersionError, parse_range
from jaxlint.source.regular import MAX_SETTINGS, read_regular
from jaxlint.source.toml import TomlError, parse_toml
from jaxlint.syntax.guard import nesting_problem, worth_scanning

_MAX_LINE = 10_000  # characters; a requirement with its hashes has some hundreds
_REQUIREMENT = re.compile(
    r"\s*+(?P<name>[A-Za-z][\w.-]*+)\s*+(?:\[[^\]]*+\])?\s*+\(?\s*+(?P<specifier>[<>=!~][^;#)@]*+)\)?\s*+(?:[;#].*)?$"
)
# `- jax=0.4.13=py310_0`, `- conda-forge::jax>=0.4` and, below `pip:`, `- jax==0.4.13`
_IN_ENVIRONMENT = re.compile(r"""\s*-\s*["']?(?:[\w./-]+::)?(?P<requirement>[^"'#]+)""")
_OF_CONDA = re.compile(r"(?P<name>[\w.-]+)\s*=\s*(?P<version>\d+(?:\.\d+)*)(?:\.?\*)?(?:=[\w.*]+)?\s*$")
_CARET = re.compile(r"\^\s*(\d+(?:\.\d+)*)$")


def declared_versions(root: Path, packages: frozenset[str]) -> dict[str, str]:
    """The project's specifier for each of `packages` that it limits.

    A dependency without limits says nothing about old versions, so it is left out, and so is one that cannot be
    parsed.
    """
    found: dict[str, str] = {}
    for source in (_pyproject, _setup_cfg, _setup_py, _tables, _requirements, _environments):
        for line in source(root):
            match = _REQUIREMENT.match(line)
            if match is None:
                continue
            name = re.sub(r"[-_.]+", "-", match["name"]).lower()
            specifier = ",".join(part.strip() for part in match["specifier"].strip().strip(",").split(","))
            if name in packages and name not in found and _is_range(specifier):
                found[name] = specifier
    return found


def _is_range(specifier: str) -> bool:
    try:
        known = parse_range(specifier)
    except VersionError:
        return False
    return known.low is not None or known.high is not None  # `!=` alone is not a limit


def _read(path: Path) -> str:
    try:
        text = read_regular(path, MAX_SETTINGS).decode("utf-8-sig", "replace")
        return "\n".join(line for line in text.splitlines() if len(line) <= _MAX_LINE)
    except OSError:
        return ""


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        return parse_toml(_read(path).encode())
    except TomlError:
        return {}


def _pyproject(root: Path) -> Iterator[str]:
    document = _toml(root / "pyproject.toml")
    project = _table(document, "project")
    yield from _strings(project.get("dependencies"))
    tools = _table(document, "tool")
    yield from _versions(_table(_table(tools, "poetry"), "dependencies"))
    for group in (_table(project, "optional-dependencies"), _table(document, "dependency-groups")):
        for value in group.values():
            yield from _strings(value)
    yield from _pixi(_table(tools, "pixi"))


def _tables(root: Path) -> Iterator[str]:
    yield from _versions(_table(_toml(root / "Pipfile"), "packages"))
    yield from _pixi(_toml(root / "pixi.toml"))


def _pixi(document: Mapping[str, Any]) -> Iterator[str]:
    yield from _versions(_table(document, "pypi-dependencies"))
    yield from _versions(_table(document, "dependencies"))


def _versions(table: Mapping[str, Any]) -> Iterator[str]:
    """The requirements of a table from names to versions, or to tables that hold a version."""
    for name, value in table.items():
        version = value.get("version") if isinstance(value, Mapping) else value
        if isinstance(version, str):
            yield f"{name}{_without_caret(version)}"


def _table(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = document.get(key)
    return found if isinstance(found, Mapping) else {}


def _without_caret(version: str) -> str:
    """Poetry's `^0.4.1`: up to the next change of the leftmost nonzero number."""
    match = _CARET.match(version.strip())
    if match is None:
        return f"=={version}" if version.strip()[:1].isdigit() else version
    numbers = [int(part) for part in match[1].split(".")]
    place = next((i for i, number in enumerate(numbers) if number), len(numbers) - 1)
    above = ".".join(str(number) for number in [*numbers[:place], numbers[place] + 1])
    return f">={match[1]},<{above}"


def _setup_cfg(root: Path) -> Iterator[str]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(_read(root / "setup.cfg"))
    except configparser.Error:
        return
    yield from parser.get("options", "install_requires", fallback="").splitlines()
    if parser.has_section("options.extras_require"):
        for value in dict(parser["options.extras_require"]).values():
            yield from value.splitlines()


def _setup_py(root: Path) -> Iterator[str]:
    text = _read(root / "setup.py")
    if "setup" not in text or (worth_scanning(text) and nesting_problem(text) is not None):
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            for item in node.elts:
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    yield item.value


def _requirements(root: Path) -> Iterator[str]:
    paths = [root / "requirements.txt", root / "requirements" / "requirements.txt"]
    paths += sorted(root.glob("requirements*.txt")) + sorted((root / "requirements").glob("*.txt"))
    paths += sorted(root.glob("*requirements.txt"))
    for path in dict.fromkeys(paths):
        for line in _read(path).splitlines():
            # `jax==0.4.30 \` before its hashes, or ` --hash=...` after it.
            yield _plain(line.partition(" --")[0].rstrip("\\ "))


def _environments(root: Path) -> Iterator[str]:
    for path in sorted(path for end in ("yml", "yaml") for path in root.glob(f"*env*.{end}")):
        for line in _read(path).splitlines():
            entry = _IN_ENVIRONMENT.match(line)
            if entry is not None:
                yield _plain(entry["requirement"].strip())


def _plain(requirement: str) -> str:
    """A requirement as pip writes it: in `jax=0.4.13` of conda, also with a build (`conda list --export`), one `=` means any
    release that begins like this."""
    conda = _OF_CONDA.match(requirement)
    return f"{conda['name']}=={conda['version']}.*" if conda else requirement
