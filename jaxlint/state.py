"""The user's state folder, for data that no project may bring along: journals, and the cache key.

jaxlint acts on what it reads there, so only files written by this user count: the folder and each file belong to the
user, and nobody else may open them.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

_KEY_NAME, _KEY_BYTES = "cache-key", 32
_OTHERS, _OTHERS_WRITE = 0o077, 0o022


class StateError(Exception):
    """A state folder that cannot be used. The message is one line and says what to do."""


def state_folder(*, create: bool = False) -> Path | None:
    """The user's state folder, or None if there is none yet. Raises StateError if it cannot be created or trusted."""
    return private_folder(_place(), create=create, variable="XDG_STATE_HOME")


def private_folder(folder: Path, *, create: bool, variable: str) -> Path | None:
    """A folder that this user alone can open, or None if there is none yet. `variable` of the environment names another.
    Raises StateError."""
    try:
        if create:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = os.lstat(folder)
        if create and _is_ours(status) and not status.st_mode & _OTHERS_WRITE and status.st_mode & _OTHERS:
            os.chmod(folder, 0o700)
            status = os.lstat(folder)
    except FileNotFoundError:
        if not create:
            return None
        raise StateError(f"{folder}: cannot be created; set {variable} to your own folder") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StateError(f"{folder}: cannot be used ({reason}); set {variable} to your own folder") from None
    if not stat.S_ISDIR(status.st_mode) or not _is_ours(status):
        raise StateError(f"{folder}: not a folder of this user; set {variable} to one")
    if os.name == "posix" and status.st_mode & _OTHERS:
        raise StateError(f"{folder}: open to other users; look through it and `chmod 700` it")
    return folder


def _place() -> Path:
    import platformdirs  # a run without a cache and without writes does not need it

    folder = platformdirs.user_state_path("jaxlint", appauthor=False)
    if not folder.is_absolute():  # the home folder is unknown
        raise StateError(f"{folder}: no folder for the state of this user; set XDG_STATE_HOME to one")
    return folder


def open_private(path: Path) -> int:
    """Opens a private file of this user for reading. Raises OSError, and PermissionError if it is not private."""
    flags = (
        os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    )
    descriptor = os.open(path, flags)
    status = os.fstat(descriptor)
    closed = os.name != "posix" or (status.st_mode & _OTHERS == 0 and status.st_nlink <= 1)
    if stat.S_ISREG(status.st_mode) and _is_ours(status) and closed:
        return descriptor
    os.close(descriptor)
    raise PermissionError(f"{path}: not a file that this user alone can open")


def create_private(path: Path) -> int:
    """Creates a private file of this user for writing. Raises OSError, and FileExistsError if it exists."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    return os.open(path, flags, 0o600)


def cache_key(*, create: bool) -> bytes | None:
    """The secret that signs this user's cache entries; None if it cannot be stored."""
    with contextlib.suppress(OSError, StateError):
        folder = state_folder(create=create)
        if folder is None:
            return None
        path = folder / _KEY_NAME
        with contextlib.suppress(FileNotFoundError), open(open_private(path), "rb") as file:
            found = file.read(_KEY_BYTES + 1)
            if len(found) == _KEY_BYTES:
                return found
        if not create:
            return None
        key = secrets.token_bytes(_KEY_BYTES)
        temporary = folder / f"{_KEY_NAME}.{secrets.token_hex(8)}.tmp"
        with open(create_private(temporary), "wb") as file:
            file.write(key)
        # of two concurrent runs the last one wins; the other's entries are ignored
        os.replace(temporary, path)
        return key
    return None


def _is_ours(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
