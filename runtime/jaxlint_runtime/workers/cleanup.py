"""Cleans up after one run of the command line: its scratch folders, and processes that programs left behind."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator

import psutil  # type: ignore[import-untyped]

from jaxlint_runtime.protocol.jobs import RUN_FOLDER
from jaxlint_runtime.workers import process, process_group

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOCK = "run.lock"
_TRIES = 20  # of removing a folder
_ROUNDS = 50  # seconds for finding orphans, which may start others while they are ended
_ADOPTING: list[bool] = []  # of the runs of this process, whether orphans become its children


class NoRoom(Exception):
    """There is no place for temporary files; the message is one line and says what to do."""


@contextlib.contextmanager
def cleaned_up() -> Iterator[None]:
    """One run of the command line, in its process. Temporary files of the block are in one folder, which is removed
    with it.

    The first termination signal raises KeyboardInterrupt, and later ones are ignored: the clean-up that then begins
    takes seconds. Raises NoRoom.
    """
    handlers = {number: signal.signal(number, _interrupt) for number in _ENDING}
    others = frozenset(child.pid for child in psutil.Process().children())
    adopting = _adopt_orphans(True)
    before = tempfile.tempdir
    folder, lock = "", -1
    try:
        _ADOPTING.append(adopting)
        folder, lock = _new_folder()
        process.run_folder = tempfile.tempdir = folder
        yield
    finally:
        process_group.close_all()
        _ADOPTING.pop()
        if adopting:
            _end_orphans(others)
            _adopt_orphans(False)
        tempfile.tempdir, process.run_folder = before, None
        if folder:
            remove(folder)
            os.close(lock)
        for number, handler in handlers.items():
            if signal.getsignal(number) is _interrupt:  # unless another one has come: little is left then
                signal.signal(number, handler)


@contextlib.contextmanager
def own_folder() -> Iterator[str]:
    """A folder that is removed with the block or, should the process be killed, by a later run on this machine. Raises
    NoRoom."""
    folder, lock = _new_folder()
    try:
        yield folder
    finally:
        remove(folder)
        os.close(lock)


@contextlib.contextmanager
def temporary_files_in(folder: str | None) -> Iterator[None]:
    """Child processes that the block starts use a folder for their temporary files; with None, the usual one."""
    before = os.environ.get("TMPDIR")
    try:
        if folder is not None:
            os.environ["TMPDIR"] = folder
        yield
    finally:
        os.environ.pop("TMPDIR", None)
        if before is not None:
            os.environ["TMPDIR"] = before


def remove(folder: str) -> None:
    """Removes a folder that a process may still write to as it ends."""
    for _ in range(_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            return
        time.sleep(0.1)


def _interrupt(number: int, frame: object) -> None:
    for each in _ENDING:
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


def _new_folder() -> tuple[str, int]:
    """A folder for a run, and the lock that marks the run as active."""
    try:
        _remove_stale(tempfile.gettempdir())
        folder = tempfile.mkdtemp(prefix=RUN_FOLDER)
        lock = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        raise NoRoom(
            f"cannot write temporary files ({error.strerror}); free space in the temporary folder, or set TMPDIR"
        ) from None
    return folder, lock


def _remove_stale(parent: str) -> None:
    """Removes folders of this user's runs that were killed before they had a worker to clean up: their locks are
    free."""
    for entry in os.scandir(parent):
        with contextlib.suppress(OSError):
            own = entry.name.startswith(RUN_FOLDER) and entry.is_dir(follow_symlinks=False)
            if not own or entry.stat(follow_symlinks=False).st_uid != os.geteuid():
                continue
            lock = os.open(os.path.join(entry.path, _LOCK), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(entry.path, ignore_errors=True)
            finally:
                os.close(lock)


def adopts_orphans() -> bool:
    """Whether processes that a worker leaves behind become children of this process."""
    return bool(_ADOPTING) and _ADOPTING[-1]


def _adopt_orphans(adopt: bool) -> bool:
    """Makes orphaned processes children of this one, whatever their session and environment. Linux only."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, int(adopt), 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False


def _end_orphans(others: frozenset[int]) -> None:
    """Ends the children that appeared during the block: the command line itself only starts workers, which are
    closed."""
    for _ in range(_ROUNDS):
        own = [child for child in psutil.Process().children() if child.pid not in others]
        if not own:
            return
        for child in own:
            with contextlib.suppress(psutil.Error):
                for one in (*child.children(recursive=True), child):
                    one.kill()
        psutil.wait_procs(own, timeout=0.2)
