"""The project model: its files, and the file that an import means."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from jaxlint.jaxapi.names import JAX_FAMILY
from jaxlint.source import SourceError, SourceFile
from jaxlint.source.discovery import INSTALLED, PROJECT_MARKERS, SETTINGS
from jaxlint.source.read import read_source, shown_path
from jaxlint.source.regular import MAX_SETTINGS, is_settings, read_regular
from jaxlint.staging.module import IMPORT, Module, imported_names, is_parsed
from jaxlint.syntax.spelling import normalized

_DEPTH_OF_NAMESPACES = 2  # nested folders without `__init__.py` that still belong to a package
_ELSEWHERE = sys.stdlib_module_names | {"numpy", "scipy", *JAX_FAMILY}
_BORROWED_FROM = sys.stdlib_module_names | {
    "jax",
    "jaxlib",
    "numpy",
    "scipy",
}  # packages whose private names other packages use
_FAMILY = re.compile(r"\b(?:" + "|".join(JAX_FAMILY) + r")\b")


class Project:
    """Finds modules by name. Files beyond the reported ones are read only when imported, as context."""

    def __init__(self, files: Iterable[SourceFile], read: Callable[[Path], SourceFile] | None = None) -> None:
        self.read = read or (lambda path: read_source(path, shown_path(path)))
        self.by_path: dict[Path, Module] = {}
        self.by_name: dict[str, Module | None] = {}
        self.context: dict[Path, str] = {}
        self.errors: list[SourceError] = []
        self._listings: dict[Path, frozenset[str]] = {}
        self._roots: dict[Path, tuple[Path, ...]] = {}
        self._packages: dict[Path, Path] = {}
        self._read_in_part: dict[Path, bool] = {}
        self._targets_below: dict[Path, frozenset[str]] = {}
        self._matching: dict[re.Pattern[str], list[Module]] = {}
        self._mentions: dict[tuple[re.Pattern[str], Path], tuple[bool, list[Module]]] = {}
        self._in_context: dict[tuple[re.Pattern[str], Path], bool] = {}
        self.read_whole: set[Path] = set()  # files that rules have read, whatever imports them
        self.targets = [self._add(source) for source in files]
        self.conftests = [module for module in self.targets if module.source.path.name == "conftest.py"]
        for module in self.targets:
            module.reported = True

    def add_context(self, sources: Iterable[SourceFile]) -> None:
        """Adds files that are not reported. They are evaluated only if a target depends on them."""
        for source in sources:
            if source.path not in self.by_path:
                self._add(source)
                self.context[source.path] = source.digest

    def packages_around(self, module: Module) -> list[Module]:
        """The reported packages that contain a module, the outermost first."""
        own = module.source.path.parent
        folder = own.parent if module.is_package else own
        found: list[Module] = []
        for above in (folder, *folder.parents):
            package = self.by_path.get(above / "__init__.py")
            if package is None or not package.reported:
                break
            found.append(package)
        return found[::-1]

    def importers(self, among: Collection[Path] | None = None) -> list[Module]:
        """Context modules that import a target, directly or indirectly, and so may call into it.

        The nearest come first, and programs before tests, since tests pass few of the arguments that a program
        passes. `among`: the only files to consider.
        """
        reached = {module.source.path for module in self.targets}
        users: dict[Path, list[Module]] = {}
        for path, module in list(self.by_path.items()):
            if path not in reached and (among is None or path in among):
                for imported in self.imports(module):
                    users.setdefault(imported.source.path, []).append(module)
        found: list[Module] = []
        ring = list(reached)
        while ring:
            outer: dict[Path, Module] = {}
            for path in ring:
                for user in users.get(path, ()):
                    if user.source.path not in reached:
                        outer[user.source.path] = user
            ring = sorted(outer)
            reached.update(ring)
            found += [outer[path] for path in ring]
        return sorted(found, key=lambda module: module.is_test)

    def imports(self, module: Module) -> list[Module]:
        """The project modules that a file imports."""
        return [
            found
            for level, name in module.asked
            if (found := self.find_imported(level, name, module)) is not None
        ]

    def find_imported(self, level: int, name: str, importer: Module) -> Module | None:
        """The project module that an import means, with `level` dots before the name."""
        if level:
            return self.find_relative(level, name, importer)
        return self.find(name, importer) if name else None

    def imported_folders(self, module: Module) -> set[Path]:
        """The folders without `__init__.py` that a file imports by name; it may use any file in them."""
        listings = [self._listing(root) for root in self.roots(module.source.path)]
        asked = {name for level, name in module.asked if not level and name}
        there = [name for name in asked if any(name.partition(".")[0] in listing for listing in listings)]
        folders = (self.folder_of(name, module) for name in there if self.find(name, module) is None)
        return {folder for folder in folders if folder is not None}

    def _add(self, source: SourceFile) -> Module:
        path = source.path
        name, package, is_package = self._name_of(path)
        module = Module(source, name, package, is_package)
        self.by_path[path] = module
        return module

    def _listing(self, folder: Path) -> frozenset[str]:
        found = self._listings.get(folder)
        if found is None:
            try:
                found = frozenset(os.listdir(folder))
            except OSError:
                found = frozenset()
            self._listings[folder] = found
        return found

    def _name_of(self, path: Path) -> tuple[str, str, bool]:
        """The dotted name, the package, and whether the file is an `__init__`, counted from the topmost folder with
        `__init__.py`."""
        parts = [] if path.stem == "__init__" else [path.stem]
        parts[:0] = path.parent.relative_to(self._above_packages(path.parent)).parts
        name = ".".join(parts) or path.stem
        is_package = path.stem == "__init__"
        return name, name if is_package else name.rpartition(".")[0], is_package

    def _above_packages(self, folder: Path) -> Path:
        """The folder that contains the outermost package around `folder`; `folder` itself if there is no package.

        A package may contain folders without `__init__.py`, whose files still belong to it.
        """
        found = self._packages.get(folder)
        if found is None:
            found = folder
            for current in (folder, *folder.parents[:_DEPTH_OF_NAMESPACES]):
                if "__init__.py" in self._listing(current) and current.name.isidentifier():
                    found = self._above_packages(current.parent)
                    break
                if not current.name.isidentifier() or any(
                    m in self._listing(current) for m in PROJECT_MARKERS
                ):
                    break
            self._packages[folder] = found
        return found

    def roots(self, path: Path) -> tuple[Path, ...]:
        """Folders where absolute imports of the file at `path` may start, the nearest first."""
        folder = path.parent
        found = self._roots.get(folder)
        if found is None:
            chain = [folder]
            current = folder
            own_settings: Path | None = None  # marks of a folder that is not the top if there is one above it
            while current.name not in INSTALLED and not any(
                marker in self._listing(current) for marker in PROJECT_MARKERS if marker != SETTINGS
            ):
                if own_settings is None and SETTINGS in self._listing(current):
                    own_settings = current
                if current.parent == current or len(chain) > 12:
                    if own_settings is not None:
                        chain = chain[: chain.index(own_settings) + 1]
                        break
                    # Without a project, imports reach no further than the folder above the outermost package.
                    top = self._above_packages(folder)
                    tests = [c for c in (top, *top.parents[:2]) if c.name in ("test", "tests")]
                    top = tests[-1].parent if tests else top  # tests import what lies beside their folder
                    chain = [c for c in chain if c.is_relative_to(top)]
                    break
                current = current.parent
                chain.append(current)
            top = chain[-1]
            extra = [top / "src"] if "src" in self._listing(top) else []
            found = self._roots[folder] = (*chain, *extra)
        return found

    def find(self, name: str, importer: Module) -> Module | None:
        """The project module called `name` (absolute), as seen from `importer`; None if it is not part of the
        project."""
        found = importer.found.get(name, importer)
        if found is importer:
            found = importer.found[name] = self._search(name, importer)
        return found

    def _search(self, name: str, importer: Module) -> Module | None:
        parts = name.split(".")
        for root in self.roots(importer.source.path):
            there = self._listing(root)
            if parts[0] not in there and f"{parts[0]}.py" not in there:
                continue
            if self._is_elsewhere(parts[0], root):
                continue
            module = self._at(root, parts)
            if module is not None and module is not importer:
                return module
        return None

    def _is_elsewhere(self, name: str, root: Path) -> bool:
        """Whether a top-level name means something other than the file of this name in the folder `root`."""
        if root.name in INSTALLED:
            return name not in self._checked(root)
        # A package's own `typing.py` or `jax` does not hide the installed one.
        return name in _ELSEWHERE and "__init__.py" in self._listing(root)

    def _checked(self, root: Path) -> frozenset[str]:
        """The reported packages and modules below a folder of installed packages."""
        found = self._targets_below.get(root)
        if found is None:
            below = [
                m.source.path.relative_to(root) for m in self.targets if m.source.path.is_relative_to(root)
            ]
            found = self._targets_below[root] = frozenset(path.parts[0].partition(".")[0] for path in below)
        return found

    def find_relative(self, level: int, name: str, importer: Module) -> Module | None:
        folder = importer.source.path.parent
        for _ in range(level - 1):
            folder = folder.parent
        return self._at(folder, name.split(".") if name else [])

    def _at(self, folder: Path, parts: list[str]) -> Module | None:
        for part in parts[:-1]:
            if part not in self._listing(folder):
                return None
            folder = folder / part
        if parts:
            last = parts[-1]
            listing = self._listing(folder)
            if last in listing and "__init__.py" in self._listing(folder / last):
                return self._load(folder / last / "__init__.py")
            if f"{last}.py" in listing:
                return self._load(folder / f"{last}.py")
            return None
        return self._load(folder / "__init__.py") if "__init__.py" in self._listing(folder) else None

    def is_folder(self, name: str, importer: Module) -> bool:
        """Whether `name` is a namespace package of the project: a folder without `__init__.py`."""
        return self.folder_of(name, importer) is not None

    def folder_of(self, name: str, importer: Module) -> Path | None:
        """The folder of the namespace package `name`; None if it is not one."""
        for root in self.roots(importer.source.path):
            folder = root
            if self._is_elsewhere(name.partition(".")[0], root):
                continue
            for part in name.split("."):
                if part not in self._listing(folder):
                    break
                folder = folder / part
            else:
                if self._listing(folder):
                    return folder
        return None

    def _load(self, path: Path) -> Module | None:
        module = self.by_path.get(path)
        if module is not None:
            return module
        try:
            source = self.read(path)
            self.context[path] = source.digest
            module = self._add(source)
            _ = module.tree
        except SourceError:
            # An unreadable context file counts as absent; an unreadable target is reported.
            self.context[path] = ""
            return None
        return module

    def top(self, module: Module) -> Path:
        """The folder of the module's project."""
        return min(self.roots(module.source.path), key=lambda root: len(root.parts))

    def is_read_in_part(self, module: Module) -> bool:
        """Whether other files of the file's package were not read. What they define is then unknown, not absent."""
        path = module.source.path
        known = self._read_in_part.get(path)
        if known is None:
            beside = self._listing(path.parent)
            unread = "__init__.py" in beside and any(
                name.endswith(".py") and path.parent / name not in self.by_path for name in beside
            )
            known = self._read_in_part[path] = unread or any(
                self._names_unread(match[1], module) for match in IMPORT.finditer(module.spelled) if match[1]
            )
        return known

    def _names_unread(self, source: str, module: Module) -> bool:
        """Whether `from source import` names a missing part of the file's own package: by a relative or a private
        name."""
        base = source.lstrip(".")
        if source.startswith("."):
            folder = module.source.path.parents[len(source) - len(base) - 1]
            listed = self._listing(folder)
            first = base.partition(".")[0]
            return (
                first not in listed and f"{first}.py" not in listed if base else "__init__.py" not in listed
            )
        top, _, rest = base.partition(".")
        private = any(part.startswith("_") for part in rest.split("."))
        return private and top not in _BORROWED_FROM and self.find(base, module) is None

    @property
    def patterns(self) -> set[re.Pattern[str]]:
        """The patterns that were searched for in files beyond the imports of the file at hand."""
        return {*self._matching, *(one for one, _ in self._mentions), *(one for one, _ in self._in_context)}

    def files_with(self, *words: str) -> list[Module]:
        """The reported files that are valid Python and contain all of these words, for a search through their trees."""
        everywhere = re.compile(r"\A" + "".join(rf"(?=.*?{re.escape(word)})" for word in words), re.DOTALL)
        found = [module for module in self.matching(everywhere) if is_parsed(module)]
        self.read_whole.update(module.source.path for module in found)
        return found

    def in_context(self, pattern: re.Pattern[str], top: Path) -> bool:
        """Whether a file below `top` that is not reported matches."""
        found = self._in_context.get((pattern, top))
        if found is None:
            found = self._in_context[pattern, top] = any(
                pattern.search(other.spelled)
                for path, other in self.by_path.items()
                if not other.reported and path.is_relative_to(top)
            )
        return found

    def matching(self, pattern: re.Pattern[str]) -> list[Module]:
        """The reported files whose text matches."""
        found = self._matching.get(pattern)
        if found is None:
            found = [module for module in self.targets if pattern.search(module.spelled)]
            self._matching[pattern] = found
        return found

    def mentions(self, pattern: re.Pattern[str], module: Module) -> bool:
        """Whether an option may be set anywhere: in the module's project, in a settings file beside it, or in what
        the module imports."""
        if self.is_read_in_part(module):
            return True
        by_settings, mentioning = self._mentioned(pattern, module)
        return bool(by_settings or mentioning) or self._imports_one(pattern, module)

    def runs_with(self, pattern: re.Pattern[str], module: Module) -> bool:
        """The same for an option of one process: another program of the project sets none for a program by itself."""
        if not self.mentions(pattern, module):
            return False  # as in most projects, where nobody need know what imports what
        if self.is_read_in_part(module) or not self.is_program(module):
            return True
        by_settings, mentioning = self._mentioned(pattern, module)
        name = module.source.path.name  # of a program that another one starts
        started = any(other is module or name in other.spelled for other in mentioning)
        return by_settings or started or self._imports_one(pattern, module)

    def _mentioned(self, pattern: re.Pattern[str], module: Module) -> tuple[bool, list[Module]]:
        """Whether a settings file of the module's project mentions it, and the files that do."""
        top = self.top(module)
        key = (pattern, top)
        if key not in self._mentions:
            settings = (self._settings_text(top / name) for name in self._listing(top) if is_settings(name))
            inside = [other for path, other in self.by_path.items() if path.is_relative_to(top)]
            self._mentions[key] = (
                any(map(pattern.search, settings)),
                [other for other in inside if pattern.search(other.spelled)],
            )
        return self._mentions[key]

    def _imports_one(self, pattern: re.Pattern[str], module: Module) -> bool:
        return any(pattern.search(other.spelled) for other in self.imported_by(module))

    def is_program(self, module: Module) -> bool:
        """Whether a file is a program by itself: it is in no package, no test, and nothing imports it, also by a path that only
        the program sets (`from models.net import Net`, in a folder beside `models`)."""
        path = module.source.path
        if module.is_test or "__init__.py" in self._listing(path.parent):
            return False
        if path in self._imported[0] or not self._imported[1].isdisjoint(path.parents):
            return False
        parts = path.with_suffix("").parts
        return not any(parts[-len(name) :] == name for name in self._unresolved.get(path.stem, ()))

    @functools.cached_property
    def _imported(self) -> tuple[set[Path], set[Path]]:
        """The files that others import, and the folders from which they may import any file."""
        modules = list(self.by_path.values())
        files = {found.source.path for one in modules for found in self.imports(one) if found is not one}
        return files, {folder for one in modules for folder in self.imported_folders(one)}

    @functools.cached_property
    def _unresolved(self) -> dict[str, set[tuple[str, ...]]]:
        """The parts of names that files import and that no root of a file leads to, by their last part."""
        found: dict[str, set[tuple[str, ...]]] = {}
        for one in self.by_path.values():
            for level, name in one.asked:
                parts = tuple(name.split("."))
                if not level and name and parts[-1] in self._stems and self.find(name, one) is None:
                    found.setdefault(parts[-1], set()).add(parts)
        return found

    @functools.cached_property
    def _stems(self) -> set[str]:
        return {path.stem for path in self.by_path}

    def imported_by(self, module: Module) -> Iterator[Module]:
        """The project files that a module imports, directly or indirectly."""
        seen = {module.source.path}
        stack = [module]
        while stack:
            for other in self.imports(stack.pop()):
                if other.source.path not in seen:
                    seen.add(other.source.path)
                    stack.append(other)
                    yield other

    def _settings_text(self, path: Path) -> str:
        try:
            data = read_regular(path, MAX_SETTINGS)
        except OSError:
            return ""
        self.context[path] = hashlib.sha256(data).hexdigest()
        return data.decode("utf-8", "replace")

    def reads_alike(self, module: Module, source: SourceFile) -> bool:
        """Whether another text of a file gives the same answers to all questions asked about its text so far."""
        old, new = module.spelled, normalized(source.text)
        patterns = {_FAMILY, *self.patterns}
        return list(imported_names(new)) == module.asked and all(
            bool(pattern.search(old)) == bool(pattern.search(new)) for pattern in patterns
        )

    @functools.cached_property
    def _reach(self) -> dict[Path, bool]:
        return {}

    def reaches_jax(self, module: Module) -> bool:
        """Whether the file imports JAX or a library built on it, directly or through project files."""
        stack = [module]
        through: dict[Path, Path | None] = {module.source.path: None}  # the file that imported it first
        while stack:
            current = stack.pop()
            path = current.source.path
            known = self._reach.get(path)
            if known or _FAMILY.search(current.spelled):
                link: Path | None = path
                while link is not None:
                    self._reach[link] = True
                    link = through[link]
                return True
            if known is False:
                continue
            for found in self.imports(current):
                if found.source.path not in through:
                    through[found.source.path] = path
                    stack.append(found)
        for path in through:
            self._reach[path] = False
        return False


def settings_stamp(top: Path) -> tuple[tuple[str, int, int], ...]:
    """A value that changes when a settings file in the project's folder changes."""
    stamps = []
    with contextlib.suppress(OSError):
        for name in sorted(filter(is_settings, os.listdir(top))):
            state = (top / name).stat()
            stamps.append((name, state.st_mtime_ns, state.st_size))
    return tuple(stamps)
