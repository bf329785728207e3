"""Block sizes of a kernel by their time on the current device, cached for the rest of the run.

The sizes are tried in turn, so that drift of the machine affects all equally. The default sizes of the target
come first, and are kept unless others are faster by more than the noise between two timings of the same
sizes. Sizes that do not compile or do not fit the device are left out.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax

from jaxlint_runtime.lowering.function_versions import first_line
from jaxlint_runtime.timing_noise import claimable

_TURNS = 9
_LEAST_SECONDS = 0.002  # of one timing: calls that are shorter are repeated


@dataclass(frozen=True)
class Tuned:
    """The block sizes to use (None: the target's defaults), and the result for each that was tried."""

    blocks: Any = None
    milliseconds: dict[Any, float] = field(default_factory=dict)
    refused: dict[Any, str] = field(default_factory=dict)

    def told(self) -> str:
        """The description of the result; empty if nothing was tried."""
        if not self.milliseconds:
            return ""
        best = self.blocks if self.blocks is not None else next(iter(self.milliseconds))
        return f", {best}, of {len(self.milliseconds)} block sizes timed here"


class Tuner:
    """Times block sizes; one object for a run."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._known: dict[Hashable, Tuned] = {}

    def known(self, key: Hashable) -> Any:
        """The sizes found for a key; None for the target's defaults."""
        return self._known[key].blocks if key in self._known else None

    def best(
        self,
        key: Hashable,
        sizes: Sequence[Any],
        make: Callable[[Any], Callable[..., Any]],
        draw: Callable[[], Sequence[Any]],
    ) -> Tuned:
        """The fastest of `sizes`, the first of which are the target's defaults.

        `make` returns the function to time for some sizes, `draw` its arguments; both are called only once for a
        `key`.
        """
        if key not in self._known:
            self._known[key] = self._tried(sizes, make, draw)
        return self._known[key]

    def _tried(
        self,
        sizes: Sequence[Any],
        make: Callable[[Any], Callable[..., Any]],
        draw: Callable[[], Sequence[Any]],
    ) -> Tuned:
        ready: dict[Any, Callable[[], Any]] = {}
        refused: dict[Any, str] = {}
        try:
            arguments = jax.block_until_ready(draw())
        except Exception as error:  # no room beside the program's own arrays
            return Tuned(refused=dict.fromkeys(sizes, first_line(error)))
        for each in sizes:
            compiled = jax.jit(make(each))  # jaxlint: ignore[jit-in-loop]
            try:
                _waited(compiled, arguments)
            except Exception as error:  # the compiler's, or too much memory
                refused[each] = first_line(error)
            else:
                ready[each] = functools.partial(_waited, compiled, arguments)
        if sizes[0] not in ready or len(ready) < 2:
            return Tuned(refused=refused)
        seconds = self._timed(ready)
        fastest = min(seconds, key=lambda each: seconds[each])
        default = seconds[sizes[0]]
        gained = default / seconds[fastest] >= claimable(default * 1e3)
        milliseconds = {each: 1e3 * value for each, value in seconds.items()}
        return Tuned(fastest if gained else None, milliseconds, refused)

    def _timed(self, ready: dict[Any, Callable[[], Any]]) -> dict[Any, float]:
        """The median seconds of a call of each."""
        calls = {each: self._repeats(run) for each, run in ready.items()}
        seen: dict[Any, list[float]] = {each: [] for each in ready}
        for turn in range(_TURNS):
            order = list(ready) if turn % 2 == 0 else list(reversed(ready))
            for each in order:
                seen[each].append(self._seconds(ready[each], calls[each]))
        return {each: statistics.median(values) for each, values in seen.items()}

    def _repeats(self, run: Callable[[], Any]) -> int:
        return max(1, min(64, round(_LEAST_SECONDS / max(self._seconds(run, 1), 1e-7))))

    def _seconds(self, run: Callable[[], Any], calls: int) -> float:
        start = self._clock()
        for _ in range(calls):
            run()
        return (self._clock() - start) / calls


def _waited(run: Callable[..., Any], arguments: Sequence[Any]) -> None:
    jax.block_until_ready(run(*arguments))
