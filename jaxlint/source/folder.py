"""A folder, opened by its descriptor: new files land in that folder, even if a link takes its place in the
meantime.

Each part of its path is opened separately and must not be a link. Windows has no such descriptors: there each
step checks that the path still leads to the same folder, and a file that was created elsewhere is removed
before anything is written into it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BY_DESCRIPTOR = {os.open, os.stat, os.unlink, os.rename} <= os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
# A folder that may be searched but not read can be opened as a place alone.
_FLAGS = (
    (getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if _BY_DESCRIPTOR
    else 0
)


@dataclass(frozen=True, slots=True)
class Folder:
    """`descriptor`: None on platforms that open no folders. `identity` distinguishes the folder from one that takes its place."""

    path: Path
    identity: tuple[int, int]
    descriptor: int | None = None

    def create(self, name: str) -> int:
        """Creates a file that only its owner can open, for writing. Raises FileExistsError."""
        flags = (
            os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        )
        self._look()
        made = os.open(self._place(name), flags | getattr(os, "O_BINARY", 0), 0o600, dir_fd=self.descriptor)
        try:
            self._look()
        except OSError:
            own = os.fstat(made)
            os.close(made)
            with contextlib.suppress(OSError):
                if os.path.samestat(own, os.lstat(self._place(name))):
                    os.unlink(self._place(name))
            raise
        return made

    def _look(self) -> None:
        """Raises OSError if the path now leads to another folder."""
        if self.descriptor is None and _identity_by_path(self.path) != self.identity:
            raise OSError(errno.ELOOP, "its folder was replaced meanwhile")

    def status(self, name: str) -> os.stat_result:
        return os.stat(self._place(name), dir_fd=self.descriptor, follow_symlinks=False)

    def replace(self, old: str, new: str) -> None:
        """Renames the file `old` to `new`, replacing any file of that name."""
        self._look()  # and a folder that takes its place from here on has no file `old`
        os.replace(self._place(old), self._place(new), src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def remove(self, name: str) -> None:
        self._look()
        os.unlink(self._place(name), dir_fd=self.descriptor)

    def _place(self, name: str) -> str:
        return str(self.path / name) if self.descriptor is None else name


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Folder]:
    """Opens the folder at a path without links. Raises OSError if a part of the path is a link, or not a folder."""
    if not _BY_DESCRIPTOR:
        yield Folder(path, _identity_by_path(path))
        return
    descriptor = os.open(path.anchor, _FLAGS)
    try:
        for part in path.parts[1:]:
            inner = os.open(part, _FLAGS, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        status = os.fstat(descriptor)
        yield Folder(path, (status.st_dev, status.st_ino), descriptor)
    finally:
        os.close(descriptor)


def _identity_by_path(path: Path) -> tuple[int, int]:
    """The identity of the folder at a path. Raises OSError if a part of the path is a link, or not a folder."""
    if os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    status = os.stat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    return status.st_dev, status.st_ino
