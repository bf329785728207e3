"""Where a run of a long program is cut off: at the same place in each of its versions.

The place is the end of a call, so that everything computed and printed before can be compared. It is a call of a
function that the host calls repeatedly, outside of any other such call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

_LEAST_CALLS = 3  # the first one compiles, and a single call says little


class Called(Protocol):
    """A function of the program, with the number of calls by the host."""

    qualname: str
    path: str
    calls: int


@dataclass(slots=True)
class Cut:
    """`after`: seconds after which the next such call is the place; or the `place` itself, as `at` in another run.

    `stop` ends the program from within, with a reason.
    """

    stop: Callable[[str], None]
    after: float | None = None
    place: tuple[str, str, int] | None = None  # path, qualified name, number of the call
    at: tuple[str, str, int] | None = None  # where it was cut off
    _start: float = field(default_factory=time.monotonic)

    def ended(self, function: Called, inside: Sequence[Called]) -> None:
        """A host call of `function` has ended, while calls of `inside` run."""
        here = (function.path, function.qualname, function.calls)
        if self.place is not None:
            reached = here == self.place
        else:
            repeated = function.calls >= _LEAST_CALLS and all(one.calls < 2 for one in inside)
            reached = repeated and time.monotonic() - self._start >= (self.after or 0.0)
        if reached:
            self.at = here
            self.stop(f"after call {function.calls} of {function.qualname}")
