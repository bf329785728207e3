"""Caches the outcome of each part of a run, so that a changed file costs only the part that it lies in.

An outcome depends on the files of its part, which are all that imports reach, and on the names of all other files. A
rule may also search the text of all files, or read some of them: an entry lists each such pattern with the other files
that match, and each such file with its digest, and is used only while those are the same. Fixes depend on the whole
program and are worked out again.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from jaxlint.cache import Cache, dependency_digest, folders_of
from jaxlint.examine import Outcome
from jaxlint.rule import Rule
from jaxlint.source.file import SourceFile
from jaxlint.source.read import portable
from jaxlint.syntax.spelling import normalized

if TYPE_CHECKING:
    from jaxlint.staging.import_components import Shard


def can_be_cached_in_parts(rules: Iterable[type[Rule]]) -> bool:
    """Whether rules only ask questions about other files that an entry lists. Rules of other packages may read any file."""
    return all(rule.__module__.partition(".")[0] == "jaxlint_rules" for rule in rules)


class PartCache:
    """The entries of the parts of one run over `sources`, with `context` as the rest of their project."""

    def __init__(self, cache: Cache, sources: Sequence[SourceFile], context: Sequence[SourceFile]) -> None:
        self._cache = cache
        self._root = cache.config.root
        self._files = {source.path: source for source in (*context, *sources)}
        self._reported = {source.path for source in sources}
        self._folders = folders_of(self._files, self._root)
        self._matches: dict[tuple[str, int], list[str]] = {}

    @functools.cached_property
    def _surroundings(self) -> str:
        """A digest of the names of all files, and of the modules that imports can find."""
        files = [f"{path in self._reported} {portable(path, self._root)}" for path in self._files]
        folders = [
            f"{portable(folder, self._root)} {dependency_digest(folder)}" for folder in sorted(self._folders)
        ]
        return hashlib.sha256("\0".join(files + folders).encode("utf-8", "surrogatepass")).hexdigest()

    @functools.cached_property
    def _digests(self) -> dict[str, str]:
        """The digest of each file, by its name."""
        return {portable(path, self._root): file.digest for path, file in self._files.items()}

    def load(self, part: Shard) -> Outcome | None:
        """The outcome stored for the part, without fixes worked out, if it still holds."""
        found = self._cache.load(self._key(part), lambda stated: stated == self._elsewhere(part, stated))
        return Outcome(*found) if found is not None else None

    def store(self, part: Shard, outcome: Outcome) -> None:
        """Stores the outcome of a part."""
        if outcome.crashed or not self._cache.prepare():
            return
        loaded = {path: digest for path, digest in outcome.dependencies.items() if path not in self._files}
        folders = folders_of(loaded, self._root) - self._folders
        asked: dict[str, Any] = {
            "patterns": [[pattern, flags, []] for pattern, flags in sorted(outcome.patterns)],
            "files": {portable(path, self._root): "" for path in sorted(outcome.read_whole - part.paths)},
        }
        self._cache.store(
            self._key(part),
            (outcome.unresolved, outcome.errors),
            {**{folder: dependency_digest(folder) for folder in folders}, **loaded},
            self._elsewhere(part, asked),
        )

    def _key(self, part: Shard) -> str:
        files = [self._files[path] for path in sorted(part.paths) if path in self._files]
        return self._cache.key(files, resolved=False, also=("part", str(part.sharing), self._surroundings))

    def _elsewhere(self, part: Shard, asked: dict[str, Any]) -> dict[str, Any]:
        """The same questions about the files of other parts, with today's answers."""
        own = {portable(path, self._root) for path in part.paths}
        return {
            "patterns": [
                [pattern, flags, [name for name in self._matching(pattern, flags) if name not in own]]
                for pattern, flags, _ in asked["patterns"]
            ],
            "files": {name: self._digests.get(name, "") for name in asked["files"]},
        }

    def _matching(self, pattern: str, flags: int) -> list[str]:
        found = self._matches.get((pattern, flags))
        if found is None:
            searched = re.compile(pattern, flags)
            found = self._matches[pattern, flags] = sorted(
                portable(path, self._root)
                for path, file in self._files.items()
                if searched.search(normalized(file.text))
            )
        return found
