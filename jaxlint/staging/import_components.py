"""Shards of a run: parts that say nothing of each other: no import leads from one to the other, however indirectly.

Each is evaluated by itself, so that they can be so at the same time, and what was built for one is gone when the next
begins. How a run is divided depends on its files alone, never on the processes that there are for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jaxlint.staging.project import Module, Project

SHARD_LINES = 6_000  # about half a second of work: smaller parts are put together


@dataclass(frozen=True, slots=True)
class Shard:
    """Files that are evaluated together, context files among them.

    `lines` says how much there is to evaluate, `sharing` by how many parts the steps for context files are shared.
    """

    paths: frozenset[Path]
    lines: int
    sharing: int = 1


def shards_of(project: Project) -> list[Shard]:
    """The parts of the reported files, in the order of the first file of each; one where all belong together."""
    lines = {
        module: module.source.text.count("\n")
        for module in project.targets
        if project.reaches_jax(module)  # the others are parsed alone
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
    """The files that imports connect, in whatever direction; only what holds a reported file."""
    groups = _Groups()
    folders: set[Path] = set()  # of which any file may be asked for
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
    """The files that the evaluation of a module may ask for at once."""
    yield from project.imports(module)
    folder = module.source.path.parent
    for above in (folder, *folder.parents):  # the packages around it are imported with it
        package = project.by_path.get(above / "__init__.py")
        if package is None:
            break
        yield package
    if module.is_test:
        above_it = {folder, *folder.parents}
        yield from (conftest for conftest in project.conftests if conftest.source.path.parent in above_it)


class _Groups:
    """Sets of modules and folders; two that share one become one."""

    def __init__(self) -> None:
        self._above: dict[object, object] = {}

    def of(self, one: object) -> object:
        """What stands for the set of `one`."""
        above = self._above.get(one, one)
        while above is not one:
            self._above[one] = further = self._above.get(above, above)
            one, above = above, further
        return one

    def join(self, one: object, other: object) -> None:
        self._above[self.of(one)] = self.of(other)
