"""The files of a run: the paths that the user gave, and folders searched for Python."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint.source.file import SourceError
from jaxlint.source.patterns import PathPatterns, read_ignore_file

SETTINGS = "jaxlint.toml"  # of a project, or of a folder in it
# Marks of a project's top folder.
PROJECT_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git", SETTINGS)
# Folders of installed packages: other files there do not belong to a checked package's project.
INSTALLED = frozenset({"site-packages", "dist-packages"})

_SUFFIXES = (".py", ".ipynb")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to check: its absolute path, and the path as the user gave it."""

    path: Path
    display: str


@dataclass(frozen=True, slots=True)
class Search:
    """How folders are searched. `force_exclude` also applies `excludes` and .gitignore to paths given by name.
    `includes` are additional files besides Python and notebooks."""

    excludes: tuple[PathPatterns, ...] = ()
    includes: tuple[PathPatterns, ...] = ()
    respect_gitignore: bool = True
    force_exclude: bool = False


@dataclass(slots=True)
class Discovery:
    """The result: the files found, each once; paths that could not be read; and warnings."""

    files: list[FoundFile] = field(default_factory=list)
    errors: list[SourceError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def discover(paths: Iterable[str | os.PathLike[str]], search: Search) -> Discovery:
    """Finds the files behind `paths`: files themselves, folders by their Python files and notebooks, sorted by name.

    A missing path is an error, a folder without Python a warning. Symbolic links to folders are followed only when
    given by name, so a loop of links cannot trap the search.
    """
    found = Discovery()
    by_real_path: dict[str, FoundFile] = {}
    for given in paths:
        shown = os.fspath(given)
        path = os.path.abspath(shown)
        if os.path.isdir(path):
            walk = _Walk(search, path, shown)
            files = list(walk.files())
            found.errors += walk.errors
            if not files and not walk.errors and not walk.excluded:
                found.warnings.append(f"no Python files in {shown}")
        elif not os.path.lexists(path):
            found.errors.append(SourceError(shown, "no such file or folder; check the path"))
            continue
        elif search.force_exclude and _excluded_by_name(path, search):
            continue
        else:
            files = [FoundFile(Path(path), shown)]
        for file in files:
            # A link and its target are one file, and so is a file that was given twice.
            try:
                by_real_path.setdefault(os.path.realpath(file.path), file)
            except OSError as error:  # a link that may not be followed
                found.errors.append(
                    SourceError(file.display, f"cannot be read ({error.strerror}); exclude it")
                )
    found.files = list(by_real_path.values())
    return found


def _excluded_by_name(path: str, search: Search) -> bool:
    """Whether a path given by name is excluded, itself or through a folder above it."""
    if any(patterns.matches(path) for patterns in search.excludes):
        return True
    if not search.respect_gitignore:
        return False
    ignored = _gitignores_above(os.path.dirname(path))
    return _is_ignored(path, ignored, folder=False)


class _Walk:
    """One search through a folder given by name."""

    def __init__(self, search: Search, folder: str, shown: str) -> None:
        self.folder = folder
        self.shown = shown
        self.errors: list[SourceError] = []
        self.search = search
        self.ignores = _gitignores_above(folder) if search.respect_gitignore else []
        self.excludes: Sequence[PathPatterns] = search.excludes
        self.excluded = False
        if search.force_exclude:
            self.excluded = self._skips(folder, folder=True)
        else:
            # The user asked for this folder: patterns that exclude the folder itself do not count inside it, but
            # patterns without a slash ("node_modules") do.
            self.ignores = [one for one in self.ignores if not one.matches(folder, folder=True)]
            self.excludes = [
                one.moved(folder) if one.matches(folder, folder=True) else one for one in search.excludes
            ]

    def files(self) -> Iterator[FoundFile]:
        """The files, sorted by name. Pending folders are kept on an explicit stack: a clone may nest them beyond
        Python's recursion limit."""
        if self.excluded:
            return
        waiting = [self._search(self.folder, self.shown, self.ignores)]
        while waiting:
            found = next(waiting[-1], None)
            if found is None:
                waiting.pop()
            elif isinstance(found, FoundFile):
                yield found
            else:
                waiting.append(self._search(*found))

    def _search(
        self, folder: str, shown: str, ignores: list[PathPatterns]
    ) -> Iterator[FoundFile | tuple[str, str, list[PathPatterns]]]:
        """The files in a folder, with each subfolder in its place, as arguments for the next call."""
        try:
            with os.scandir(folder) as entries:
                listing = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self.errors.append(
                SourceError(shown, f"a folder that cannot be listed ({error.strerror}); exclude it")
            )
            return
        if self.search.respect_gitignore and folder != self.folder:
            ignores = ignores + _gitignore_of(folder, {entry.name for entry in listing})
        for entry in listing:
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not self._is_wanted(entry):
                continue
            if self._skips(entry.path, folder=is_folder, ignores=ignores):
                continue
            below = entry.name if shown in ("", ".") else os.path.join(shown, entry.name)
            if is_folder:
                yield entry.path, below, ignores
            elif _is_file(entry):
                yield FoundFile(Path(entry.path), below)

    def _is_wanted(self, entry: os.DirEntry[str]) -> bool:
        if entry.name.endswith(_SUFFIXES):
            return True
        return any(patterns.matches(entry.path) for patterns in self.search.includes)

    def _skips(self, path: str, *, folder: bool, ignores: list[PathPatterns] | None = None) -> bool:
        if any(patterns.matches(path, folder=folder) for patterns in self.excludes):
            return True
        return _is_ignored(path, self.ignores if ignores is None else ignores, folder=folder)


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether this is a file, also through a link. A dangling link, such as an editor's lock, is not."""
    try:
        return entry.is_file()
    except OSError:
        return False


def _is_ignored(path: str, ignores: Sequence[PathPatterns], *, folder: bool) -> bool:
    """Whether git ignores `path`: the innermost .gitignore with a matching pattern decides."""
    for patterns in reversed(ignores):
        decision = patterns.decide(path, folder=folder)
        if decision is not None:
            return decision
    return False


def _gitignores_above(folder: str) -> list[PathPatterns]:
    """The ignore files that apply in `folder`, from the top of its repository to the folder itself."""
    chain = [folder]
    while not os.path.lexists(os.path.join(chain[-1], ".git")):
        parent = os.path.dirname(chain[-1])
        if parent == chain[-1]:
            chain = [folder]  # without a repository: the folder's own file, like other tools
            break
        chain.append(parent)
    ignores = []
    exclude = read_ignore_file(os.path.join(chain[-1], ".git", "info"), "exclude")
    if exclude:
        ignores.append(exclude.moved(chain[-1]))
    for one in reversed(chain):
        ignores += _gitignore_of(one, {".gitignore"})
    return ignores


def _gitignore_of(folder: str, names: set[str]) -> list[PathPatterns]:
    patterns = read_ignore_file(folder) if ".gitignore" in names else None
    return [patterns] if patterns else []
