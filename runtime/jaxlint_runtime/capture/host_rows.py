"""Lists of the host's rows that the program makes arrays of: `jnp.array(rows)` looks at each row by itself.

NumPy joins the rows of a batch in a few microseconds, and JAX then takes one array. Noted is the time of calls in the user's code with a
list or tuple of NumPy arrays of one dtype, or of floats.
"""

from __future__ import annotations

import functools
import itertools
import sys
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.capture.function_identity import Project

MAKERS = ("array", "asarray")  # of jax.numpy
_LEAST = 8  # rows
_MOST = 4096  # of which the types are looked at
_KINDS = "fbc"  # of dtypes: an integer may have more than 32 bits, which JAX refuses in a list


@dataclass(slots=True)
class HostRows:
    """One call, by its place in the source. `other`: it was also called with something else."""

    path: str
    function: str
    place: tuple[int, ...]  # first and last line, first and last column, as in `ast`
    calls: int = 0
    seconds: float = 0.0
    other: bool = False


class RowsOfHost:
    """The calls of one run."""

    def __init__(self, project: Project, counting: Callable[[], bool]) -> None:
        self._project, self._counting = project, counting
        self._calls: dict[tuple[types.CodeType, int], HostRows | None] = {}

    def wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The function of jax.numpy, with its calls noted."""

        @functools.wraps(original)
        def noted(*args: Any, **kwargs: Any) -> Any:
            call = self._call(sys._getframe(1)) if args and type(args[0]) is not types.NoneType else None
            if call is None or not self._counting():
                return original(*args, **kwargs)
            if not _are_rows(args[0]):
                call.other = True
                return original(*args, **kwargs)
            start = time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                call.seconds += time.perf_counter() - start
                call.calls += 1

        return noted

    def found(self) -> list[HostRows]:
        """The calls that only ever received rows of the host, those with the most time first."""
        calls = [call for call in self._calls.values() if call is not None and call.calls and not call.other]
        return sorted(calls, key=lambda call: -call.seconds)

    def _call(self, frame: types.FrameType) -> HostRows | None:
        key = (frame.f_code, frame.f_lasti)
        if key not in self._calls:
            path = self._project.file(frame.f_code.co_filename)
            positions = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,))
            known = path is not None and None not in positions
            self._calls[key] = (
                HostRows(path, frame.f_code.co_qualname, tuple(positions)) if known else None  # type: ignore[arg-type]
            )
        return self._calls[key]


def _are_rows(value: Any) -> bool:
    """Whether a value is a list or tuple of many floats, or of NumPy arrays of one dtype and shape."""
    import numpy as np

    if not isinstance(value, list | tuple) or not _LEAST <= len(value) <= _MOST:
        return False
    first = value[0]
    if isinstance(first, np.ndarray):
        same = (np.ndarray, first.dtype, first.shape)
        return first.dtype.kind in _KINDS and all(
            (type(one), getattr(one, "dtype", None), getattr(one, "shape", None)) == same for one in value
        )
    return all(type(one) in (float, np.float32, np.float64) for one in value)
