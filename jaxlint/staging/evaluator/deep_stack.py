"""Room for deep recursion: the analysis calls itself for each call, block and expression inside another."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

_STACK_BYTES = 512 * 1024 * 1024
_RECURSION_LIMIT = 60_000
_FRAME_SLOTS = (1 << 19) + 1  # of 8 bytes each; memory is taken only as they are used


_here = threading.local()  # whether the thread at hand has a deep stack
_SMALLER = (1, 4, 16, 64)  # parts of the stack to try in turn, where memory is limited
_INTERVAL = 0.1  # seconds from one call of `meanwhile` to the next


def with_deep_stack(work: Callable[[], None], meanwhile: Callable[[], None] | None = None) -> None:
    """Runs `work` on a thread whose stack fits long `elif` chains and deep calls; this one calls `meanwhile` now and then, and once at the end.

    Work that is on such a thread already goes on there. Python in a browser has no threads: there `work` gets the stack that there is, and code that nests too deeply for it is an error of its file.
    """
    if sys.platform == "emscripten" or (getattr(_here, "deep", False) and meanwhile is None):
        work()
        if meanwhile is not None:
            meanwhile()
        return
    failure: list[BaseException] = []

    def roomy() -> None:
        _here.deep = True
        work()

    # CPython keeps the frames of a thread in chunks of 16 KiB, and maps and unmaps one whenever calls go back and forth
    # over its end. A frame that claims half a chunk gets a large one, and leaves the other half to those that it calls.
    roomy.__code__ = roomy.__code__.replace(co_stacksize=_FRAME_SLOTS)

    def guarded() -> None:
        try:
            roomy()
        except BaseException as error:
            failure.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size()
    try:
        thread = _started(guarded, limit)
        while meanwhile is not None and thread.is_alive():
            thread.join(_INTERVAL)
            meanwhile()
        thread.join()
        if meanwhile is not None:
            meanwhile()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if failure:
        raise failure[0]


def _started(work: Callable[[], None], limit: int) -> threading.Thread:
    """A thread with the largest stack that there is room for, and as many calls as fit it. Raises RuntimeError if none fits."""
    for smaller in _SMALLER:
        threading.stack_size(_STACK_BYTES // smaller)
        sys.setrecursionlimit(max(limit, _RECURSION_LIMIT // smaller))
        thread = threading.Thread(target=work, name="jaxlint-analysis")
        try:
            thread.start()
        except RuntimeError:  # what Python raises where the system makes no thread
            if smaller == _SMALLER[-1]:
                raise
        else:
            break
    return thread
