"""The user's files that a program may load, found before its run by following imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from jaxlint.config import load_config
from jaxlint.source import SourceError, read_source
from jaxlint.source.discovery import discover
from jaxlint.staging.module import Module
from jaxlint.staging.project import Project

_MOST = 600  # files: checking that many takes a few seconds


class TooMany(Exception):
    """There are too many files to check before the run; the message is their number."""


def program_files(kind: str, target: str, arguments: Sequence[str], roots: Sequence[Path]) -> list[str]:
    """Real paths of the program's first files and of their direct and indirect imports inside `roots`.

    Computed imports are not seen. Raises TooMany, and ConfigError for tests in a folder with bad settings.
    """
    waiting = list(_first_files(kind, target, arguments, roots))
    project = Project([])
    found: dict[Path, None] = {}
    while waiting:
        path = waiting.pop()
        if path in found or not any(path.is_relative_to(root) for root in roots) or _is_installed(path):
            continue
        module = _module(project, path)
        if module is None:
            continue
        found[path] = None
        if len(found) > _MOST:
            raise TooMany(str(len(found)))
        waiting += [other.source.path.resolve() for other in _imported(project, module)]
        waiting += [folder / "__init__.py" for folder in path.parents if (folder / "__init__.py").is_file()]
    return sorted(map(str, found))


def _first_files(kind: str, target: str, arguments: Sequence[str], roots: Sequence[Path]) -> Iterator[Path]:
    if kind == "script":
        path = Path(target).resolve()
        yield path / "__main__.py" if path.is_dir() else path
    elif kind == "module":
        for root in roots:
            for folder in (root, root / "src"):
                place = folder.joinpath(*target.split("."))
                for path in (place.with_name(place.name + ".py"), place / "__main__.py"):
                    if path.is_file():
                        yield path.resolve()
    else:
        named = [Path(argument.partition("::")[0]) for argument in arguments if not argument.startswith("-")]
        paths = [path for path in named if path.exists()] or [Path.cwd()]
        for file in discover(paths, load_config(paths).search).files:
            if file.path.name.startswith("test_") or file.path.stem.endswith("_test"):
                yield file.path.resolve()


def _is_installed(path: Path) -> bool:
    return not {"site-packages", "dist-packages"}.isdisjoint(path.parts)


def _module(project: Project, path: Path) -> Module | None:
    """The file as a module of the project; None if it cannot be read or parsed: running it will report why."""
    try:
        if path not in project.by_path:
            project.add_context([read_source(path, str(path))])
        module = project.by_path[path]
        _ = module.tree
    except SourceError:
        return None
    return module


def _imported(project: Project, module: Module) -> Iterator[Module]:
    for node in ast.walk(module.tree):
        names: list[tuple[int, str]] = []
        if isinstance(node, ast.Import):
            # `import a.b` also runs a, which the folders above b provide
            names = [(0, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            inner = [f"{base}.{alias.name}" if base else alias.name for alias in node.names]
            names = [(node.level, name) for name in ([base] if base or node.level else []) + inner]
        for level, name in names:
            found = project.find_relative(level, name, module) if level else project.find(name, module)
            if found is not None:
                yield found
