"""A deep stack for recursion: the analysis recurses for each nested call, block and expression."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

_STACK_BYTES = 512 * 1024 * 1024
_RECURSION_LIMIT = 60_000
_FRAME_SLOTS = (1 << 19) + 1  # in words of 8 bytes; memory is committed only on use


_here = threading.local()  # whether the current thread has a deep stack
_SMALLER = (1, 4, 16, 64)  # fractions of the stack to try in turn if memory is limited
_INTERVAL = 0.1  # seconds between two calls of `meanwhile`


def with_deep_stack(work: Callable[[], None], meanwhile: Callable[[], None] | None = None) -> None:
    """Runs `work` on a thread whose stack fits long `elif` chains and deep calls. The current thread calls
    `meanwhile` regularly, and once at the end.

    Work that already runs on such a thread continues there. In a browser Python has no threads: `work` uses the
    existing stack, and code that nests too deeply is an error of its file.
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

    # CPython keeps a thread's frames in chunks of 16 KiB, and maps and unmaps one whenever calls cross its end. A
    # frame that claims half a chunk gets a large chunk and leaves the rest to its callees.
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
    """Starts a thread with the largest stack that memory allows, and the recursion limit that fits it. Raises
    RuntimeError if none fits."""
    for smaller in _SMALLER:
        threading.stack_size(_STACK_BYTES // smaller)
        sys.setrecursionlimit(max(limit, _RECURSION_LIMIT // smaller))
        thread = threading.Thread(target=work, name="jaxlint-analysis")
        try:
            thread.start()
        except RuntimeError:  # Python raises this if the system cannot create a thread
            if smaller == _SMALLER[-1]:
                raise
        else:
            break
    return thread
