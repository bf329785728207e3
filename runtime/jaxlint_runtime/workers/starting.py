"""Starts a worker for a request: under its interpreter and limits, in the user's folder or in a scratch copy of the
project."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from jaxlint_runtime.protocol.jobs import Job, Trial
from jaxlint_runtime.request import CannotRun, Request
from jaxlint_runtime.sharding.mesh import simulate
from jaxlint_runtime.targets import parse
from jaxlint_runtime.workers import forking
from jaxlint_runtime.workers.process import WorkerProcess
from jaxlint_runtime.workers.process_group import default_memory_limit
from jaxlint_runtime.workers.scratch_copy import Scratch

_Job = TypeVar("_Job", bound=Job)


def begin_imports(request: Request, modules: Sequence[str]) -> None:
    """Starts the process that forks the workers of trials, so that its imports are done when the first one is needed."""
    forking.begin(request.python, modules, _environment(request, {}), _limit(request))


def _limit(request: Request) -> int:
    """The memory limit of a worker in bytes."""
    return request.memory_limit or default_memory_limit()


def start_worker(
    request: Request,
    job: Job,
    scratch: Scratch | None,
    output: Callable[[str, bytes], None],
    environment: Mapping[str, str] | None = None,
    *,
    may_fork: bool = False,
) -> WorkerProcess:
    """A worker for the job, with `environment` added to its own. Files in a scratch copy take precedence. `may_fork`: it
    need not be a fresh process. Raises CannotRun."""
    folder = working_folder(scratch)
    extra, limit = environment or {}, _limit(request)
    starter = None
    if may_fork and isinstance(job, Trial):
        starter = forking.forking(
            request.python,
            job.preload,
            _environment(request, {}),
            extra,
            request.project(),
            limit,
            request.within(math.inf),
        )
    try:
        return WorkerProcess(
            in_copy(job, scratch),
            python=request.python,
            folder=folder,
            environment=_environment(request, extra),
            memory_limit=limit,
            output=output,
            starter=starter,
        )
    except OSError as error:
        if not os.path.isdir(folder):
            raise _gone(folder) from None
        raise CannotRun(f"{request.python}: cannot be started ({error.strerror})") from None


def _environment(request: Request, extra: Mapping[str, str]) -> dict[str, str]:
    environment = {**os.environ, **extra}
    environment.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # The first process on a GPU would take three quarters of its memory, and a second one beside it would fail.
    environment.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    for name in request.targets:
        for key, value in parse(name).environment.items():
            if key == "XLA_FLAGS":  # includes the current value
                environment[key] = value
            else:
                environment.setdefault(key, value)
    if request.mesh is not None:
        simulate(environment, request.mesh)
    return environment


def in_copy(job: _Job, scratch: Scratch | None) -> _Job:
    """The job with its paths in the scratch copy, if there is one."""
    if scratch is None:
        return job
    return job.moved(  # type: ignore[return-value]  # of the same kind
        str(scratch.root), str(scratch.folder), lambda path: scratch.to_copy(os.path.realpath(path))
    )


def working_folder(scratch: Scratch | None) -> str:
    """The working directory, inside the scratch copy if it was copied. Raises CannotRun."""
    try:
        here = os.getcwd()
    except OSError:
        raise _gone("the working folder") from None
    if scratch is None:
        return here
    folder = scratch.to_copy(os.path.realpath(here))
    return folder if os.path.isdir(folder) else here


def _gone(folder: str) -> CannotRun:
    return CannotRun(f"{folder}: is gone: the program removed its own working folder; keep that folder")


def to_originals(value: Any, scratch: Scratch) -> Any:
    """An event from a scratch copy, with its paths translated back."""
    prefix = str(scratch.folder)
    if isinstance(value, str):
        return value.replace(prefix, str(scratch.root))
    if isinstance(value, dict):
        return {key: to_originals(item, scratch) for key, item in value.items()}
    if isinstance(value, list):
        return [to_originals(item, scratch) for item in value]
    return value
