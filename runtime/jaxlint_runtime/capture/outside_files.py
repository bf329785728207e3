"""Files that a program writes or deletes outside its scratch copy and temporary folder, from Python's audit events.

Files that a C library opens itself raise no such event and are not seen.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NO_FILES = ("/dev", "/proc", "/sys")
_MOST = 1000  # files that are reported


class OutsideFiles:
    """Listens from `start` to `stop`. `inside`: folders that are ignored."""

    def __init__(self, inside: Sequence[str]) -> None:
        own = [*inside, os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), *_NO_FILES]
        self._inside = tuple(os.path.realpath(one).rstrip(os.sep) + os.sep for one in own)
        self._starts: dict[str, int] = {}
        self._gone: set[str] = set()
        self._listening = False
        self._busy = threading.local()

    def start(self) -> None:
        self._listening = True
        sys.addaudithook(self._hear)

    def stop(self) -> None:
        """Audit hooks cannot be removed while the process lives."""
        self._listening = False

    def forget(self, folder: str) -> None:
        """Ignores a folder that turns out to be a cache."""
        place = os.path.realpath(folder).rstrip(os.sep) + os.sep
        self._starts = {path: start for path, start in self._starts.items() if not path.startswith(place)}
        self._gone = {path for path in self._gone if not path.startswith(place)}

    def written(self) -> list[tuple[str, int]]:
        """Real paths of the written files, each with the byte after which the program wrote."""
        return sorted(self._starts.items())

    def gone(self) -> list[str]:
        """Real paths of files that the program deleted and had not created."""
        return sorted(self._gone)

    def _hear(self, event: str, given: tuple[Any, ...]) -> None:
        told = _EVENTS.get(event)
        if told is None or not self._listening or getattr(self._busy, "now", False):
            return
        self._busy.now = True
        try:
            with contextlib.suppress(Exception):  # the program's own call will fail, and say why
                told(self, *given)
        finally:
            self._busy.now = False

    def _opened(self, path: Any, mode: str | None, flags: int) -> None:
        if flags & _WRITING and not isinstance(path, int):
            appends = bool(flags & os.O_APPEND) or "a" in (mode or "")
            self._writes(path, keeps=appends)

    def _renamed(self, source: Any, target: Any, *_: object) -> None:
        self._writes(target, keeps=False)
        self._removed(source)

    def _linked(self, source: Any, target: Any, *_: object) -> None:
        self._writes(target, keeps=False)

    def _connected(self, path: Any) -> None:
        if path != ":memory:":
            self._writes(path, keeps=False)

    def _writes(self, path: Any, *, keeps: bool) -> None:
        place = self._outside(path)
        if place is None or (len(self._starts) >= _MOST and place not in self._starts):
            return
        self._gone.discard(place)
        if not keeps:
            self._starts[place] = 0
        elif place not in self._starts:
            self._starts[place] = os.path.getsize(place) if os.path.isfile(place) else 0

    def _removed(self, path: Any, *_: object) -> None:
        place = self._outside(path)
        if place is not None and self._starts.pop(place, None) is None and len(self._gone) < _MOST:
            self._gone.add(place)

    def _outside(self, path: Any) -> str | None:
        place = os.path.realpath(os.fsdecode(path))
        return None if place.startswith(self._inside) else place


_EVENTS: dict[str, Callable[..., None]] = {
    "open": OutsideFiles._opened,
    "os.rename": OutsideFiles._renamed,
    "os.link": OutsideFiles._linked,
    "os.remove": OutsideFiles._removed,
    "sqlite3.connect": OutsideFiles._connected,
}
