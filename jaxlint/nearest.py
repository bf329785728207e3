"""Which settings apply to which file: those of the nearest folder above it that has some.

A run starts with the settings above all of its paths. If a folder below has its own settings, they apply to its
files, as if it had been named alone. Options of the command line apply to all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from jaxlint.config import Config, settings_in
from jaxlint.source import SourceFile
from jaxlint.source.discovery import Discovery, FoundFile, discover


class Nearest:
    """The settings of files, for a run with `config`."""

    def __init__(self, config: Config) -> None:
        self.top = config.with_options(derive=None)
        self._derive = config.derive
        self._known: dict[Path, Config] = {}

    def of(self, path: Path) -> Config:
        """The settings of the file at the absolute `path`. Raises ConfigError."""
        return self._of(path.parent) if self._derive is not None else self.top

    def _of(self, folder: Path) -> Config:
        waiting = [folder]  # an explicit stack: a clone may nest folders beyond Python's recursion limit
        while waiting[-1] not in self._known:
            last = waiting[-1]
            if last in (self.top.root, last.parent):
                self._known[last] = self.top
            else:
                waiting.append(last.parent)
        for below in reversed(waiting[:-1]):
            self._known[below] = self._look(below, self._known[below.parent])
        return self._known[folder]

    def _look(self, folder: Path, above: Config) -> Config:
        assert self._derive is not None
        own = settings_in(folder)
        if own is None:
            return above
        derived = self._derive(own)
        return derived.with_options(derive=None, target_jax=derived.target_jax or above.target_jax)

    def discover(self, paths: Sequence[str | Path]) -> Discovery:
        """The files behind `paths`, found according to the settings of each folder."""
        found = discover(paths, self.top.search)
        if self._derive is None:
            return found
        below = {
            config.root: config for file in found.files if (config := self.of(file.path)) is not self.top
        }
        if not below:
            return found
        kept = [file for file in found.files if self.of(file.path) is self.top]
        given = [(os.fspath(path), Path(os.path.abspath(path))) for path in paths]
        for root, config in sorted(below.items()):
            named: list[str] = []
            for shown, path in given:
                if path.is_relative_to(root):
                    named.append(shown)
                elif root.is_relative_to(path):
                    inner = str(root.relative_to(path))
                    named.append(inner if shown in ("", ".") else os.path.join(shown, inner))
            again = discover(named, config.search)
            found.errors += [error for error in again.errors if str(error) not in map(str, found.errors)]
            kept += [file for file in again.files if self.of(file.path) is config]
        found.files = _in_order(kept, found.files)
        return found

    def groups(self, sources: Iterable[SourceFile]) -> list[tuple[Config, list[SourceFile]]]:
        """The files grouped by settings, those of the run itself first."""
        groups: dict[int, tuple[Config, list[SourceFile]]] = {}
        for source in sources:
            config = self.of(source.path)
            groups.setdefault(id(config), (config, []))[1].append(source)
        return sorted(groups.values(), key=lambda group: (group[0] is not self.top, group[0].root))


def _in_order(files: Iterable[FoundFile], as_in: Iterable[FoundFile]) -> list[FoundFile]:
    """Each file once, in the order of the first search."""
    places = {file.path: number for number, file in enumerate(as_in)}
    unique = {file.path: file for file in files}
    return sorted(unique.values(), key=lambda file: places.get(file.path, len(places)))
