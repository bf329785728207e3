"""Checks the files that git keeps about a repository before git is called: under any of these names git would
wait for a pipe or read a device. Sockets are refused at once, and git itself creates some.
"""

from __future__ import annotations

import functools
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from jaxlint.source.regular import read_regular

_MOST = 2_000_000  # files
_SMALL = 1 << 20  # bytes of settings
_DEPTH = 10
_SETTINGS = frozenset({"config", "config.worktree"})
_INCLUDED = re.compile(
    rb'^[ \t]*(?:\[[^\]\n]*\][ \t]*)?path[ \t]*=[ \t]*"?([^"\n#;]+)', re.MULTILINE | re.IGNORECASE
)


@functools.lru_cache(maxsize=8)
def irregular(folder: Path) -> Path | None:
    """A pipe or device where git would read a file of the repository around `folder`."""
    if "GIT_DIR" in os.environ:
        return None  # the user's own choice
    seen: set[str] = set()
    for top in (folder, *folder.parents):
        git = top / ".git"
        if os.path.lexists(git):
            return next(_in_place(git, seen), None)
        if (top / "HEAD").exists() and (top / "objects").exists():
            return next(_in_place(top, seen), None)
    return None


def _in_place(path: Path, seen: set[str]) -> Iterator[Path]:
    """The irregular files at a path, below it, and where it points."""
    real = os.path.realpath(path)
    if real in seen or len(seen) > _MOST:
        return
    seen.add(real)
    try:
        mode = os.stat(real).st_mode
    except (OSError, ValueError):
        return  # git opens nothing there either
    if stat.S_ISDIR(mode):
        yield from _below(Path(real), seen)
    elif _is_odd(mode):
        yield path
    elif path.name == ".git":
        yield from _named(Path(real), b"gitdir: ", seen)


def _below(folder: Path, seen: set[str]) -> Iterator[Path]:
    """The irregular files in a folder of git, and in the folders that its files name."""
    try:
        with os.scandir(folder) as entries:
            inside = list(entries)
    except OSError:
        return
    for entry in inside:
        if entry.is_dir(follow_symlinks=False) or not entry.is_file(follow_symlinks=False):
            yield from _in_place(Path(entry.path), seen)
        elif entry.name in _SETTINGS:
            yield from _included(Path(entry.path), 0)
        elif entry.name in ("commondir", "alternates"):
            base = folder if entry.name == "commondir" else folder.parent
            yield from _named(Path(entry.path), b"", seen, base)


def _named(path: Path, start: bytes, seen: set[str], base: Path | None = None) -> Iterator[Path]:
    """The irregular files in the folders that a file names, one in each line."""
    for line in _text(path).splitlines():
        if line.startswith(start) and line.strip():
            named = os.fsdecode(line.removeprefix(start).strip())
            yield from _in_place((base or path.parent) / named, seen)


def _included(path: Path, depth: int) -> Iterator[Path]:
    """The irregular files among the settings that settings include."""
    for found in _INCLUDED.findall(_text(path)):
        other = path.parent / os.path.expanduser(os.fsdecode(found.strip()))
        try:
            mode = os.stat(other).st_mode
        except (OSError, ValueError):
            continue
        if _is_odd(mode):
            yield other
        elif depth < _DEPTH and stat.S_ISREG(mode):
            yield from _included(other, depth + 1)


def _is_odd(mode: int) -> bool:
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def _text(path: Path) -> bytes:
    try:
        return read_regular(path, _SMALL)
    except (OSError, ValueError):
        return b""
