"""Runs one of several processes of a program from start to end: the unchanged program, and a record of its launches."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from jaxlint_runtime.capture.function_identity import Project
from jaxlint_runtime.capture.import_hooks import AfterImport
from jaxlint_runtime.capture.installed import versions
from jaxlint_runtime.capture.run_program import Ending, How, Kind, ending_of, run_program
from jaxlint_runtime.capture.session import Session
from jaxlint_runtime.capture.stop import Stopper
from jaxlint_runtime.lockstep.host_data import MULTIHOST
from jaxlint_runtime.lockstep.recording import Recording, Writer, watch_for_end
from jaxlint_runtime.protocol.jobs import Capture
from jaxlint_runtime.protocol.json_records import to_plain
from jaxlint_runtime.protocol.launch_records import ALIVE, JOB, STOP, SUFFIX, Over, RankJob, Told, read_job
from jaxlint_runtime.protocol.worker_events import Event

NUMBER = "JAXLINT_RANK"  # in the environment of a process that jaxlint itself has numbered
_PATIENCE = 60.0  # seconds without a sign of life from the reader


def run(shared: Path, job: RankJob) -> None:
    """Runs the program of a job from the folder that all processes and the reader share. Ends the process."""
    number = os.environ.get(NUMBER)
    started_as = int(number) if number is not None else None
    writer, recording = _begin(shared, job, started_as)
    arguments = tuple(_numbered(one, started_as, job.processes) for one in job.launch.arguments)
    launch = replace(job.launch, arguments=arguments)
    if job.proving is not None:
        ending = _proven(replace(job.proving, launch=launch), shared, writer, recording)
    else:
        kind = Kind(launch.kind)
        if kind is not Kind.SCRIPT:
            sys.path.insert(0, os.getcwd())
        ending = run_program(kind, launch.target, launch.arguments, Stopper())
    writer.write(Over(ending.status, ending.message, ending.how is How.RAISED))
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    sys.exit(ending.status)


def take_part(shared: Path, call: Callable[[], Any]) -> Any:
    """Calls a function as the program, in a process that somebody else has started and that may have joined the others.

    Returns its result, or raises what it raises.
    """
    job = read_job((shared / JOB).read_text(encoding="utf-8"))
    writer, recording = _begin(shared, job, None)
    if "jax" in sys.modules:
        from jaxlint_runtime import compat

        process, processes = compat.process_of()
        if processes > 1:
            recording.on_joined(process, processes)
    called = _Called(call)
    if job.proving is not None:
        ending = _proven(job.proving, shared, writer, recording, called)
    else:
        ending = called()
    writer.write(Over(ending.status, ending.message, ending.how is How.RAISED))
    if called.error is not None:
        raise called.error
    return called.result


class _Called:
    """One call of a function, and how it ended."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self.result: Any = None
        self.error: BaseException | None = None

    def __call__(self) -> Ending:
        try:
            self.result = self._call()
        except BaseException as error:  # raised again for the caller
            self.error = error
            return ending_of(error)
        return Ending(How.FINISHED, 0, "the program finished")


def _begin(shared: Path, job: RankJob, started_as: int | None) -> tuple[Writer, Recording]:
    """The record of this process, from now on."""
    writer = Writer(shared / f"{socket.gethostname()}-{os.getpid()}{SUFFIX}")
    project = Project(job.launch.roots, job.launch.include_packages)
    recording = Recording(writer, shared, project, _given(job, started_as), job.proving is not None)
    watch_for_end(shared, STOP, ALIVE, _PATIENCE, lambda: os._exit(1))
    recording.begin(started_as)
    AfterImport({"jax": recording.on_jax, MULTIHOST: recording.on_multihost}).install()
    return writer, recording


def _proven(
    job: Capture,
    shared: Path,
    writer: Writer,
    recording: Recording,
    program: Callable[[], Ending] | None = None,
) -> Ending:
    """How the program ended, after the candidates of its functions are proven in all processes."""
    session, started = Session(job), time.monotonic()
    session.recorder.spanning = _copy_of_own
    ending = session.run(program)
    seconds = time.monotonic() - started
    if ending.how is not How.FINISHED or ending.status or not recording.joined:
        return ending
    from jaxlint_runtime.across.proving import Proving  # JAX is imported by the program, not before it

    def tell(event: Event) -> None:
        writer.write(Told(to_plain(event)))

    try:
        Proving(session, shared, tell).run(ending, seconds, versions())
    except Exception as error:
        traceback.print_exc()
        what = f"the proof of its candidates failed: {type(error).__name__}: {error}"
        return Ending(How.RAISED, 1, what.splitlines()[0])
    finally:
        recording.disconnect()
    return ending


def _copy_of_own(array: Any) -> Any:
    """A copy of this process's shards of an array that spans several."""
    from jaxlint_runtime.across.local_shards import LocalShards

    return LocalShards.of(array)


def _given(job: RankJob, number: int | None) -> dict[str, object] | None:
    """The arguments of `jax.distributed.initialize` if jaxlint starts the processes; they replace the program's own."""
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
    """An argument of the program with numbers in place of `{process}` and `{processes}`."""
    if number is None:
        return argument
    return argument.replace("{process}", str(number)).replace("{processes}", str(processes))
