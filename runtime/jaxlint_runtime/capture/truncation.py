"""Where a run of a long program is cut off: at the same place in each of its versions.

The place is the end of a printed line, or of a call, so that everything computed and printed before can be compared. It is
a line if one comes soon enough: an edit may compile a function into its caller, which never calls it then, and no edit changes
the lines. The call is of a function that the host calls repeatedly, outside of any other such call.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

LINES = "<stdout>"  # in place of a function's name, with no path: the number is that of a printed line
_LEAST_CALLS = 3  # the first one compiles, and a single call says little
# times the time to a line, after which the end of a call will do: until a line nothing may be there to compare
_PATIENCE = 2.5


class Called(Protocol):
    """A function of the program, with the number of calls by the host."""

    qualname: str
    path: str
    calls: int


@dataclass(slots=True)
class Cut:
    """`after`: seconds after which the next line or call is the place; or the `place` itself, as `at` in another run.

    `stop` ends the program from within, with a reason.
    """

    stop: Callable[[str], None]
    after: float | None = None
    place: tuple[str, str, int] | None = None  # path, qualified name, number of the call
    at: tuple[str, str, int] | None = None  # where it was cut off
    _start: float = field(default_factory=time.monotonic)
    _lines: int = 0

    def watch(self, stream: Any) -> None:
        """Counts the lines that the main thread prints to a stream."""
        write = stream.write

        def counting(text: str) -> Any:
            written = write(text)
            if threading.current_thread() is threading.main_thread() and isinstance(text, str):
                self.printed(text.count("\n"))
            return written

        with contextlib.suppress(AttributeError):  # an odd stream: calls remain
            stream.write = counting

    def printed(self, lines: int) -> None:
        """So many lines were printed."""
        if not lines or self.at is not None:
            return
        self._lines += lines
        if self.place is not None:
            reached = self.place[1] == LINES and self._lines >= self.place[2]
        else:
            reached = time.monotonic() - self._start >= (self.after or 0.0)
        if reached:
            self._stop(("", LINES, self._lines))

    def ended(self, function: Called, inside: Sequence[Called]) -> None:
        """A host call of `function` has ended, while calls of `inside` run."""
        here = (function.path, function.qualname, function.calls)
        if self.place is not None:
            reached = here == self.place
        else:
            repeated = function.calls >= _LEAST_CALLS and all(one.calls < 2 for one in inside)
            reached = repeated and time.monotonic() - self._start >= _PATIENCE * (self.after or 0.0)
        if reached:
            self._stop(here)

    def _stop(self, at: tuple[str, str, int]) -> None:
        self.at = at
        self.stop(f"after {in_words(at)}")


def in_words(place: tuple[str, str, int]) -> str:
    """Where a run is cut off."""
    _, name, number = place
    return f"printed line {number}" if name == LINES else f"call {number} of {name}"
