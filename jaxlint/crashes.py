"""One-line messages for crashes of jaxlint: an internal error, or a machine without free memory."""

from __future__ import annotations

import traceback
from pathlib import Path

_LONGEST = 200  # characters of the exception's message


def described(error: BaseException, then: str) -> str:
    """What happened, where, and what to do: `then` for an internal error, more memory if that ran out."""
    if is_out_of_memory(error):
        return "out of memory; raise the memory limit, or check fewer files at once"
    what = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST]
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"internal error ({what}{where}); {then}"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the machine, or a limit such as `ulimit -v`, refused memory for an object or a thread's stack."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and str(error) == "can't start new thread"
    )
