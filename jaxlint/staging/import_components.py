"""Shards of a run: groups of files that no import connects, directly or indirectly.

Each shard is evaluated separately, so that shards can run in parallel and one's memory is free before the next
begins. The division depends on the files alone, never on the number of processes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jaxlint.staging.module import Module
from jaxlint.staging.project import Project

SHARD_LINES = 6_000  # about half a second of work; smaller shards are merged


@dataclass(frozen=True, slots=True)
class Shard:
    """Files that are evaluated together, context files among them.

    `lines` is the amount of code to evaluate. `sharing` is the number of shards that share the steps for context
    files.
    """

    paths: frozenset[Path]
    lines: int
    sharing: int = 1


def shards_of(project: Project) -> list[Shard]:
    """The shards of the reported files, in the order of the first file of each; one shard if all files are connected."""
    lines = {
        module: module.source.text.count("\n")
        for module in project.targets
        if project.reaches_jax(module)  # the other files are parsed alone
    }
    parts: list[list[Module]] = []
    small: list[Module] | None = None
    weight = 0
    for modules in _components(project):
        size = sum(lines.get(module, 0) for module in modules)
        if size >= SHARD_LINES:
            parts.append(modules)
            continue
        if small is None or weight >= SHARD_LINES:
            small, weight = [], 0
            parts.append(small)
        small += modules
        weight += size
    sharing = sum(not all(module.reported for module in modules) for modules in parts)
    return [
        Shard(
            frozenset(module.source.path for module in modules),
            sum(lines.get(module, 0) for module in modules),
            max(1, sharing),
        )
        for modules in parts
    ]


def _components(project: Project) -> list[list[Module]]:
    """The files that imports connect, in either direction. Groups without a reported file are left out."""
    groups = _Groups()
    folders: set[Path] = set()  # imports that may mean any file of the folder
    for module in list(project.by_path.values()):
        for other in _connected(project, module):
            groups.join(other, module)
        for folder in project.imported_folders(module):
            folders.add(folder)
            groups.join(folder, module)
    for path, module in project.by_path.items() if folders else ():
        for folder in folders.intersection(path.parents):
            groups.join(module, folder)
    found: dict[object, list[Module]] = {}
    for module in sorted(project.targets, key=lambda one: one.display):
        found.setdefault(groups.of(module), [])
    for module in project.by_path.values():
        if (group := groups.of(module)) in found:
            found[group].append(module)
    return list(found.values())


def _connected(project: Project, module: Module) -> Iterator[Module]:
    """The files that the evaluation of a module may read directly."""
    yield from project.imports(module)
    folder = module.source.path.parent
    for above in (folder, *folder.parents):  # an import also imports the enclosing packages
        package = project.by_path.get(above / "__init__.py")
        if package is None:
            break
        yield package
    if module.is_test:
        above_it = {folder, *folder.parents}
        yield from (conftest for conftest in project.conftests if conftest.source.path.parent in above_it)


class _Groups:
    """Groups of connected modules and folders (union-find)."""

    def __init__(self) -> None:
        self._above: dict[object, object] = {}

    def of(self, one: object) -> object:
        """The representative of the group of `one`."""
        above = self._above.get(one, one)
        while above is not one:
            self._above[one] = further = self._above.get(above, above)
            one, above = above, further
        return one

    def join(self, one: object, other: object) -> None:
        self._above[self.of(one)] = self.of(other)
