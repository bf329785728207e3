"""Entries of a cache: JSON objects in a folder, each signed with a secret of the user.

A folder may come with a clone, and an entry may claim what would hide a defect: only entries that this user's key signed
count (`jaxlint.state`); others, and damaged ones, are ignored. Reading one runs no code.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxlint.cache_folder import MARKER, entries, prepare
from jaxlint.source.file import SourceError
from jaxlint.source.regular import read_regular
from jaxlint.source.write import write_atomic
from jaxlint.state import StateError, cache_key, private_folder

_SIGNATURE_BYTES = len(MARKER) + 64 + len('", ')


class SignedEntries:
    """The entries in a folder. A failure of the file system means "not cached", never an error.

    `private`: a folder that this user alone may open, and that is not used otherwise.
    """

    def __init__(self, folder: Path, private: bool = False) -> None:
        self.folder = folder
        self._private = private

    def read(self, key: str, most_bytes: int) -> dict[str, Any] | None:
        """The entry stored under `key`; None if this user stored none."""
        try:
            secret = cache_key(create=False)
            if secret is None or not self._is_trusted():
                return None
            return read_entry(secret, key, read_regular(self.path(key), most_bytes))
        except (OSError, ValueError):
            return None

    def used(self, key: str) -> None:
        """Notes that an entry was used: the least recently used go first."""
        with contextlib.suppress(OSError):
            os.utime(self.path(key), follow_symlinks=False)

    def write(self, key: str, entry: Mapping[str, Any], most_entries: int, most_bytes: int) -> None:
        """Stores an entry, and removes those that have become too many."""
        secret = cache_key(create=True)
        data = None if secret is None else as_entry(secret, key, entry)
        if data is None or not self.prepare():
            return
        with contextlib.suppress(OSError, SourceError):
            write_atomic(self.path(key), data)
            self._prune(most_entries, most_bytes)

    def path(self, key: str) -> Path:
        """The file of an entry."""
        return self.folder / f"{key[:32]}.json"

    def prepare(self) -> bool:
        """Creates the folder; returns False if that is impossible."""
        try:
            if not self._is_trusted(create=True):
                return False
            prepare(self.folder)
        except (OSError, SourceError):
            return False
        return True

    def _is_trusted(self, create: bool = False) -> bool:
        if not self._private:
            return True
        try:
            return private_folder(self.folder, create=create, variable="XDG_CACHE_HOME") is not None
        except StateError:
            return False

    def _prune(self, most_entries: int, most_bytes: int) -> None:
        total = 0
        for count, (_, size, path) in enumerate(sorted(entries(self.folder), reverse=True), start=1):
            total += size
            # The newest entry stays, whatever its size; otherwise storing it would have been pointless.
            if count > 1 and (count > most_entries or total > most_bytes):
                with contextlib.suppress(OSError):
                    path.unlink()


def as_entry(secret: bytes, key: str, entry: Mapping[str, Any]) -> bytes | None:
    """A signed entry; None where it has what JSON cannot represent."""
    try:
        data = json.dumps({"key": key, **entry}).encode()
    except (TypeError, ValueError):
        return None
    return signed(secret, key, data[1:])  # without its first brace


def read_entry(secret: bytes, key: str, data: bytes) -> dict[str, Any] | None:
    """The entry that `as_entry` stored under `key` with this secret; None for anything else."""
    if not hmac.compare_digest(data, signed(secret, key, data[_SIGNATURE_BYTES:])):
        return None
    try:
        entry = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and entry.get("key") == key else None


def signed(secret: bytes, key: str, rest: bytes) -> bytes:
    """An entry: a JSON object whose first item signs the others, `rest`."""
    signature = hmac.new(secret, key.encode() + b"\0" + rest, "sha256").hexdigest()
    return MARKER + signature.encode() + b'", ' + rest
