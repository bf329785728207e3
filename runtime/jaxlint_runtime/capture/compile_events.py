"""Receives JAX's compile events through the public `jax.monitoring`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

_TRACE = "/jax/core/compile/jaxpr_trace_duration"
_LOWER = "/jax/core/compile/jaxpr_to_mlir_module_duration"
_COMPILE = "/jax/core/compile/backend_compile_duration"


class CompileClock:
    """Seconds of tracing and compiling in each thread, between `begin` and `end`.

    Compiles outside such a span belong to eager operations. They are summed in `eager_compiles` and `eager_seconds`,
    and `on_eager` is called with the seconds of each.
    """

    def __init__(self, on_eager: Callable[[float], None] = lambda seconds: None) -> None:
        self._on_eager = on_eager
        self.first: float | None = None  # the time of the first compile of any kind, by time.monotonic
        self.eager_compiles = 0
        self.eager_seconds = 0.0
        self._local = threading.local()

    def install(self) -> None:
        """Start listening."""
        import jax

        jax.monitoring.register_event_duration_secs_listener(self._listen)

    def remove(self) -> None:
        """Stop listening."""
        import jax

        jax.monitoring.unregister_event_duration_listener(self._listen)

    def begin(self) -> None:
        """A call begins in this thread."""
        self._local.events = None
        self._local.inside = True

    def end(self) -> tuple[float, float, float] | None:
        """The call has ended: seconds of tracing, of lowering and of compiling; None for a cache hit."""
        events: list[tuple[str, float]] | None = self._local.events
        self._local.inside = False
        if events is None:
            return None
        # the outermost trace includes the others; a trace alone is not a compile
        traces = [seconds for event, seconds in events if event == _TRACE]
        lowers = [seconds for event, seconds in events if event == _LOWER]
        compiles = [seconds for event, seconds in events if event == _COMPILE]
        if not lowers and not compiles:
            return None
        return max(traces, default=0.0), sum(lowers), sum(compiles)

    def _listen(self, event: str, duration_secs: float, **kwargs: Any) -> None:
        if event not in (_TRACE, _LOWER, _COMPILE):
            return
        if self.first is None:
            self.first = time.monotonic()
        if getattr(self._local, "inside", False):
            if self._local.events is None:
                self._local.events = []
            self._local.events.append((event, duration_secs))
        elif event == _COMPILE:
            self.eager_compiles += 1
            self.eager_seconds += duration_secs
            self._on_eager(duration_secs)
