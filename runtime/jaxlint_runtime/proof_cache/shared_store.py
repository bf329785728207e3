"""Entries of the proof cache in a folder or a bucket that several users and machines share.

Anybody who can write there could claim proofs, so an entry counts only if it is signed: with the shared
secret in `JAXLINT_PROOF_KEY`, otherwise with the key of this user. Buckets are read and written through
fsspec.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from jaxlint.signed_entries import as_entry, read_entry
from jaxlint.state import cache_key

KEY = "JAXLINT_PROOF_KEY"
_SHORTEST_KEY = 16  # characters


class Unusable(Exception):
    """A place that cannot hold proofs; the message is one line and says what to do."""


class _Files(Protocol):
    """The operations on a file system, under fsspec's names."""

    def makedirs(self, path: str, exist_ok: bool = ...) -> None: ...
    def cat_file(self, path: str, start: int | None = ..., end: int | None = ...) -> bytes: ...
    def pipe_file(self, path: str, value: bytes) -> None: ...


class SharedStore:
    """The entries in a folder, or below a URL that fsspec knows. Unreadable entries count as missing;
    `problem` says why nothing is written.
    """

    def __init__(self, place: str) -> None:
        self.problem: str | None = None
        self._place = place
        self._secret = _secret()
        self._files, self._root = _opened(place)

    def read(self, key: str, most_bytes: int) -> dict[str, Any] | None:
        """The entry stored under `key`; None if no valid one exists."""
        try:
            data = self._files.cat_file(self._path(key), start=0, end=most_bytes + 1)
        except Exception:  # each file system has errors of its own
            return None
        return None if len(data) > most_bytes else read_entry(self._secret, key, data)

    def used(self, key: str) -> None:
        """Does nothing: the owner of the place decides when entries are deleted."""

    def write(self, key: str, entry: Mapping[str, Any], most_entries: int, most_bytes: int) -> None:
        """Stores an entry. After a failure no other entry is tried."""
        data = as_entry(self._secret, key, entry)
        if data is None or len(data) > most_bytes or self.problem is not None:
            return
        try:
            self._files.pipe_file(self._path(key), data)
        except Exception as error:
            self.problem = f"proofs are not kept in {self._place}: {_said(error)}"

    def _path(self, key: str) -> str:
        return f"{self._root}/{key[:32]}.json"


class _Folder:
    """A folder of this machine, or a mounted one. Files appear there complete."""

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        Path(path).mkdir(parents=True, exist_ok=exist_ok)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None) -> bytes:
        with Path(path).open("rb") as file:
            return file.read(-1 if end is None else end)

    def pipe_file(self, path: str, value: bytes) -> None:
        temporary = Path(f"{path}.{secrets.token_hex(8)}.tmp")
        try:
            temporary.write_bytes(value)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def _opened(place: str) -> tuple[_Files, str]:
    """The file system of a place, and the path there. Raises Unusable."""
    files: _Files
    try:
        if "://" not in place:
            files, root = _Folder(), str(Path(place).absolute())
        else:
            from fsspec.core import url_to_fs  # type: ignore[import-untyped]

            files, root = url_to_fs(place)
        files.makedirs(root, exist_ok=True)
    except ImportError as error:
        name = error.name or ""
        needed = (
            "fsspec is missing; pip install 'jaxlint-suite[bucket]'" if name == "fsspec" else _said(error)
        )
        raise Unusable(f"--proof-cache {place}: {needed}") from None
    except Exception as error:
        raise Unusable(f"--proof-cache {place}: cannot be opened ({_said(error)})") from None
    return files, root.rstrip("/")


def _secret() -> bytes:
    """The secret that signs the entries. Raises Unusable."""
    given = os.environ.get(KEY)
    if given is None:
        own = cache_key(create=True)
        if own is None:
            raise Unusable(
                f"--proof-cache: this user has no folder for a key; give all users one secret in {KEY}"
            )
        return own
    if len(given) < _SHORTEST_KEY:
        raise Unusable(f"{KEY}: shorter than {_SHORTEST_KEY} characters; give a random one")
    return given.encode("utf-8", "surrogateescape")


def _said(error: Exception) -> str:
    lines = str(getattr(error, "strerror", None) or error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
