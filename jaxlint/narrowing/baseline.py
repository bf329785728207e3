"""A file of known findings, so that a project with many of them sees only new ones.

A finding is identified by its message and the text of its line, so it stays known when lines above it move. The file
has one line for each known finding, in a fixed order: two branches that both shrink it merge without a conflict. It
only shrinks: `Baseline.without` removes what is gone, and nothing here adds to an existing file.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from jaxlint.config import Config, ConfigError
from jaxlint.finding import Finding
from jaxlint.report.escaping import wellformed
from jaxlint.source.file import SourceFile
from jaxlint.source.read import shown_path
from jaxlint.source.regular import read_regular
from jaxlint.source.writable_files import in_version_control
from jaxlint.source.write import write_atomic
from jaxlint.syntax.parse import split_lines

DEFAULT_NAME = "jaxlint-baseline.jsonl"
_HEADER = {"jaxlint-baseline": 1}
_MAX_BYTES = 32 << 20
_MAX_TEXT = 200  # characters of a line


class Entry(NamedTuple):
    """One known finding. `path` is relative to the baseline's folder, with slashes; `text` is its first line, without
    indentation."""

    path: str
    code: str
    function: str
    text: str


# How similar an entry and a finding must be. The first match counts; the last level is for renamed files.
_TIERS: tuple[Callable[[Entry], tuple[str, ...]], ...] = (
    lambda entry: entry,
    lambda entry: (entry.path, entry.code, entry.text),
    lambda entry: (entry.code, entry.function, entry.text),
)


@dataclass(slots=True)
class Split:
    """The findings of a run, compared with a baseline. `kept` are the matched entries, with their present text."""

    new: list[Finding] = field(default_factory=list)
    known: list[Finding] = field(default_factory=list)
    kept: list[Entry] = field(default_factory=list)
    stale: list[Entry] = field(default_factory=list)  # without a match, though the run would have found them
    unseen: list[Entry] = field(default_factory=list)  # in files or rules that are not part of the run


@dataclass(frozen=True, slots=True)
class Baseline:
    """The known findings of the file at `path`."""

    path: Path
    entries: tuple[Entry, ...]

    def split(
        self,
        findings: Sequence[Finding],
        sources: Mapping[str, SourceFile],
        *,
        codes: frozenset[str] = frozenset(),
        unread: Iterable[str] = (),
        searched: Iterable[str | Path] = (),
    ) -> Split:
        """Separates new findings from known ones; an entry matches one finding.

        `sources` are the checked files by the path in their findings, whose places count in the module (before
        `places.shown`). `codes` are those of the rules that ran, `unread` the files that could not be checked
        completely, `searched` the paths of the run: only entries that the run could have matched are stale.
        """
        found = [entry_of(finding, sources, self.path.parent) for finding in findings]
        left = list(range(len(found)))
        open_entries = Counter(self.entries)
        met: set[int] = set()
        gone = {path for path in {entry.path for entry in self.entries} if not self._exists(path)}
        for number, key in enumerate(_TIERS):
            renamed = number == len(_TIERS) - 1
            waiting: dict[tuple[str, ...], list[Entry]] = {}
            for entry in sorted(open_entries.elements(), reverse=True):
                if not renamed or entry.path in gone:
                    waiting.setdefault(key(entry), []).append(entry)
            for index in left:
                candidates = waiting.get(key(found[index]))
                if candidates:
                    open_entries[candidates.pop()] -= 1
                    met.add(index)
            left = [index for index in left if index not in met]
        split = Split()
        for index, finding in enumerate(findings):
            (split.known if index in met else split.new).append(finding)
        split.kept = [found[index] for index in sorted(met)]
        examined = {_relative(source.path, self.path.parent) for source in sources.values()}
        examined -= {_relative(Path(os.path.abspath(path)), self.path.parent) for path in unread}
        everywhere = self._covered_by(searched)
        for entry in open_entries.elements():
            could = entry.code in codes and (entry.path in examined or (everywhere and entry.path in gone))
            (split.stale if could else split.unseen).append(entry)
        return split

    def _covered_by(self, searched: Iterable[str | Path]) -> bool:
        """Whether a run over these paths covers every file of the baseline, under whatever name it has now."""
        folders = [Path(os.path.abspath(path)) for path in searched if os.path.isdir(path)]
        paths = {Path(os.path.abspath(self.path.parent / entry.path)) for entry in self.entries}
        return any(all(path.is_relative_to(folder) for path in paths) for folder in folders)

    def _exists(self, path: str) -> bool:
        return os.path.lexists(self.path.parent / path)


def entry_of(finding: Finding, sources: Mapping[str, SourceFile], folder: Path) -> Entry:
    """The entry for a finding in a baseline in `folder`."""
    source = sources.get(finding.path)
    path = source.path if source is not None else Path(os.path.abspath(finding.path))
    lines = split_lines(source.text) if source is not None else []
    text = lines[finding.span.line - 1] if finding.span.line <= len(lines) else ""
    known = (
        _relative(path, folder),
        finding.code,
        finding.function or "",
        " ".join(text[: 4 * _MAX_TEXT].split())[:_MAX_TEXT],
    )
    return Entry(*(str(wellformed(part)) for part in known))


def entries_of(findings: Iterable[Finding], sources: Mapping[str, SourceFile], folder: Path) -> list[Entry]:
    """The entries of a new baseline in `folder`."""
    return sorted(entry_of(finding, sources, folder) for finding in findings)


def place_of(config: Config, given: Path | None = None) -> Path | None:
    """The path of a run's baseline: `given` on the command line, otherwise the one in the settings, inside their
    folder. Raises ConfigError."""
    if given is not None:
        return Path(os.path.abspath(given))
    if config.baseline is None:
        return None
    path = Path(os.path.abspath(config.root / config.baseline))
    inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(config.root))
    if not inside or not path.is_relative_to(os.path.abspath(config.root)) or in_version_control(path):
        raise ConfigError(
            f"{config.source}: baseline must name a file inside the project, not {config.baseline!r}"
        )
    return path


def read_baseline(path: Path) -> Baseline:
    """Raises a one-line ConfigError if the file is missing or is not a baseline."""
    shown = shown_path(path)
    try:
        text = read_regular(path, _MAX_BYTES).decode("utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{shown}: there is no such baseline; `jaxlint baseline` writes one") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{shown}: not a baseline: it is not UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{shown}: cannot be read ({error.strerror}); check the path") from None
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines or _record(lines[0][1]) != _HEADER:
        raise ConfigError(f"{shown}: not a baseline of jaxlint: its first line must be {json.dumps(_HEADER)}")
    entries = []
    for number, line in lines[1:]:
        if _is_marker(line):
            raise ConfigError(f"{shown}:{number}: a conflict marker; keep the lines of both sides")
        record = _record(line)
        if record == _HEADER:
            continue  # from a merge that kept both
        if set(record) != set(Entry._fields) or not all(isinstance(one, str) for one in record.values()):
            raise ConfigError(f"{shown}:{number}: not an entry of a baseline; restore the line or delete it")
        entries.append(Entry(**{name: str(value) for name, value in record.items()}))
    return Baseline(path, tuple(entries))


def write_baseline(path: Path, entries: Iterable[Entry]) -> None:
    """Replaces the file atomically. Raises SourceError."""
    records = [_HEADER, *(entry._asdict() for entry in sorted(entries))]
    lines = [json.dumps(wellformed(record), ensure_ascii=False) for record in records]
    write_atomic(path, ("\n".join(lines) + "\n").encode("utf-8"), display=shown_path(path))


def _record(line: str) -> dict[str, object]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _is_marker(line: str) -> bool:
    return line.startswith(("<<<<<<<", "=======", ">>>>>>>", "|||||||"))


def _relative(path: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive
        return path.as_posix()
