"""The process that runs the user's program, keeps what it captured alive, and leaves the candidates to processes that measure them."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import platform
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from jaxlint_runtime.capture.run_program import Ending, How
from jaxlint_runtime.capture.session import Session
from jaxlint_runtime.model import CapturedFunction, Result, Status
from jaxlint_runtime.protocol.messages import RUN_FOLDER, Channel, Job, to_plain
from jaxlint_runtime.sharding.function_ranking import worth_sharding

_VERSIONS = ("jax", "jaxlib", "numpy", "flax", "optax", "equinox", "dm-haiku")
_FOR_JAX = ("JAX_", "XLA_", "TF_", "CUDA_", "NVIDIA_", "TPU_", "LIBTPU")  # beginnings of names of variables
_GRACE = 5.0  # seconds that a program has to end after it was asked to
_TICK = 0.5
_IDLE = 5  # times the limit that a program may go on without calling a jitted function of its own


class Worker:
    """One job, from the program's start to the last candidate that is staged."""

    def __init__(self, channel: Channel, job: Job) -> None:
        self._channel = channel
        self._job = job
        self._session = Session(job)
        self._ended = threading.Event()
        self._finishing = threading.Lock()
        self._started = time.monotonic()
        self._session.recorder.announce = self._tell  # if the program crashes, this is what is known

    def run(self) -> None:
        """Do it all. Ends the process."""
        self._channel.send("hello", python=platform.python_version(), pid=os.getpid())
        started = self._started
        _die_with_parent(self._job)
        threading.Thread(target=self._watch, args=(started,), name="jaxlint-clock", daemon=True).start()
        here = os.getcwd()
        ending = self._session.run()
        go_back(here)
        if not self._finishing.acquire(blocking=False):
            threading.Event().wait()  # the watching thread has given this one up and finishes
        self._ended.set()
        self._finish(ending, time.monotonic() - started)

    def _watch(self, started: float) -> None:
        """Tell how far the program is, and end it when its time is up."""
        session, limit = self._session, self._job.run_for
        port = self._job.profile_server
        while not self._ended.wait(_TICK):
            self._tell()
            now, first, compiled = time.monotonic(), session.recorder.first_call, session.recorder.clock.first
            if port is not None and compiled is not None:  # not before: serving sets up the devices
                self._serve(port)
                port = None
            if limit is not None and first is not None and now - first > limit:
                session.stopper.request(f"{limit:g} seconds after the first captured call")
            elif (
                limit is not None
                and first is None
                and compiled is not None
                and now - compiled > _IDLE * limit
            ):
                session.stopper.request(
                    f"{_IDLE * limit:g} seconds after its first compile, without a call to capture"
                )
            if session.stopper.requested:
                self._end_program(started)
                return

    def _serve(self, port: int) -> None:
        from jaxlint_runtime.inspection.dumps import serve_profiler

        problem = serve_profiler(port)
        said = problem or f"the program can be profiled on port {port} while it runs, by XProf or TensorBoard"
        self._channel.send("note", message=said)

    def _tell(self) -> None:
        self._channel.send(
            "watch", functions=self._session.progress(), seconds=time.monotonic() - self._started
        )

    def _end_program(self, started: float) -> None:
        """Insist: interrupt the main thread, in the end finish without it."""
        stopper = self._session.stopper
        deadline = time.monotonic() + _GRACE
        while time.monotonic() < deadline:
            if self._ended.wait(1.0):
                return
            stopper.interrupt()
        parked = stopper.park(2.0)
        if not self._finishing.acquire(blocking=False):
            return
        state = "put to sleep" if parked else "left running outside Python: times will be unreliable"
        ending = Ending(
            How.STOPPED, 0, f"stopped the program {stopper.reason}; it would not end and was {state}"
        )
        self._session.end()
        stopper.finish()
        self._finish(ending, time.monotonic() - started)

    def _finish(self, ending: Ending, seconds: float) -> None:
        """The program is over: report what was seen, then try the candidates."""
        status = 1
        try:
            self._channel.send("captured", **self._session.summary(ending, seconds, _versions()))
            answer = self._receive()
            if self._job.optimise and answer.get("optimise", True):
                told = (list(answer.get(name, ())) for name in ("findings", "given_up"))
                self._optimise(self._session.functions(*told))
            self._channel.send("done")
            status = 0
        except EOFError:
            pass
        except BaseException as error:
            traceback.print_exc()
            with contextlib.suppress(Exception):
                self._channel.send("error", message=f"the worker failed: {type(error).__name__}: {error}")
        finally:
            for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
                with contextlib.suppress(Exception):
                    stream.flush()  # type: ignore[union-attr]
            os._exit(status)  # whatever threads and exit handlers the program left must not hold this up

    def _receive(self) -> dict[str, Any]:
        import json

        return dict(json.loads(self._channel.receive()))

    def _optimise(self, functions: list[CapturedFunction]) -> None:
        """Leave every wanted function for every target to the processes that measure."""
        gc.collect()
        if self._job.serve is not None:
            self._serve_candidates(functions)
            return
        if self._job.mesh is not None:
            functions = worth_sharding(functions)
        skip = {tuple(entry) for entry in self._job.skip}
        for target in self._session.targets():
            for function in functions:
                if (function.path, function.line, target) in skip:
                    continue
                place = {
                    "function": function.qualname,
                    "path": function.path,
                    "line": function.line,
                    "target": target,
                }
                self._channel.send("optimising", **place)
                if function.call is None:
                    why = function.refused or "no inputs were kept"
                    self._result(target, _refusal(function, Status.NOT_APPLICABLE, why))
                elif self._job.mesh is not None:
                    for result in self._sharded(function, target):
                        self._result(target, result)
                else:
                    self._leave(function, target, place)
                self._channel.send("optimised", **place)

    def _result(self, target: str, result: Result) -> None:
        self._channel.send("result", target=target, result=to_plain(result))

    def _prover(self, function: CapturedFunction, target: str) -> Any:
        from jaxlint_runtime.programs.program import Program
        from jaxlint_runtime.proof.live_prover import LiveProver
        from jaxlint_runtime.workers.measuring_server import settings_of

        place = {"qualname": function.qualname, "path": function.path, "line": function.line}
        program = Program(function, settings_of(self._channel, self._job, target, place))
        program.target.devices()
        return LiveProver(program)

    def _leave(self, function: CapturedFunction, target: str, place: dict[str, Any]) -> None:
        """Export one function and its candidates. `refused` says why all of it, or which candidates, could not be."""
        from jaxlint_runtime.exported.artefacts import NotExported
        from jaxlint_runtime.exported.exporting import leave
        from jaxlint_runtime.lowering.versions import StagingError
        from jaxlint_runtime.targets import TargetUnavailable

        assert self._job.artefacts is not None
        folder = Path(tempfile.mkdtemp(dir=self._job.artefacts))
        told: dict[str, Any] = {"folder": str(folder), "environment": _environment()}
        self._channel.send("progress", message=f"{function.qualname}: staging for {target}")
        try:
            told |= leave(self._prover(function, target), folder, texts=self._job.dump is not None)
        except (StagingError, TargetUnavailable) as error:
            why = f"the original {error}" if isinstance(error, StagingError) else str(error)
            self._result(target, _refusal(function, Status.FAILED, why, "original"))
            return
        except NotExported as reason:
            told["refused"] = str(reason)
        except Exception as error:
            traceback.print_exc()
            told["refused"] = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
        self._channel.send("left", **place, **told)

    def _serve_candidates(self, functions: list[CapturedFunction]) -> None:
        """Measure the candidates of one function here, where it cannot be exported."""
        from jaxlint_runtime.workers.measuring_server import Server

        assert self._job.serve is not None
        function = next((one for one in functions if one.call is not None), None)
        if function is None:
            self._channel.send(
                "error", message="the function was not called again when the program ran again"
            )
            return
        server = Server(self._channel, self._job)
        server.take(self._prover(function, self._job.serve), proposing=True)
        server.run()

    def _sharded(self, function: CapturedFunction, target: str) -> Iterator[Result]:
        """How to split the inputs of one function over the mesh."""
        from jaxlint_runtime.lowering.versions import StagingError
        from jaxlint_runtime.settings import Settings
        from jaxlint_runtime.sharding import shard_function
        from jaxlint_runtime.sharding.mesh import MeshShape
        from jaxlint_runtime.targets import TargetUnavailable

        names, sizes = zip(*self._job.mesh or (), strict=True)
        settings = Settings(target=target, memory_limit=self._job.device_memory, progress=self._progress)
        try:
            bounds = (
                shard_function.Bounds()
                if self._job.seconds is None
                else shard_function.Bounds(seconds=self._job.seconds)
            )
            found = shard_function.shard(function, settings, MeshShape(tuple(names), tuple(sizes)), bounds)
        except (StagingError, TargetUnavailable) as error:
            yield _refusal(function, Status.FAILED, str(error))
            return
        except Exception as error:
            traceback.print_exc()
            text = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
            yield _refusal(function, Status.FAILED, f"the search stopped: {text}")
            return
        self._channel.send(
            "sharding", target=target, sharding=to_plain(shard_function.record(function, found))
        )
        yield shard_function.result(function, found)

    def _progress(self, message: str) -> None:
        self._channel.send("progress", message=message)


def _die_with_parent(job: Job) -> None:
    """End this process, what it started and the run's temporary files when the command line was killed and cannot do it."""
    parent, mark, waiting = os.getppid(), os.environ.get("JAXLINT_WORKER", ""), threading.Event()

    def watch() -> None:
        while os.getppid() == parent:
            waiting.wait(1.0)
        if job.run_folder is not None and os.path.basename(job.run_folder).startswith(RUN_FOLDER):
            shutil.rmtree(job.run_folder, ignore_errors=True)
        for process in _marked(mark) if mark else ():
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, name="jaxlint-parent", daemon=True).start()


def _marked(mark: str) -> Iterator[int]:
    """Other processes that carry the mark in their environment. psutil is not there in every interpreter."""
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                with contextlib.suppress(OSError):
                    if mark.encode() in Path("/proc", name, "environ").read_bytes():
                        yield int(name)


def go_back(folder: str) -> None:
    """To the folder in which the program began, or, if it is gone, to one that is there: much fails without."""
    for one in (folder, os.sep):
        with contextlib.suppress(OSError):
            os.chdir(one)
            return


def _environment() -> dict[str, str]:
    """What the program set for JAX and its compilers, whoever set it."""
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


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _VERSIONS:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _prepare_process() -> None:
    """Die before the others when memory runs out; no core files; a readable trace when it crashes."""
    import resource

    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable(2, all_threads=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]


def main(read_fd: int, write_fd: int) -> None:
    """Serve one job that comes over `read_fd`; events go to `write_fd`."""
    channel = Channel(read_fd, write_fd)
    _prepare_process()
    try:
        job = Job.from_json(channel.receive())
    except (EOFError, ValueError) as error:
        channel.send("error", message=str(error))
        sys.exit(2)
    if job.trial is not None:
        from jaxlint_runtime.capture.trial_run import run_trial

        _die_with_parent(job)
        run_trial(channel, job)
    if job.measure:
        from jaxlint_runtime.workers.measuring_server import serve

        _die_with_parent(job)
        serve(channel, job)
        os._exit(0)
    Worker(channel, job).run()
