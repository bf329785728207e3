"""One of several processes of a program, from its start to its end: the program as it is, and a list of what it launches."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from pathlib import Path

from jaxlint_runtime.capture.function_identity import Project
from jaxlint_runtime.capture.import_hooks import AfterImport
from jaxlint_runtime.capture.run_program import How, Kind, run_program
from jaxlint_runtime.capture.stop import Stopper
from jaxlint_runtime.lockstep.recording import Recording, Writer, watch_for_end
from jaxlint_runtime.protocol.launch_records import ALIVE, STOP, SUFFIX, Over, RankJob

NUMBER = "JAXLINT_RANK"  # in the environment of a process that jaxlint itself gave a number
_PATIENCE = 60.0  # seconds without a sign of life from the reader


def run(shared: Path, job: RankJob) -> None:
    """Run the program of a job from the folder that all processes and the reader share. Ends the process."""
    number = os.environ.get(NUMBER)
    started_as = int(number) if number is not None else None
    writer = Writer(shared / f"{socket.gethostname()}-{os.getpid()}{SUFFIX}")
    project = Project(job.launch.roots, job.launch.include_packages)
    recording = Recording(writer, shared, project, _given(job, started_as))
    watch_for_end(shared, STOP, ALIVE, _PATIENCE, lambda: os._exit(1))
    recording.begin(started_as)
    imports = AfterImport({"jax": recording.on_jax})
    imports.install()
    kind = Kind(job.launch.kind)
    if kind is not Kind.SCRIPT:
        sys.path.insert(0, os.getcwd())
    arguments = [_numbered(one, started_as, job.processes) for one in job.launch.arguments]
    ending = run_program(kind, job.launch.target, arguments, Stopper())
    writer.write(Over(ending.status, ending.message, ending.how is How.RAISED))
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    sys.exit(ending.status)


def _given(job: RankJob, number: int | None) -> dict[str, object] | None:
    """What `jax.distributed.initialize` is called with where jaxlint starts the processes, whatever the program says."""
    if job.coordinator is None or number is None:
        return None
    return {
        "coordinator_address": job.coordinator,
        "coordinator_bind_address": job.coordinator,
        "num_processes": job.processes,
        "process_id": number,
        "cluster_detection_method": "deactivate",
    }


def _numbered(argument: str, number: int | None, processes: int | None) -> str:
    """An argument of the program with `{process}` and `{processes}` replaced by numbers."""
    if number is None:
        return argument
    return argument.replace("{process}", str(number)).replace("{processes}", str(processes))
