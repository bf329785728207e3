"""The one line that a crash of jaxlint itself costs: a bug of ours, or a machine that has no memory left."""

from __future__ import annotations

import traceback
from pathlib import Path

_LONGEST = 200  # characters of the exception's own text


def described(error: BaseException, then: str) -> str:
    """What happened and where, and what to do: `then` for a bug, more memory where there was too little."""
    if is_out_of_memory(error):
        return "out of memory; raise the memory limit, or check fewer files at once"
    what = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST]
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"internal error ({what}{where}); {then}"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the machine, or a limit as `ulimit -v` sets it, gave no memory for an object or for a thread's stack."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and str(error) == "can't start new thread"
    )
