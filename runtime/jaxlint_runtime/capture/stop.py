"""Ends the user's program from within, so that the functions that it created stay alive for the next steps.

An exception is raised in its main thread: from a captured call, or by a signal wherever the thread is. A program that
catches even that is parked: its main thread sleeps in the signal handler and another thread continues.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

# not one that programs use themselves (SIGALRM, SIGUSR1 ...)
_SIGNAL = signal.SIGVTALRM


class StopProgram(BaseException):
    """Raised in the user's program to end it. Not an Exception, so that `except Exception` does not catch it."""


class Stopper:
    """One request to stop, and the ways to carry it out. Created in the main thread, before the program starts."""

    def __init__(self, exception: Callable[[str], BaseException] = StopProgram) -> None:
        self.reason: str | None = None
        self.exception = exception
        self.running = False
        self._parked = threading.Event()
        self._park = False
        self.requested = False
        self._last = 0.0
        self._process = os.getpid()
        self._main = threading.main_thread()

    def start(self) -> None:
        """The program is about to run."""
        signal.signal(_SIGNAL, self._handle)
        self.running = True

    def finish(self) -> None:
        """The program has ended: nothing is raised from here on."""
        self.running = False

    def request(self, reason: str) -> None:
        """Requests a stop of the program; the first reason is kept."""
        if self.reason is None:
            self.reason = reason
        self.requested = True

    def raise_here(self) -> None:
        """Raises in the program's main thread after a request; any other thread interrupts the main thread."""
        if not self.running or os.getpid() != self._process:
            return
        if threading.current_thread() is self._main:
            raise self.exception(self.reason or "stopped")
        if time.monotonic() - self._last > 1.0:  # leave it time to unwind
            self.interrupt()

    def interrupt(self) -> None:
        """Raises in the main thread, wherever it is, even if it sleeps."""
        self._last = time.monotonic()
        if self.running and self._main.ident is not None:
            signal.pthread_kill(self._main.ident, _SIGNAL)

    def park(self, seconds: float) -> bool:
        """Puts the main thread to sleep for good. False: it is busy outside Python and did not answer."""
        self._park = True
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.interrupt()
            if self._parked.wait(0.1) or not self.running:
                return True
        return False

    def _handle(self, number: int, frame: object) -> None:
        if not self.running or os.getpid() != self._process:
            return
        if self._park:
            self._parked.set()
            while True:
                time.sleep(3600)
        raise self.exception(self.reason or "stopped")
