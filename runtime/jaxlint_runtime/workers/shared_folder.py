"""The folder through which the processes of a program, and the commands that follow them, exchange data."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from jaxlint_runtime.job_step import JobStep
from jaxlint_runtime.protocol.launch_records import STOP
from jaxlint_runtime.request import CannotRun, InStep

_HIDDEN = ".jaxlint-lockstep-"  # prefix of folders in the working folder
_LEFT = "left"  # prefix of files that record which commands of a step have ended


@contextmanager
def shared_folder(how: InStep) -> Iterator[Path]:
    """A folder that all processes see. A launcher may start them on other machines, which usually share the working folder."""
    if how.step is not None:
        with _folder_of_step(how.step) as folder:
            yield folder
        return
    if how.joins:
        folder = Path(how.shared or "").absolute()
        if (folder / STOP).exists():
            raise CannotRun(f"--shared {how.shared}: holds the lists of an earlier run; name an empty folder")
        yield folder
        return
    if how.shared is not None:
        yield Path(tempfile.mkdtemp(prefix="jaxlint-lockstep-", dir=Path(how.shared).absolute()))
        return
    try:
        made = tempfile.TemporaryDirectory(
            prefix=_HIDDEN if how.launcher else "jaxlint-lockstep-",
            dir=Path.cwd() if how.launcher else None,
            ignore_cleanup_errors=True,
        )
    except OSError as error:
        raise _unwritable(error) from None
    with made as name:
        yield Path(name)


@contextmanager
def _folder_of_step(step: JobStep) -> Iterator[Path]:
    """The folder for a step of a job: the first command creates it in the working folder, the last one removes it."""
    folder = Path.cwd() / f"{_HIDDEN}{step.name}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise _unwritable(error) from None
    try:
        yield folder
    finally:
        with suppress(OSError):
            (folder / f"{_LEFT}.{socket.gethostname()}.{os.getpid()}").touch()
            if len(list(folder.glob(f"{_LEFT}.*"))) >= step.processes:
                shutil.rmtree(folder, ignore_errors=True)


def _unwritable(error: OSError) -> CannotRun:
    return CannotRun(
        f"the lists of the processes cannot be written here ({error.strerror}); name a folder with --shared"
    )
