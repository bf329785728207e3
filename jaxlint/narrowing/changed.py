"""Finds the lines that changed since a revision, so that findings on other lines can be left out.

git only provides the contents of the revision; the comparison happens here. So no filter, hook or driver of a
repository runs, a file unknown to git counts as changed from first to last line, and the cells of a notebook are
compared as code.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxlint.config import ConfigError
from jaxlint.finding import Finding
from jaxlint.narrowing.line_diff import new_lines
from jaxlint.source.file import SourceError, SourceFile
from jaxlint.source.git import MOST, NoFile, TooMuch, run_git
from jaxlint.source.read import source_from_bytes
from jaxlint.source.regular import MAX_SOURCE
from jaxlint.syntax.parse import split_lines

_ALIKE = 0.5  # share of equal lines from which on a deleted file counts as the old version of a new one
_MOST_GONE = 200  # files that are compared for that
_MOST_COMPARED = 10_000_000  # lines of new files that are; files after these count as new


@dataclass(frozen=True, slots=True)
class Revision:
    """The contents of a revision: object names by path from the top of the working tree."""

    name: str
    top: str
    blobs: Mapping[str, str]

    @staticmethod
    def of(name: str, folder: Path) -> Revision:
        """The revision `name` of the repository around `folder`; `name...` is its merge base with HEAD. Raises
        ConfigError."""
        if name.startswith("-") or not name.strip("."):
            raise ConfigError(f"--diff: {name!r} is not a revision; name a branch, a tag or a commit")
        top = os.fsdecode(_ask(folder, "rev-parse", "--show-toplevel").rstrip(b"\n"))
        if not top:
            raise ConfigError(f"{folder}: a repository without a working tree; --diff needs one")
        start = name.removesuffix("...")
        commit = _commit(folder, start)
        if start != name:
            base = _ask(folder, "merge-base", commit, _commit(folder, "HEAD"), may_fail=True)
            if not base:
                raise ConfigError(
                    f"--diff: {start!r} and HEAD have no commit in common; fetch more of the history"
                )
            commit = base.decode().split()[0]
        blobs = {}
        for record in _ask(folder, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
            facts, _, path = record.partition(b"\t")
            if facts.startswith(b"100"):  # not a link or submodule
                blobs[os.fsdecode(path)] = facts.split()[2].decode()
        return Revision(name, os.path.realpath(top), blobs)

    def on_changed_lines(
        self, findings: Sequence[Finding], sources: Mapping[str, SourceFile]
    ) -> list[Finding]:
        """The findings, with places that count in the module, that touch a changed line."""
        concerned = {one.path: sources[one.path] for one in findings if one.path in sources}
        before = self._before(concerned)
        changed = {path: changed_lines(before[path], source.text) for path, source in concerned.items()}
        return [
            one
            for one in findings
            if one.path not in changed
            or not changed[one.path].isdisjoint(range(one.span.line, one.span.end_line + 1))
        ]

    def _before(self, sources: Mapping[str, SourceFile]) -> dict[str, str | None]:
        """The old module of each file; None for a file that is new or was unreadable then."""
        names = {path: self._name(source.path) for path, source in sources.items()}
        new = [path for path, name in names.items() if name is not None and name not in self.blobs]
        gone = (
            [name for name in self.blobs if not os.path.lexists(os.path.join(self.top, name))] if new else []
        )
        gone = [name for name in gone if Path(name).suffix in {sources[path].path.suffix for path in new}]
        gone = gone[:_MOST_GONE]
        wanted = {self.blobs[name] for name in (*names.values(), *gone) if name and name in self.blobs}
        contents = self._contents(sorted(wanted))

        def module(name: str | None, source: SourceFile) -> str | None:
            data = contents.get(self.blobs.get(name or "", ""))
            try:
                return None if data is None else source_from_bytes(data, source.path, source.display).text
            except SourceError:
                return None

        found = {path: module(names[path], source) for path, source in sources.items()}
        by_suffix: dict[str, _Gone] = {}
        for path in new:
            source = sources[path]
            suffix = source.path.suffix
            if suffix not in by_suffix:
                texts = [module(name, source) for name in gone if Path(name).suffix == suffix]
                by_suffix[suffix] = _Gone([one for one in texts if one])
            found[path] = by_suffix[suffix].former(source.text)
        return found

    def _name(self, path: Path) -> str | None:
        """A path in git's form; None outside the working tree."""
        real = os.path.realpath(path)
        return (
            os.path.relpath(real, self.top).replace(os.sep, "/")
            if Path(real).is_relative_to(self.top)
            else None
        )

    def _contents(self, blobs: Iterable[str]) -> dict[str, bytes]:
        asked = self._small(list(blobs))
        if not asked:
            return {}
        answer = _ask(Path(self.top), "cat-file", "--batch", given=_lines(asked))
        found: dict[str, bytes] = {}
        at = 0
        for blob in asked:
            end = answer.index(b"\n", at)
            facts = answer[at:end].split()
            at = end + 1
            if facts[-1] != b"missing":
                size = int(facts[2])
                found[blob] = answer[at : at + size]
                at += size + 1
        return found

    def _small(self, blobs: Sequence[str]) -> list[str]:
        """Those that can be read at once; a file beyond that counts as new. A packed file may be a thousand times as
        large as what was cloned."""
        if not blobs:
            return []
        facts = _ask(Path(self.top), "cat-file", "--batch-check", given=_lines(blobs)).split(b"\n")
        room, found = MOST, []
        for blob, line in zip(blobs, facts, strict=False):
            size = line.rpartition(b" ")[2]
            needed = int(size) + len(line) + 2 if size.isdigit() else 0
            if 0 < needed <= min(room, MAX_SOURCE):
                room -= needed
                found.append(blob)
        return found


def changed_lines(before: str | None, after: str) -> frozenset[int]:
    """The 1-based lines of `after` that are new or changed; all of them if there is no `before`."""
    new = split_lines(after)
    if before is None:
        return frozenset(range(1, len(new) + 1))
    return frozenset(line + 1 for line in new_lines(split_lines(before), new))


@dataclass(slots=True)
class _Gone:
    """The deleted files, one of which may be the old version of a new one."""

    texts: Sequence[str]
    _lines: list[Counter[str]] | None = None
    _left: int = _MOST_COMPARED

    def former(self, text: str) -> str | None:
        """The text most similar to `text`, if it is similar enough for a renamed file."""
        if self._lines is None:
            self._lines = [_counted(one) for one in self.texts]
        lines = _counted(text)

        def alike(number: int) -> float:
            others = self._lines[number] if self._lines else Counter[str]()
            most = max(lines.total(), others.total(), 1)
            if min(lines.total(), others.total()) < _ALIKE * most or self._left < 0:
                return 0.0
            self._left -= len(lines)
            return (lines & others).total() / most

        best = max(range(len(self.texts)), key=alike, default=None)
        return self.texts[best] if best is not None and alike(best) >= _ALIKE else None


def _counted(text: str) -> Counter[str]:
    return Counter(line for line in split_lines(text) if line.strip())


def _lines(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()


def _commit(folder: Path, name: str) -> str:
    found = (
        _ask(folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", may_fail=True).decode().strip()
    )
    if not found:
        raise ConfigError(
            f"--diff: there is no revision {name!r}; fetch it, or name a branch, a tag or a commit"
        )
    return found


def _ask(folder: Path, *arguments: str, may_fail: bool = False, given: bytes = b"") -> bytes:
    """The output of git. Raises ConfigError with its error message."""
    try:
        done = run_git(str(folder), *arguments, given=given)
    except TooMuch as error:
        raise ConfigError(f"--diff: {error}; name a revision with fewer files") from None
    except NoFile as error:
        raise ConfigError(f"--diff: {error}, so git would wait for it") from None
    except subprocess.TimeoutExpired as error:
        raise ConfigError(f"--diff: git did not answer within {error.timeout:g} s") from None
    except (OSError, subprocess.SubprocessError) as error:
        raise ConfigError(f"--diff: git cannot be run: {error}") from None
    if done is None:
        raise ConfigError("--diff needs git, which is not installed")
    if done.returncode and not may_fail:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        if "not a git repository" in said[0]:
            raise ConfigError(f"{folder}: not in a git repository; --diff needs one")
        raise ConfigError(f"--diff: git says: {said[0].removeprefix('fatal: ')}")
    return b"" if done.returncode else done.stdout
