"""Caches the findings of a run, so that an unchanged project only costs the hashing of its files.

The key covers the content of every reported file, the settings, and the sources of the engine and of the rules. An
entry also lists the other files that the analysis read, and is used only while those are unchanged. Paths of the
project are relative to it, so that its cache is good wherever a copy of it lies. A cloned
repository may bring a cache along, and an entry with "no findings" would hide them: so each entry is signed with a
secret of the user, and unsigned or damaged entries are ignored (`jaxlint.signed_entries`).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from jaxlint.cache_folder import cache_folder, refusal
from jaxlint.config import Config, ConfigError
from jaxlint.finding import Edit, Finding, Fix, FixRequest, Safety, Severity, Span, Step
from jaxlint.registry import packs
from jaxlint.signed_entries import SignedEntries
from jaxlint.source.file import SourceError, SourceFile
from jaxlint.source.read import portable
from jaxlint.source.regular import MAX_SOURCE, is_settings, read_regular
from jaxlint.specimens import FOLDER as SPECIMENS

FORMAT = 4
MAX_ENTRIES = 128
MAX_BYTES = 64 << 20

Outcome = tuple[list[Finding], list[SourceError]]


class Cache:
    """The entries of one project. A failure of the file system means "not cached", never an error.

    `refused` says why the folder is not used, if so. Raises ConfigError if the user chose that folder.
    """

    def __init__(self, config: Config) -> None:
        self.folder = cache_folder(config)
        self._entries = SignedEntries(self.folder)
        self.config = config
        self.refused = refusal(config)
        if self.refused is not None and config.cache_dir is not None:
            named = "" if config.cache_dir_given or config.source is None else f"{config.source}: cache-dir "
            raise ConfigError(f"{named}{self.refused}")

    def key(self, files: Iterable[SourceFile], *, resolved: bool, also: Iterable[str] = ()) -> str:
        """The name of the entry for a run over `files`. `resolved`: fixes are turned into edits. `also`:
        other inputs that decide the outcome.
        """
        digest = hashlib.sha256()
        parts = [str(FORMAT), tools_digest(), self.config.fingerprint(), str(resolved), *also]
        root = self.config.root
        if (root / "__init__.py").exists():  # its modules are named after the folders that it lies in
            parts.append(str(root))
        for file in files:
            parts += [portable(file.path, root), file.display, file.digest]
        for part in parts:
            digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
        return digest.hexdigest()

    def load(self, key: str, holds: Callable[[Any], bool] | None = None) -> Outcome | None:
        """The outcome stored under `key`, if everything that it depends on is unchanged. `holds`: checks what
        the entry states about other files.
        """
        if self.refused is not None:
            return None
        entry = self._entries.read(key, MAX_BYTES)
        if entry is None:
            return None
        try:
            root, dependencies = self.config.root, entry["dependencies"]
            if any(dependency_digest(root / path) != known for path, known in dependencies.items()):
                return None
            if holds is not None and not holds(entry["stated"]):
                return None
            outcome = (
                [_decode_finding(item) for item in entry["findings"]],
                [SourceError(str(item[0]), str(item[1]), item[2]) for item in entry["errors"]],
            )
        except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
            return None
        self._entries.used(key)
        return outcome

    def store(
        self, key: str, outcome: Outcome, dependencies: Mapping[Path, str], stated: object = None
    ) -> None:
        """Stores the outcome, and the statements about other files (`stated`) that it relies on."""
        findings, errors = outcome
        try:
            entry = {
                "stated": stated,
                "dependencies": {
                    portable(path, self.config.root): digest for path, digest in dependencies.items()
                },
                "findings": [_encode_finding(finding) for finding in findings],
                "errors": [[error.path, error.message, error.line] for error in errors],
            }
        except (TypeError, ValueError):
            return  # a rule put data into it that JSON cannot represent
        if self.refused is None:
            self._entries.write(key, entry, MAX_ENTRIES, MAX_BYTES)

    def prepare(self) -> bool:
        """Creates the folder; returns False if that is impossible."""
        return self.refused is None and self._entries.prepare()


def dependency_digest(path: Path) -> str:
    """The recorded digest of a file or folder beyond the reported ones; "" if it cannot be read.

    For a folder it covers the names that an import could find there, so a new module is noticed.
    """
    try:
        return hashlib.sha256(read_regular(path, MAX_SOURCE)).hexdigest()
    except IsADirectoryError:
        with contextlib.suppress(OSError):
            return listing_digest(os.listdir(path))
        return ""
    except (OSError, ValueError):
        return ""


def listing_digest(names: Iterable[str]) -> str:
    """The digest of a folder with these entries: its modules, possible subfolders with modules, and files that may set
    options of JAX."""
    counting = sorted(
        name
        for name in names
        if name.endswith(".py") or is_settings(name) or ("." not in name and name != "__pycache__")
    )
    return hashlib.sha256("\0".join(counting).encode("utf-8", "surrogatepass")).hexdigest()


def folders_of(paths: Iterable[Path], root: Path) -> set[Path]:
    """The folders that imports of these files may search: their own, and those above up to `root`."""
    folders: set[Path] = set()
    for path in paths:
        folder = path.parent
        while folder not in folders:
            folders.add(folder)
            if folder == root or not folder.is_relative_to(root):
                break
            folder = folder.parent
    return folders


@functools.cache
def tools_digest() -> str:
    """The digest of everything that determines findings: this package, the rule packs, and the interpreter."""
    packages = {"jaxlint", *(entry.module.partition(".")[0] for entry in packs())}
    digest = hashlib.sha256(repr((sys.version_info, importlib.metadata.version("libcst"))).encode())
    for package in sorted(packages):
        _add_files(digest, package)
    return digest.hexdigest()


def files_digest(package: str) -> str:
    """The digest of the files of a package."""
    digest = hashlib.sha256()
    _add_files(digest, package)
    return digest.hexdigest()


def _add_files(digest: hashlib._Hash, package: str) -> None:
    files = _files_of(package)
    top = Path(os.path.commonpath([file.parent for file in files])) if files else Path()
    for path in files:
        name = f"{package}/{portable(path, top)}"
        digest.update(name.encode("utf-8", "surrogatepass") + b"\0" + path.read_bytes())


def _files_of(package: str) -> list[Path]:
    """The files of a package, located without importing it."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return []  # loading its rules will report it
    if spec is None:
        return []
    folders = list(spec.submodule_search_locations or [])
    if not folders:
        return [Path(spec.origin)] if spec.origin else []
    found = []
    for top in folders:
        for folder, below, names in os.walk(top):
            below[:] = [name for name in below if name not in ("__pycache__", SPECIMENS)]
            found += [Path(folder) / name for name in names if not name.endswith((".pyc", ".tmp"))]
    return sorted(found)


def _encode_finding(finding: Finding) -> dict[str, Any]:
    encoded: dict[str, Any] = {
        name: getattr(finding, name)
        for name in ("path", "code", "name", "category", "severity", "message", "reason", "function", "cell")
    }
    encoded["span"] = _encode_span(finding.span)
    encoded["data"] = _encode_value(dict(finding.data))
    encoded["fix"] = encode_fix(finding.fix)
    return encoded


def _decode_finding(item: Mapping[str, Any]) -> Finding:
    fields = dict(item)
    fields["span"] = Span(*fields["span"])
    fields["severity"] = Severity(fields["severity"])
    fields["data"] = _decode_value(fields["data"])
    fields["fix"] = decode_fix(fields["fix"])
    return Finding(**fields)


def _encode_span(span: Span) -> list[int]:
    return [span.line, span.column, span.end_line, span.end_column]


def encode_fix(fix: FixRequest | Fix | None) -> dict[str, Any] | None:
    """A fix as JSON data. Raises TypeError for parameters that JSON cannot represent."""
    if fix is None:
        return None
    encoded: dict[str, Any] = {"safety": fix.safety, "message": fix.message}
    if isinstance(fix, Fix):
        encoded["edits"] = [[edit.path, _encode_span(edit.span), edit.content] for edit in fix.edits]
    else:
        encoded["steps"] = [
            [step.codemod, step.path, _encode_span(step.span), _encode_value(dict(step.parameters))]
            for step in fix.steps
        ]
    return encoded


def decode_fix(item: Mapping[str, Any] | None) -> FixRequest | Fix | None:
    """The fix from its `encode_fix` form."""
    if item is None:
        return None
    safety, message = Safety(item["safety"]), item["message"]
    if "edits" in item:
        return Fix(
            safety, message, tuple(Edit(path, Span(*span), content) for path, span, content in item["edits"])
        )
    steps = tuple(
        Step(codemod, path, Span(*span), _decode_value(p)) for codemod, path, span, p in item["steps"]
    )
    return FixRequest(safety, message, steps)


# JSON has only lists and string keys: other data of rules is tagged, so that it is restored unchanged.
_TUPLE, _SET, _SPAN, _PAIRS = "!tuple", "!set", "!span", "!pairs"


def _encode_value(value: object) -> Any:
    if isinstance(value, Span):
        return {_SPAN: _encode_span(value)}
    if isinstance(value, tuple):
        return {_TUPLE: [_encode_value(item) for item in value]}
    if isinstance(value, (set, frozenset)):
        return {_SET: [_encode_value(item) for item in sorted(value, key=repr)]}
    if isinstance(value, list):
        return [_encode_value(item) for item in value]
    if isinstance(value, Mapping):
        if all(type(key) is str and not key.startswith("!") for key in value):
            return {key: _encode_value(item) for key, item in value.items()}
        return {_PAIRS: [[_encode_value(key), _encode_value(item)] for key, item in value.items()]}
    if value is None or type(value) in (str, int, float, bool):
        return value
    raise TypeError(f"{type(value).__name__} cannot be cached")


def _decode_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode_value(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        tag, items = next(iter(value.items()))
        if tag == _SPAN:
            return Span(*items)
        if tag == _TUPLE:
            return tuple(_decode_value(item) for item in items)
        if tag == _SET:
            return frozenset(_decode_value(item) for item in items)
        if tag == _PAIRS:
            return {_decode_value(key): _decode_value(item) for key, item in items}
    return {key: _decode_value(item) for key, item in value.items()}
