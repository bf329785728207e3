"""A worker that runs the user's program, keeps its captured functions alive, and exports the candidates for measuring
processes."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import os
import platform
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jaxlint.gc_pause import no_garbage_collection
from jaxlint_runtime.capture.installed import packages_digest, versions
from jaxlint_runtime.capture.run_program import Ending, How
from jaxlint_runtime.capture.session import Session
from jaxlint_runtime.model import CapturedFunction, Result, Status
from jaxlint_runtime.protocol.channel import Channel
from jaxlint_runtime.protocol.jobs import Capture, Known, Launch, Leave, Serve, Shard
from jaxlint_runtime.protocol.json_records import from_plain, to_plain
from jaxlint_runtime.protocol.placements import PlacementAnswer
from jaxlint_runtime.protocol.worker_events import (
    Decided,
    Done,
    Error,
    Hello,
    Left,
    Note,
    OfFunction,
    Optimised,
    Optimising,
    Progress,
    Sharding,
    Watch,
)
from jaxlint_runtime.sharding.function_ranking import worth_sharding
from jaxlint_runtime.sharding.mesh import MeshShape

if TYPE_CHECKING:
    from jaxlint_runtime.inputs.example_calls import ExampleRun
    from jaxlint_runtime.proof.live_prover import LiveProver
    from jaxlint_runtime.sharding.compiling import Jobs

_FOR_JAX = ("JAX_", "XLA_", "TF_", "CUDA_", "NVIDIA_", "TPU_", "LIBTPU")  # prefixes of variable names
_GRACE = 5.0  # seconds for a program to end after the request to stop
_TICK = 0.5
_WARMING = 1.5  # times its share of the --budget that a program may take to its first calls
_IDLE = 5  # times the limit for a program that calls no jitted function of its own


class Capturing:
    """One job, from the program's start to the last traced candidate."""

    def __init__(self, channel: Channel, job: Capture) -> None:
        self._channel = channel
        self._job = job
        self._session = Session(job, _examples(job.launch))
        self._ended = threading.Event()
        self._finishing = threading.Lock()
        self._started = time.monotonic()
        self._session.recorder.announce = self._tell  # the known facts if the program crashes
        self._session.several = self._refuse

    def run(self) -> None:
        """Does everything. Ends the process."""
        self._channel.send(Hello(os.getpid(), platform.python_version()))
        started = self._started
        threading.Thread(target=self._watch, args=(started,), name="jaxlint-clock", daemon=True).start()
        here = os.getcwd()
        ending = self._session.run()
        go_back(here)
        if not self._finishing.acquire(blocking=False):
            threading.Event().wait()  # the watching thread has abandoned this one and finishes
        self._ended.set()
        self._finish(ending, time.monotonic() - started)

    def _refuse(self, processes: int) -> None:
        """Ends a program that waits for other processes, which nobody starts."""
        message = (
            f"{self._job.launch.target}: one of {processes} processes (jax.distributed.initialize), and verify runs one; "
            "see --processes and --launcher"
        )
        self._channel.send(Error(message, refused=True))
        os._exit(1)

    def _watch(self, started: float) -> None:
        """Reports the program's progress, and ends it when its time is up."""
        session, limit, whole = self._session, self._job.until.run_for, self._job.until.whole
        port = self._job.profile_server
        while not self._ended.wait(_TICK):
            self._tell()
            now, first, compiled = time.monotonic(), session.recorder.first_call, session.recorder.clock.first
            if port is not None and compiled is not None:  # not before: serving initialises the devices
                self._serve(port)
                port = None
            if limit is not None and first is not None and now - first > limit:
                session.stopper.request(f"{limit:g} s after the first captured call")
            elif (
                limit is not None
                and first is None
                and compiled is not None
                and now - compiled > _IDLE * limit
            ):
                session.stopper.request(
                    f"{_IDLE * limit:g} s after its first compile, with no call to capture"
                )
            elif whole is not None and self._has_had(whole, now - started):
                session.stopper.request(f"{now - started:.0f} s after its start, its share of the --budget")
            if session.stopper.requested:
                self._end_program(started)
                return

    def _has_had(self, share: float, seconds: float) -> bool:
        """Whether the program has used its share of the time: half as much again until it calls a function
        that an edit may change.
        """
        return seconds > (share if self._session.has_shown else _WARMING * share)

    def _serve(self, port: int) -> None:
        from jaxlint_runtime.inspection.dumps import serve_profiler

        problem = serve_profiler(port)
        said = problem or f"profile the program with XProf or TensorBoard on port {port} while it runs"
        self._channel.send(Note(said))

    def _tell(self) -> None:
        self._channel.send(Watch(self._session.progress(), time.monotonic() - self._started))

    def _end_program(self, started: float) -> None:
        """Interrupts the main thread, and in the end finishes without it."""
        stopper = self._session.stopper
        deadline = time.monotonic() + _GRACE
        while time.monotonic() < deadline:
            if self._ended.wait(1.0):
                return
            stopper.interrupt()
        parked = stopper.park(2.0)
        if not self._finishing.acquire(blocking=False):
            return
        state = "paused" if parked else "left running outside Python, so times are unreliable"
        ending = Ending(
            How.STOPPED, 0, f"stopped the program {stopper.reason}; it did not exit and was {state}"
        )
        self._session.end()
        stopper.finish()
        self._finish(ending, time.monotonic() - started)

    def _finish(self, ending: Ending, seconds: float) -> None:
        """The program has ended: reports the results of the run, then tries the candidates."""
        status = 1
        try:
            summary = self._session.summary(ending, seconds, versions())
            worked = time.process_time()
            first = self._session.recorder.clock.first
            self._channel.send(
                dataclasses.replace(
                    summary,
                    packages=packages_digest(),
                    cpu_s=worked,
                    start_s=0.0 if first is None else first - self._started,
                )
            )
            known = from_plain(Known, json.loads(self._channel.receive()))
            if known.go_on:
                self._go_on(self._session.functions(known))
            self._channel.send(Done())
            status = 0
        except EOFError:
            pass
        except BaseException as error:
            traceback.print_exc()
            with contextlib.suppress(Exception):
                self._channel.send(Error(f"the worker failed: {type(error).__name__}: {error}"))
        finally:
            for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
                with contextlib.suppress(Exception):
                    stream.flush()  # type: ignore[union-attr]
            os._exit(status)  # threads and exit handlers of the program must not delay this

    def _go_on(self, functions: list[CapturedFunction]) -> None:
        """Continues with every wanted function, for every target, as the job says."""
        gc.collect()
        gc.freeze()  # what is left, JAX above all, stays to the end
        match self._job.then:
            case Serve(target):
                self._serve_candidates(functions, target)
            case Shard(mesh, skip, compiles, jobs):
                shape = MeshShape(*map(tuple, zip(*mesh, strict=True)))
                self._each(
                    worth_sharding(functions),
                    skip,
                    lambda function, one: self._sharded(function, one, shape, compiles, jobs),
                )
            case Leave(folder, skip):
                self._each(functions, skip, lambda function, one: self._leave(function, one, folder))

    def _each(
        self,
        functions: Sequence[CapturedFunction],
        skip: Collection[tuple[str, int, str]],
        act: Callable[[CapturedFunction, OfFunction], None],
    ) -> None:
        for target in self._session.targets():
            for function in functions:
                if (function.path, function.line, target) in skip:
                    continue
                one = OfFunction(function.qualname, function.path, function.line, target)
                self._channel.send(Optimising(*_fields(one)))
                if function.call is None:
                    why = function.refused or "no inputs were kept"
                    self._decide(target, _refusal(function, Status.NOT_APPLICABLE, why))
                else:
                    act(function, one)
                self._channel.send(Optimised(*_fields(one)))

    def _decide(self, target: str, result: Result) -> None:
        self._channel.send(Decided(target, result))

    def _prover(self, function: CapturedFunction, one: OfFunction) -> LiveProver:
        from jaxlint_runtime.proof.live_prover import LiveProver
        from jaxlint_runtime.proof.reference import Reference
        from jaxlint_runtime.workers.measuring_server import Teller

        program = Reference(function, Teller(self._channel, self._job.trying, one).settings())
        program.target.devices()
        return LiveProver(program)

    def _leave(self, function: CapturedFunction, one: OfFunction, parent: str) -> None:
        """Exports one function and its candidates."""
        with no_garbage_collection():
            from jaxlint_runtime.exported.artefacts import NotExported
            from jaxlint_runtime.exported.exporting import Proposals, leave
            from jaxlint_runtime.lowering.function_versions import StagingError
            from jaxlint_runtime.targets import TargetUnavailable

        folder = Path(tempfile.mkdtemp(dir=parent))
        left, refused = Proposals(), None
        self._progress(f"{function.qualname}: lowering for {one.target}")
        try:
            left = leave(self._prover(function, one), folder, texts=self._job.trying.dump is not None)
        except (StagingError, TargetUnavailable) as error:
            why = f"the original {error}" if isinstance(error, StagingError) else str(error)
            self._decide(one.target, _refusal(function, Status.FAILED, why, "original"))
            return
        except NotExported as reason:
            refused = str(reason)
        except Exception as error:
            traceback.print_exc()
            refused = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
        self._channel.send(
            Left(
                *_fields(one),
                folder=str(folder),
                environment=_environment(),
                proposed=left.proposed,
                together=left.together,
                unexported=left.refused,
                refused=refused,
                digest=left.digest,
                content=left.content,
                places=left.places,
            )
        )

    def _serve_candidates(self, functions: list[CapturedFunction], target: str) -> None:
        """Measures the candidates of one function here, if it cannot be exported."""
        from jaxlint_runtime.workers.measuring_server import Server

        function = next((one for one in functions if one.call is not None), None)
        if function is None:
            self._channel.send(Error("the second run did not call the function"))
            return
        server = Server(self._channel, self._job.trying)
        one = OfFunction(function.qualname, function.path, function.line, target)
        server.take(self._prover(function, one), proposing=True)
        server.run()

    def _sharded(
        self, function: CapturedFunction, one: OfFunction, shape: MeshShape, compiles: int, jobs: int
    ) -> None:
        """Finds how to split the inputs of one function over the mesh."""
        from jaxlint_runtime.lowering.function_versions import StagingError
        from jaxlint_runtime.optimiser_settings import Settings
        from jaxlint_runtime.sharding import placement_record, shard_function
        from jaxlint_runtime.targets import TargetUnavailable

        trying = self._job.trying
        settings = Settings(target=one.target, memory_limit=trying.device_memory, progress=self._progress)
        bounds = shard_function.Bounds(compiles)
        if trying.seconds is not None:
            bounds = shard_function.Bounds(compiles, trying.seconds)
        try:
            found = shard_function.shard(function, settings, shape, bounds, jobs=self._jobs(jobs))
        except (StagingError, TargetUnavailable) as error:
            self._decide(one.target, _refusal(function, Status.FAILED, str(error)))
            return
        except Exception as error:
            traceback.print_exc()
            text = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
            self._decide(one.target, _refusal(function, Status.FAILED, f"the search stopped: {text}"))
            return
        self._channel.send(Sharding(one.target, to_plain(placement_record.record(function, found))))
        self._decide(one.target, shard_function.result(function, found))

    def _jobs(self, count: int) -> Jobs | None:
        """The jobs that compile placements, which the command line sends."""
        if not count:
            return None
        from jaxlint_runtime.sharding.compiling import Jobs

        def receive() -> PlacementAnswer:
            return from_plain(PlacementAnswer, json.loads(self._channel.receive()))

        return Jobs(count, self._channel.send, receive, self._channel.is_waiting, _environment())

    def _progress(self, message: str) -> None:
        self._channel.send(Progress(message))


def _fields(one: OfFunction) -> tuple[str, str, int, str]:
    return one.function, one.path, one.line, one.target


def _examples(launch: Launch) -> ExampleRun | None:
    """The calls with example arguments, if they were requested instead of a run of the program."""
    if launch.examples is None:
        return None
    from jaxlint_runtime.inputs.example_calls import ExampleRun

    return ExampleRun(launch.kind, launch.target, launch.examples.file, launch.examples.dims)


def go_back(folder: str) -> None:
    """Returns to the folder in which the program began, or to an existing one if it is gone: much fails without."""
    for one in (folder, os.sep):
        with contextlib.suppress(OSError):
            os.chdir(one)
            return


def _environment() -> dict[str, str]:
    """The JAX and compiler settings in the environment, whoever set them."""
    return {name: value for name, value in os.environ.items() if name.startswith(_FOR_JAX)}


def _refusal(function: CapturedFunction, status: Status, reason: str, candidate: str = "all") -> Result:
    return Result(
        function=function.qualname,
        path=function.path,
        line=function.line,
        code=None,
        candidate=candidate,
        status=status,
        evidence="nothing was run",
        reason=reason,
    )
