"""The cache folder, and how to distinguish it from a folder with the user's files.

A project's settings may come with a clone: they may only name a folder inside the project. The user who runs the
command may name any folder. A folder is a cache if it is marked as one or is empty.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from jaxlint.config import CACHE_FOLDER, Config
from jaxlint.source.regular import read_regular
from jaxlint.source.writable_files import in_version_control
from jaxlint.source.write import write_atomic

# https://bford.info/cachedir/: backups skip a folder with this file.
_SIGNATURE = b"Signature: 8a477f597d28d172789f06886806bc55"
_OURS = b"# This folder is a cache of jaxlint. It is safe to delete."
_TAG, _IGNORE = "CACHEDIR.TAG", ".gitignore"
_IGNORED = b"# Made by jaxlint; safe to delete.\n*\n"
MARKER = b'{"jaxlint-cache": "'  # the first bytes of each entry
_NAME = re.compile(r"[0-9a-f]{32}\.json")
_TAG_BYTES = 4096


def cache_folder(config: Config) -> Path:
    """The folder for the entries of a project."""
    return config.cache_dir or config.root / CACHE_FOLDER


def refusal(config: Config) -> str | None:
    """Why a folder is not used as a cache, in one line; None if it may be."""
    folder = cache_folder(config)
    try:
        if not config.cache_dir_given and (problem := _outside(folder, config.root)):
            return f"{folder}: {problem}"
        if not os.path.lexists(folder) or is_cache(folder):
            return None
        if config.cache_dir is None and folder.is_symlink():
            return f"{folder}: a link, which is not used as a cache; remove it"
    except (OSError, ValueError) as error:
        return f"{folder}: cannot be used as a cache ({getattr(error, 'strerror', None) or error})"
    return f"{folder}: not a cache of jaxlint (it has no {_TAG}), not changed; empty it or name another"


def is_cache(folder: Path) -> bool:
    """Whether a folder is marked as a cache of ours or is empty."""
    if not folder.is_dir():
        return False
    names = os.listdir(folder)
    if _TAG in names:
        return _first_bytes(folder / _TAG).startswith(_SIGNATURE) and _OURS in _first_bytes(folder / _TAG)
    if _IGNORE in names and _first_bytes(folder / _IGNORE) == _IGNORED:
        return True  # created by a version that used only this mark
    return all(name.startswith(f".{_TAG}.") and name.endswith(".tmp") for name in names)


def prepare(folder: Path) -> None:
    """Creates a folder and marks it. Raises OSError or SourceError."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in ((_TAG, _SIGNATURE + b"\n" + _OURS + b"\n"), (_IGNORE, _IGNORED)):
        if not os.path.lexists(folder / name):
            write_atomic(folder / name, text)


def entries(folder: Path) -> list[tuple[float, int, Path]]:
    """The last use, size and path of each entry in the cache."""
    found = []
    with os.scandir(folder) as listing:
        for entry in listing:
            if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                if _starts_with_marker(entry.path):
                    found.append((status.st_mtime, status.st_size, Path(entry.path)))
    return found


def _outside(folder: Path, root: Path) -> str | None:
    real, top = Path(os.path.realpath(folder)), Path(os.path.realpath(root))
    if not real.is_relative_to(top) or real == top:
        return "not a folder inside the project; --cache-dir or JAXLINT_CACHE_DIR may name one elsewhere"
    if in_version_control(real):
        return "in a folder of version control; name another"
    return None


def _first_bytes(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return b""
        return read_regular(path, _TAG_BYTES)
    except OSError:
        return b""


def _starts_with_marker(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
        with open(descriptor, "rb") as file:
            return file.read(len(MARKER)) == MARKER
    except OSError:
        return False
