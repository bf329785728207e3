"""A copy of the user's project for another run of its program, so that its own files do not change."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_SKIPPED = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        "__pycache__",
        "node_modules",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".tox",
        ".nox",
    }
)
_LARGE = 16 * 2**20  # bytes
_MOST_LARGE = 512 * 2**20  # bytes of large files that are copied, the smallest first; the others become links
_MOST_FILES = 20_000
_MOST_BYTES = 2 * 2**30


class TooLarge(Exception):
    """The project cannot be copied; the message says why."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """The copy `folder` of the project `root`."""

    root: Path
    folder: Path

    def to_copy(self, path: str) -> str:
        """The copied file of a project file; other paths are unchanged."""
        absolute = Path(os.path.abspath(path))
        try:
            return str(self.folder / absolute.relative_to(self.root))
        except ValueError:
            return path


@contextmanager
def scratch_copy(root: Path, within: Path | None = None) -> Iterator[Scratch]:
    """Copies the project for the duration of the block, to a hidden folder `within` another, or among temporary files.
    Raises TooLarge.

    The largest files become links to the originals if copying them all would take too much: a program that modifies
    one of them in place changes the original, as in any run.
    """
    files = list(copied_files(root))
    if len(files) > _MOST_FILES:
        raise TooLarge(f"{root} holds more than {_MOST_FILES} files")
    if sum(size for _, size in files if size < _LARGE) > _MOST_BYTES:
        raise TooLarge(f"{root} holds more than {_MOST_BYTES // 2**30} GiB of files")
    prefix = "jaxlint-" if within is None else ".jaxlint-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=within, ignore_cleanup_errors=True) as name:
        scratch = Scratch(root, Path(os.path.realpath(name)) / root.name)
        scratch.folder.mkdir()
        left = _MOST_LARGE
        for relative, size in sorted(files, key=lambda file: file[1]):
            target = scratch.folder / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            if size >= _LARGE and size > left:
                target.symlink_to(root / relative)
                continue
            if size >= _LARGE:
                left -= size
            shutil.copy2(root / relative, target)
        yield scratch


def is_copied(root: Path, path: str) -> bool:
    """Whether a file, by its real path, is among those that a copy of the project has."""
    folder = os.path.dirname(path)
    if not Path(path).is_relative_to(root):
        return False
    while folder != str(root):
        if _is_skipped(folder):
            return False
        folder = os.path.dirname(folder)
    return True


def _is_skipped(folder: str) -> bool:
    """Whether a folder is of no use to another run, or a virtual environment."""
    return os.path.basename(folder) in _SKIPPED or os.path.exists(os.path.join(folder, "pyvenv.cfg"))


def copied_files(root: Path) -> Iterator[tuple[Path, int]]:
    """Files worth copying, as relative paths with sizes; stops soon after there are too many."""
    count = 0
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not _is_skipped(os.path.join(folder, name))]
        for name in names:
            path = Path(folder, name)
            try:
                size = path.stat().st_size
            except OSError:  # a dangling link
                continue
            if not path.is_file():  # a socket or a pipe
                continue
            count += 1
            yield path.relative_to(root), size
            if count > _MOST_FILES:
                return
