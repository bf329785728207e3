"""Reads a file of any kind: a clone may contain pipes, sockets, devices and endless files under any name."""

from __future__ import annotations

import errno
import os
import stat

MAX_SOURCE = 64 << 20  # for a checked file
_SETTINGS = frozenset({"pyproject.toml", "setup.cfg", "Makefile", "Dockerfile", ".env", "noxfile.py"})
MAX_SETTINGS = 4 << 20  # for a file with facts about the project


class NotRegular(OSError):
    """A pipe, a socket, a device or a folder."""


class TooLarge(OSError):
    """A file beyond the limit."""


def read_regular(path: str | os.PathLike[str], limit: int) -> bytes:
    """The bytes of a regular file, also behind links. Never waits for a writer.

    Raises OSError: NotRegular, TooLarge for more than `limit` bytes, or the system's error. Raises ValueError for a
    NUL in the path.
    """
    # Opened without blocking: a named pipe without a writer is refused, not waited for.
    flags = (
        os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)
    )
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            raise NotRegular(errno.ENXIO, "not a regular file", os.fspath(path)) from None
        raise
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(status.st_mode):
            raise NotRegular(errno.ENXIO, "not a regular file", os.fspath(path))
        # Kernel files have size 0, whatever they contain.
        data = b"" if status.st_size > limit else file.read(limit + 1)
        if data is None:  # a kernel log that has nothing to read now
            raise NotRegular(errno.ENXIO, "not a regular file", os.fspath(path))
        if status.st_size > limit or len(data) > limit:
            raise TooLarge(errno.EFBIG, f"larger than {limit >> 20} MB", os.fspath(path))
        return data


def is_settings(name: str) -> bool:
    """Whether a file may set JAX options for a program."""
    return name in _SETTINGS or name.endswith((".sh", ".ini", ".mk"))
