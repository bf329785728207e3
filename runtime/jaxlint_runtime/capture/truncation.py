"""Where a run of a long program is cut off: at the same place in each of its versions.

The place is the end of a call, so that what was computed and printed before is there to be compared: of a function that the host calls
again and again, in none that is itself called so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

_LEAST_CALLS = 3  # the first compiles, and one alone says little


class Called(Protocol):
    """A function of the program with how often the host has called it."""

    qualname: str
    path: str
    calls: int


@dataclass(slots=True)
class Cut:
    """`after`: seconds, after which the first such call is the place; or the `place` itself, as `at` was in another run.

    `stop` ends the program from within, and is told why.
    """

    stop: Callable[[str], None]
    after: float | None = None
    place: tuple[str, str, int] | None = None  # path, qualified name, number of the call
    at: tuple[str, str, int] | None = None  # where it was cut off
    _start: float = field(default_factory=time.monotonic)

    def ended(self, function: Called, inside: Sequence[Called]) -> None:
        """A call of `function` has ended, made from the host while those of `inside` run."""
        here = (function.path, function.qualname, function.calls)
        if self.place is not None:
            reached = here == self.place
        else:
            repeated = function.calls >= _LEAST_CALLS and all(one.calls < 2 for one in inside)
            reached = repeated and time.monotonic() - self._start >= (self.after or 0.0)
        if reached:
            self.at = here
            self.stop(f"after call {function.calls} of {function.qualname}")
