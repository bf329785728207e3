"""Shows the progress of `verify` on the terminal, between the lines of the user's program."""

from __future__ import annotations

import sys
import threading
import time
from typing import TextIO

from jaxlint.report.escaping import escaped

_QUIET_FOR = 15.0  # seconds between progress lines if nothing can be overwritten


class Live:
    """Writes to `stream` (stderr): notes as lines, progress as one line that changes, the program's output dimmed.

    Use as a context manager. `quiet` hides the program's output.
    """

    def __init__(self, stream: TextIO | None = None, quiet: bool = False) -> None:
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._terminal = self._stream.isatty()
        self._lock = threading.Lock()
        self._shown = False
        self._said = time.monotonic()
        self._open_line = False
        self._message = ""

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._clear()
            self._finish_line()

    def note(self, message: str) -> None:
        """A line that stays."""
        with self._lock:
            self._clear()
            self._finish_line()
            self._write(f"jaxlint: {escaped(message)}\n")
            self._said = time.monotonic()

    def progress(self, message: str) -> None:
        """A line that the next one replaces; if that is impossible, one now and then."""
        with self._lock:
            if self._terminal:
                if message == self._message and self._shown:
                    return
                self._message = message
                self._clear()
                self._finish_line()
                self._write(f"jaxlint: {escaped(message)} ...")
                self._shown = True
            elif time.monotonic() - self._said > _QUIET_FOR:
                self._finish_line()
                self._write(f"jaxlint: {escaped(message)} ...\n")
                self._said = time.monotonic()

    def output(self, stream: str, data: bytes) -> None:
        """The program's output."""
        if self._quiet:
            return
        text = data.decode(errors="replace")
        with self._lock:
            self._clear()
            self._write(f"\033[2m{text}\033[0m" if self._terminal else text)
            self._open_line = not text.endswith("\n")

    def _clear(self) -> None:
        if self._shown:
            self._write("\r\033[K")
            self._shown = False

    def _finish_line(self) -> None:
        if self._open_line:
            self._write("\n")
            self._open_line = False

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal is gone; the report may still be written elsewhere
            return
