"""The files that a command may write to: sources of the project, and nothing else. Every write of a source is checked
here."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

from jaxlint.source.file import SourceError
from jaxlint.source.read import CONTAINERS

# Folders in which version control keeps files that it acts upon.
CONTROL_FOLDERS = frozenset({".git", ".hg", ".svn", ".jj", ".bzr", ".sl", "_darcs", ".pijul"})
_SOURCES = frozenset({".py", ".pyi", ".pyw"}) | CONTAINERS
_REQUIREMENTS = frozenset({"pyproject.toml", "setup.cfg", "setup.py", "Pipfile", "pixi.toml"})
_BARE = ("HEAD", "objects", "refs")  # a repository of git without a working tree
_OF_GIT = frozenset({"hooks", "info", "objects", "refs", "logs", "modules", "worktrees", "branches", "lfs", "rebase-merge"})  # fmt: skip


def target_of(path: Path, display: str, project: Path | None = None, *, requirements: bool = False) -> Path:
    """The file behind `path` and its links, if it may be written: a source, or with `requirements` a file with the
    project's requirements.

    `project` is the folder that links must not leave. A file outside it, or any file if there is none, must stay in
    its own folder. Raises SourceError.
    """
    given = Path(os.path.abspath(path))
    target = Path(os.path.realpath(given))
    inside = project is not None and given.is_relative_to(os.path.abspath(project))
    top = Path(os.path.realpath(project if project is not None and inside else given.parent))
    if not target.is_relative_to(top):
        raise SourceError(
            display, f"a link that leads out of the project, to {target}; not changed, name that file itself"
        )
    if in_version_control(given) or in_version_control(target) or _is_in_bare_repository(target):
        raise SourceError(display, "in a folder of version control; not changed")
    if os.path.lexists(target) and not os.path.isfile(target):
        raise SourceError(display, "not a regular file; not changed")
    if requirements and _requires(target):
        return target
    if not (target.suffix.lower() in _SOURCES or (not target.suffix and _is_script(target))):
        raise SourceError(display, "not a Python file, a notebook or a Markdown page; not changed")
    return target


def in_version_control(path: Path) -> bool:
    """Whether a path leads through a folder in which version control keeps files that it acts upon."""
    return any(_folded(part) in CONTROL_FOLDERS or part.casefold() == "git~1" for part in path.parts)


def _requires(path: Path) -> bool:
    if path.suffix == ".txt":
        return "requirements" in path.name or path.parent.name == "requirements"
    return path.name in _REQUIREMENTS


def _folded(name: str) -> str:
    """The name as seen by file systems that ignore case, invisible characters, or trailing dots and spaces."""
    seen = "".join(character for character in name if unicodedata.category(character) != "Cf")
    return seen.casefold().rstrip(". ")


def _is_in_bare_repository(target: Path) -> bool:
    """Whether a file belongs to a repository without a working tree, whose folders git acts upon.

    A working tree may have been made in one: what lies in it may be written, unless git has such a folder itself.
    """
    for folder in target.parents:
        if all((folder / name).exists() for name in _BARE):
            own = target.relative_to(folder).parts[0]
            return _folded(own) in _OF_GIT or not os.path.lexists(folder / own / ".git")
    return False


def _is_script(path: Path) -> bool:
    """Whether a file without a suffix declares that Python runs it."""
    try:
        with open(path, "rb") as file:
            start = file.readline(200)
    except OSError:
        return False
    return start.startswith(b"#!") and b"python" in start
