"""Processes that a test has started, or that were left to it."""

from __future__ import annotations

import time
from collections.abc import Collection

import psutil

_PATIENCE = 10.0  # seconds: a process that was killed is gone a moment later


def running() -> frozenset[int]:
    """The ids of all processes below this one that have not ended."""
    return frozenset(one.pid for one in psutil.Process().children(recursive=True) if not has_ended(one.pid))


def left_running(before: Collection[int]) -> frozenset[int]:
    """Those that are not of `before`, and that do not end in a moment."""
    until = time.monotonic() + _PATIENCE
    while (left := running().difference(before)) and time.monotonic() < until:
        time.sleep(0.05)
    return left


def boots(process: psutil.Process) -> bool:
    """Whether it is an errand or a worker."""
    try:
        return any(word.endswith("boot.py") for word in process.cmdline())
    except psutil.Error:
        return False


def has_ended(pid: int) -> bool:
    """Whether a process is dead, though perhaps not yet buried by the process that inherited it."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
