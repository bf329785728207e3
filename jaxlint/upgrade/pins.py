"""Raises a project's requirements in the text of its files: everything else in them stays byte for byte.

A requirement that the target release satisfies, and that allows no older one, is unchanged. A requirement of a single
release becomes the target release. Any other starts at the lowest target release and loses upper limits below it.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint.jaxapi.versions import VersionError, parse_range, parse_version
from jaxlint.source.file import SourceFile
from jaxlint.source.regular import MAX_SETTINGS, read_regular
from jaxlint.source.toml import TomlError, parse_toml
from jaxlint.syntax.guard import nesting_problem, worth_scanning
from jaxlint.upgrade.targets import Aim

_MAX_LINE = 10_000  # characters; a requirement with its hashes has some hundreds
_UTF8_BOM = b"\xef\xbb\xbf"
# Runs of spaces are possessive (`\s*+`): a line that does not match costs one pass, whatever a clone writes there.
_CLAUSES = (
    r"(?:===?|~=|!=|<=|>=|<|>)\s*+[\w.*+!-]+(?:\s*+,\s*+(?:===?|~=|!=|<=|>=|<|>)\s*+[\w.*+!-]+)*(?:\s*+,)?"
)
# `jax[cuda12] >= 0.4.1, < 0.5 ; python_version > "3.8"`: the text before the clauses, the clauses, and the rest.
_REQUIREMENT = re.compile(
    rf"(?P<head>\s*+(?P<name>[A-Za-z][\w.-]*+)\s*+(?:\[[^\]]*+\])?+\s*+\(?\s*+)(?P<clauses>{_CLAUSES})(?P<tail>\s*+\)?\s*+(?:[;#\\].*|--.*)?)$"
)
_QUOTED = re.compile(r"""(["'])((?:(?!\1)[^\\\n])+)\1""")
_SECTION = re.compile(r"\s*+\[++([^\]]++)\]")
# `jax = "^0.4.1"` and `jax = { version = "^0.4.1", extras = [...] }`
_ENTRY = re.compile(
    r"""(?P<head>\s*["']?(?P<name>[A-Za-z][\w.-]*)["']?\s*=\s*(?:\{.*?\bversion\s*=\s*)?)(?P<quote>["'])(?P<value>[^"'\n]+)(?P=quote)"""
)
_LISTS = (".txt", ".in")  # `.in`: what pip-compile and `uv pip compile` read
_TABLES = re.compile(
    r"tool\.(poetry|pixi)\b.*dependencies|.*\bpypi-dependencies|packages|dev-packages|dependencies"
)
_OPTIONS = re.compile(r"options(\.extras_require)?|options\s*:.*")
# jaxlib is released with jax; the first three numbers of the version agree.
_FOLLOWS = {"jaxlib": "jax"}
_CONDA = re.compile(
    r"""\s*+-\s*+["']?(?:[\w./-]++::)?(?P<name>[\w.-]++)\s*+(?P<limits>[=<>~!][^#]*+)(?:#.*)?$"""
)
_PIP = re.compile(r"\s*+-\s*+pip\s*+:\s*+(?:#.*)?$")
_ITEM = re.compile(r"""\s*+-\s++["']?(?P<rest>[^"'\r]++)""")

_NO_TOML = "the file would not be valid TOML; raise it by hand"


@dataclass(frozen=True, slots=True)
class Pin:
    """A requirement in a file: the old and the new text; `problem` says why they are equal."""

    path: str
    line: int
    before: str
    after: str
    problem: str = ""


@dataclass(slots=True)
class Pins:
    """The files with requirements, their new text, and the raised and remaining requirements."""

    sources: dict[str, SourceFile] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    raised: list[Pin] = field(default_factory=list)
    left: list[Pin] = field(default_factory=list)


def raise_pins(
    root: Path,
    shown: Callable[[Path], str],
    targets: Mapping[str, Aim],
    own: Mapping[Path, SourceFile] | None = None,
    folders: Iterable[Path] = (),
) -> Pins:
    """Raises the requirements in the files of the project in `root`, of which `own` are already read. Writes nothing.

    `folders`: those below it that hold sources, and may be projects or parts of it.
    """
    pins = Pins()
    seen: set[Path] = set()
    for path, rewrite in _files(root, folders):
        if path in seen:
            continue
        seen.add(path)
        source = (own or {}).get(path) or _read(path, shown(path))
        if source is None:
            continue
        text, found = rewrite(source, targets)
        pins.sources[source.display] = source
        pins.left += [pin for pin in found if pin.problem]
        changed = [pin for pin in found if not pin.problem]
        if changed and text != source.text:
            pins.texts[source.display] = text
            pins.raised += changed
    return pins


_Rewrite = Callable[[SourceFile, Mapping[str, Aim]], tuple[str, list[Pin]]]


def _files(root: Path, folders: Iterable[Path]) -> Iterator[tuple[Path, _Rewrite]]:
    """The files with requirements of the project, and of the folders within it that hold sources."""
    for folder in sorted({root, *folders}):
        yield folder / "pyproject.toml", _toml
        yield folder / "Pipfile", _toml
        yield folder / "pixi.toml", _toml
        yield folder / "setup.cfg", _setup_cfg
        yield folder / "setup.py", _setup_py
        listed = [path for end in _LISTS for path in folder.glob(f"*requirements*{end}")]
        listed += [path for end in _LISTS for path in (folder / "requirements").glob(f"*{end}")]
        for path in sorted(dict.fromkeys(listed)):
            yield path, _requirements
        for path in sorted(path for end in ("yml", "yaml") for path in folder.glob(f"*env*.{end}")):
            yield path, _environment


def _read(path: Path, display: str) -> SourceFile | None:
    try:
        data = read_regular(path, MAX_SETTINGS)
        bom = data.startswith(_UTF8_BOM)
        text = data[len(_UTF8_BOM) if bom else 0 :].decode("utf-8")
    except (OSError, ValueError):
        return None
    return SourceFile(path, display, text, "utf-8", bom, hashlib.sha256(data).hexdigest())


def pin_package(text: str) -> str:
    """The package at the start of a requirement line; "" if there is none."""
    match = re.match(r"\W*([A-Za-z][\w.-]*)", text)
    return re.sub(r"[-_.]+", "-", match[1]).lower() if match is not None else ""


def raised_clauses(clauses: str, aim: Aim) -> str:
    """The clauses of a requirement, raised to the target; unchanged if they already fit."""
    try:
        known = parse_range(clauses.strip().strip(","))
    except VersionError:
        return clauses
    newest = parse_version(aim.newest)
    fits = known.low is not None and known.low >= aim.lowest and known.reaches(newest) and known.low <= newest
    if fits or (known.low is None and known.high is None):
        return clauses
    parts = [part.strip() for part in clauses.strip().strip(",").split(",")]
    spaced = " " if re.match(r"\s*\W+\s", clauses) else ""
    if len(parts) == 1 and re.match(r"={2,3}\s*[\w.+!-]+$", parts[0]):
        return f"=={spaced}{aim.newest}"
    kept = [part for part in parts if _still_limits(part, aim)]
    return ",".join([f">={spaced}{aim.low}", *kept])


def _still_limits(clause: str, aim: Aim) -> bool:
    """Whether a clause excludes releases above the target and none within it."""
    if clause.startswith("!="):
        return parse_version(clause[2:]) > aim.lowest
    limit = parse_range(clause)
    return clause.startswith("<") and limit.reaches(parse_version(aim.newest))


def _aim_of(name: str, targets: Mapping[str, Aim]) -> Aim | None:
    package = re.sub(r"[-_.]+", "-", name).lower()
    if package in _FOLLOWS and _FOLLOWS[package] in targets:
        jax = targets[_FOLLOWS[package]]
        return Aim(package, _three(jax.low), _three(jax.newest))
    return targets.get(package)


def _three(version: str) -> str:
    return ".".join(version.split(".")[:3])


def _raised(text: str, targets: Mapping[str, Aim]) -> str | None:
    """A raised requirement; None if the text is not one, or is about a package without a target."""
    match = _REQUIREMENT.match(text) if len(text) <= _MAX_LINE else None
    aim = _aim_of(match["name"], targets) if match is not None else None
    if match is None or aim is None:
        return None
    return match["head"] + raised_clauses(match["clauses"], aim) + match["tail"]


def _of_poetry(name: str, value: str, targets: Mapping[str, Aim]) -> str | None:
    """The raised value of an entry in a table from names to versions: `^0.4.1`, `0.4.1`, `>=0.4`."""
    aim = _aim_of(name, targets)
    if aim is None or value.strip() in ("", "*"):
        return None
    stripped = value.strip()
    caret = re.fullmatch(r"[\^~]\s*(\d[\w.]*)", stripped)
    if caret is not None:
        low = parse_version(caret[1])
        return value if low >= aim.lowest else f">={aim.low}"
    if stripped[0].isdigit():
        return raised_clauses(f"=={stripped}", aim).removeprefix("==")
    return raised_clauses(value, aim)


def _toml(source: SourceFile, targets: Mapping[str, Aim]) -> tuple[str, list[Pin]]:
    """Raises strings that are requirements, anywhere, and entries of dependency tables."""
    found: list[Pin] = []
    section = ""
    lines = source.text.split("\n")
    for number, line in enumerate(lines):
        if line.lstrip().startswith("#") or len(line) > _MAX_LINE:
            continue
        heading = _SECTION.match(line)
        if heading is not None and not line.lstrip().startswith("[["):
            section = re.sub(r"[\"'\s]", "", heading[1])
        new, pins = _requoted(line, targets)
        entry = _ENTRY.match(line) if _TABLES.fullmatch(section) else None
        if entry is not None and (raised := _of_poetry(entry["name"], entry["value"], targets)) is not None:
            new = line[: entry.start("value")] + raised + line[entry.end("value") :]
            pins = [(f"{entry['name']} {entry['value']}", f"{entry['name']} {raised}")]
        if new != line:
            found += [Pin(source.display, number + 1, before, after) for before, after in pins]
            lines[number] = new
    text = "\n".join(lines)
    try:
        parse_toml(text.encode())
    except TomlError:
        return source.text, [Pin(pin.path, pin.line, pin.before, pin.before, _NO_TOML) for pin in found]
    return text, found


def _requoted(line: str, targets: Mapping[str, Aim]) -> tuple[str, list[tuple[str, str]]]:
    """A line with the requirements in its strings raised, with their old and new text."""
    pins: list[tuple[str, str]] = []

    def requoted(match: re.Match[str]) -> str:
        raised = _raised(match[2], targets)
        if raised is None or raised == match[2]:
            return match[0]
        pins.append((match[2], raised))
        return f"{match[1]}{raised}{match[1]}"

    return _QUOTED.sub(requoted, line), pins


def _setup_cfg(source: SourceFile, targets: Mapping[str, Aim]) -> tuple[str, list[Pin]]:
    found: list[Pin] = []
    lines = source.text.split("\n")
    section = ""
    for number, line in enumerate(lines):
        heading = _SECTION.match(line) if line[:1] == "[" else None
        if heading is not None:
            section = heading[1].strip()
        if not _OPTIONS.fullmatch(section) or line.lstrip().startswith(("#", ";")):
            continue
        key, equals, value = line.partition("=") if line[:1].strip() else ("", "", line)
        bare = value.strip()
        raised = _raised(bare, targets)
        if raised is not None and raised != bare:
            found.append(Pin(source.display, number + 1, bare, raised))
            lines[number] = key + equals + value.replace(bare, raised, 1)
    return "\n".join(lines), found


def _setup_py(source: SourceFile, targets: Mapping[str, Aim]) -> tuple[str, list[Pin]]:
    """Raises the literals in its lists, tuples and sets; strings that are built at run time are unchanged."""
    text = source.text
    if "setup" not in text or (worth_scanning(text) and nesting_problem(text) is not None):
        return text, []
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text, []
    lines = text.split("\n")
    found: list[Pin] = []
    literals = [
        item
        for node in ast.walk(tree)
        if isinstance(node, (ast.List, ast.Tuple, ast.Set))
        for item in node.elts
        if isinstance(item, ast.Constant) and isinstance(item.value, str)
    ]
    for item in sorted(literals, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        raised = _raised(str(item.value), targets)
        if raised is None or raised == item.value:
            continue
        line = lines[item.lineno - 1].encode()
        spelled = line[item.col_offset : item.end_col_offset].decode("utf-8", "replace")
        quoted = _QUOTED.fullmatch(spelled)
        if item.lineno != item.end_lineno or quoted is None or quoted[2] != item.value:
            problem = "not a plain string; raise it by hand"
            found.append(Pin(source.display, item.lineno, str(item.value), str(item.value), problem))
            continue
        new = f"{quoted[1]}{raised}{quoted[1]}".encode()
        lines[item.lineno - 1] = (line[: item.col_offset] + new + line[item.end_col_offset :]).decode()
        found.append(Pin(source.display, item.lineno, str(item.value), raised))
    return "\n".join(lines), found[::-1]


def _requirements(source: SourceFile, targets: Mapping[str, Aim]) -> tuple[str, list[Pin]]:
    found: list[Pin] = []
    lines = source.text.split("\n")
    for number, line in enumerate(lines):
        ending = "\r" if line.endswith("\r") else ""
        body = line.removesuffix("\r")
        raised = _raised(body, targets)
        if raised is None or raised == body:
            continue
        hashed = "--hash" in body or (
            body.rstrip().endswith("\\") and "--hash" in "".join(lines[number + 1 : number + 2])
        )
        if hashed:
            problem = "pinned with hashes; compile the file again"
            found.append(Pin(source.display, number + 1, body.rstrip("\\ "), body.rstrip("\\ "), problem))
            continue
        lines[number] = raised + ending
        found.append(Pin(source.display, number + 1, body.strip(), raised.strip()))
    return "\n".join(lines), found


def _environment(source: SourceFile, targets: Mapping[str, Aim]) -> tuple[str, list[Pin]]:
    """A conda environment. Requirements below `pip:` are raised. The limits of conda's own packages are only
    reported, since conda's channels have their own releases.
    """
    found: list[Pin] = []
    lines = source.text.split("\n")
    below = -1  # the indentation of `- pip:`, while its list lasts
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip(" "))
        if line.strip() and below >= 0 and (indent < below or (indent == below and _ITEM.match(line))):
            below = -1
        if _PIP.match(line):
            below = indent
        elif below >= 0:
            lines[number], pin = _of_pip(line, targets)
            found += [Pin(source.display, number + 1, *pin)] if pin is not None else []
        else:
            left = _of_conda(line, targets)
            found += [Pin(source.display, number + 1, *left)] if left is not None else []
    return "\n".join(lines), found


def _of_pip(line: str, targets: Mapping[str, Aim]) -> tuple[str, tuple[str, str] | None]:
    """An entry of the list below `pip:`, raised."""
    item = _ITEM.match(line[:_MAX_LINE])
    raised = _raised(item["rest"], targets) if item is not None else None
    if item is None or raised is None or raised == item["rest"]:
        return line, None
    new = line[: item.start("rest")] + raised + line[item.end("rest") :]
    return new, (item["rest"].strip(), raised.strip())


def _of_conda(line: str, targets: Mapping[str, Aim]) -> tuple[str, str, str] | None:
    """An entry for conda that excludes the target: a person must change it."""
    match = _CONDA.match(line[:_MAX_LINE])
    aim = _aim_of(match["name"], targets) if match is not None else None
    if match is None or aim is None:
        return None
    asked = re.sub(r"[\"']$", "", match["limits"].rstrip())
    limits = re.sub(r"^=(?=\d)", "==", asked.partition("=py")[0].strip())
    if raised_clauses(limits, aim) == limits:
        return None
    said = f"{match['name']}{asked}"
    return said, said, f"an environment of conda; raise it by hand to {aim.low}"
