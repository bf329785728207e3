"""A folder, opened by its descriptor: what is made in it lands in that folder, even if a link takes its place meanwhile.

Each part of its path is opened by itself and must not be a link. Windows has no such descriptors, and uses paths.
"""

from __future__ import annotations

import contextlib
import os
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
    """`descriptor`: None where the platform opens no folders."""

    path: Path
    descriptor: int | None = None

    @property
    def identity(self) -> tuple[int, int]:
        """What tells the folder from another one that takes its place."""
        status = os.stat(self.path) if self.descriptor is None else os.fstat(self.descriptor)
        return status.st_dev, status.st_ino

    def create(self, name: str) -> int:
        """Makes a new file for its owner alone, open for writing. Raises FileExistsError."""
        flags = (
            os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        )
        return os.open(self._place(name), flags | getattr(os, "O_BINARY", 0), 0o600, dir_fd=self.descriptor)

    def status(self, name: str) -> os.stat_result:
        return os.stat(self._place(name), dir_fd=self.descriptor, follow_symlinks=False)

    def replace(self, old: str, new: str) -> None:
        """Gives the file `old` the name `new`, which a file may have."""
        os.replace(self._place(old), self._place(new), src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def remove(self, name: str) -> None:
        os.unlink(self._place(name), dir_fd=self.descriptor)

    def _place(self, name: str) -> str:
        return str(self.path / name) if self.descriptor is None else name


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Folder]:
    """The folder at a path without links. Raises OSError if a part of it is a link, or no folder."""
    if not _BY_DESCRIPTOR:
        yield Folder(path)
        return
    descriptor = os.open(path.anchor, _FLAGS)
    try:
        for part in path.parts[1:]:
            inner = os.open(part, _FLAGS, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield Folder(path, descriptor)
    finally:
        os.close(descriptor)
