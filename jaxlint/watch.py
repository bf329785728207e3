"""Waits until a file of a run changes, by polling twice a second, which works on every file system."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from jaxlint.config import Config
from jaxlint.nearest import Nearest

INTERVAL = 0.5  # seconds between two polls
_SETTLES = 0.1  # seconds without a further change, after which an editor or git has finished
_SETTINGS = ("jaxlint.toml", "pyproject.toml", ".gitignore")

Snapshot = dict[str, tuple[int, int]]  # by path: time of the last change, and size


def snapshot(paths: Sequence[str], config: Config) -> Snapshot:
    """The state of a run's files and of the settings around them. A folder's settings apply as they were when the
    watch began."""
    found = [file.path for file in Nearest(config).discover(paths).files]
    folders = {above for path in found for above in path.parents if above.is_relative_to(config.root)}
    folders.add(config.root)
    settings = [folder / name for folder in folders for name in _SETTINGS]
    states: Snapshot = {}
    for path in (*found, *settings):
        try:
            status = os.stat(path)
        except OSError:
            continue
        states[str(path)] = (status.st_mtime_ns, status.st_size)
    return states


def changed(before: Snapshot, after: Snapshot) -> list[Path]:
    """The files that are new, deleted or changed, sorted."""
    return sorted(Path(path) for path in {*before, *after} if before.get(path) != after.get(path))


def wait_for_change(
    look: Callable[[], Snapshot], before: Snapshot, sleep: Callable[[float], None] = time.sleep
) -> tuple[Snapshot, list[Path]]:
    """Returns once something differs from `before` and no longer changes: the new state, and the changed files."""
    while not changed(before, now := look()):
        sleep(INTERVAL)
    while True:
        sleep(_SETTLES)
        later = look()
        if later == now:
            return now, changed(before, now)
        now = later
