"""Shows on a terminal that a long run is alive, and how long it will take."""

from __future__ import annotations

import os
import stat
import sys
import threading
import time
from types import TracebackType
from typing import Self, TextIO

from jaxlint.examine import Observer

_BAR = 30  # cells
_INTERVAL = 0.2  # seconds between two drawings
_ENOUGH = 0.03  # of the work done, before an estimate of the time is shown


class Progress(Observer):
    """Shows on the terminal behind stderr what a step does, if it takes longer than `delay` seconds. Use as a
    context manager.

    Nothing is shown in pipes and in CI, and the line is removed at the end.
    """

    def __init__(self, delay: float = 1.5, *, quiet: bool = False, terminal: TextIO | None = None) -> None:
        self.delay = delay
        self.terminal = sys.stderr if terminal is None else terminal
        self.quiet = quiet
        self.message = ""
        self.began = time.monotonic()
        self.counted_from = self.began
        self._shown = False
        self._next = 0.0  # when the line may be drawn again
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        self.watches = not self.quiet and _is_watched(self.terminal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._disarm()
        self.clear()
        self.watches = False

    def doing(self, what: str) -> None:
        """A step without progress: a timer shows it."""
        if not self.watches:
            return
        self.message = what
        left = self.delay - (time.monotonic() - self.began)
        if left <= 0:
            self._show(f"{what} ...")
        elif self._timer is None:
            self._timer = threading.Timer(left, lambda: self._show(f"{self.message} ..."))
            self._timer.daemon = True
            self._timer.start()

    def advanced(self, files: int, of: int, share: float) -> None:
        """A step with progress, which needs no timer: it is best to fork processes from a single thread."""
        if not self.watches:
            return
        self._disarm()
        now = time.monotonic()
        if share == 0:
            self.counted_from = now
        if now - self.began >= self.delay and now >= self._next:
            self._next = now + _INTERVAL
            took = now - self.counted_from
            left = took / share - took if share > _ENOUGH else None
            self._show(f"checked {files} of {of} files", share, left)

    def clear(self) -> None:
        """Removes the line, so that something else can be printed."""
        with self._lock:
            if self._shown:
                self.terminal.write("\r\033[K")
                self.terminal.flush()
                self._shown = False

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
            self._timer = None

    def _show(self, text: str, share: float | None = None, left: float | None = None) -> None:
        with self._lock:
            self._shown = True
            line = text if share is None else f"{text} {_bar(share, self.terminal)} {duration(left)}"
            self.terminal.write(f"\r\033[K{line}")
            self.terminal.flush()


def duration(seconds: float | None) -> str:
    """The remaining time in words; empty if unknown."""
    if seconds is None:
        return ""
    return f"{seconds:.0f} s left" if seconds < 90 else f"{seconds / 60:.0f} min left"


def _bar(share: float, terminal: TextIO) -> str:
    """A bar, with the colours and characters that the terminal can show."""
    from rich.console import Console
    from rich.progress_bar import ProgressBar

    console = Console(file=terminal)
    with console.capture() as capture:
        console.print(ProgressBar(total=1.0, completed=share, width=_BAR), end="")
    return capture.get().ljust(_BAR)  # without colours, the remaining part is omitted


def _is_watched(terminal: TextIO) -> bool:
    """Whether a person sees it, and it is not a pipe into another program that may use the terminal."""
    if os.environ.get("CI") or os.environ.get("TERM") == "dumb":
        return False
    return terminal.isatty() and not _is_pipe(sys.stdout)


def _is_pipe(stream: TextIO) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return False
