"""Starts the processes of one program, each on this machine or all by a launcher, and ends them in any case."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

from jaxlint_runtime.lockstep.rank import NUMBER
from jaxlint_runtime.protocol.jobs import Capture
from jaxlint_runtime.protocol.json_records import encode
from jaxlint_runtime.protocol.launch_records import ALIVE, JOB, STOP, SUFFIX, RankJob
from jaxlint_runtime.request import CannotRun, InStep, Request
from jaxlint_runtime.sharding.mesh import simulate
from jaxlint_runtime.workers import process
from jaxlint_runtime.workers.process import BOOT, lent
from jaxlint_runtime.workers.process_group import Death, ProcessGroup, default_memory_limit
from jaxlint_runtime.workers.scratch_copy import Scratch
from jaxlint_runtime.workers.starting import in_copy, working_folder

_LOOK = 0.05  # seconds
_SIGN = 5.0  # seconds between two signs of life
_LOOPBACK = "127.0.0.1"
_LAST_WORDS = 8.0  # seconds that a launcher has to end processes on other machines


class Ranks:
    """The processes of a program, or the launcher that started them. Use as a context manager."""

    def __init__(
        self,
        request: Request,
        how: InStep,
        folder: Path,
        output: Callable[[str, bytes], None],
        proving: Capture | None = None,
        scratch: Scratch | None = None,
    ) -> None:
        self._folder = folder
        self._signed: float | None = None
        self._decides = not how.joins
        self._launched = bool(how.launcher)
        self._cwd = working_folder(scratch)
        self.groups: list[ProcessGroup] = []
        coordinator = None if how.launcher else f"{_LOOPBACK}:{free_port()}"
        # processes that a launcher starts do not end with this process
        ours = None if how.launcher else process.run_folder
        proving = None if proving is None else in_copy(proving, scratch)
        launch = request.launch() if proving is None else proving.launch
        job = RankJob(launch, coordinator, how.processes, ours, proving)
        self.put(JOB, encode(job))
        self.sign(time.monotonic())
        where = lent()
        role = "ray" if how.by_ray else "rank"
        command = [request.python, "-P", str(BOOT), role, str(folder), where["JAXLINT_LENT"]]
        limit = request.memory_limit or default_memory_limit() // (how.processes or 1)
        try:
            if how.processes is None:
                environment = {**os.environ, **where}
                launcher = () if how.by_ray else how.launcher
                self._start([*launcher, *command], environment, limit, output)
            for number in range(how.processes or 0):
                environment = {**os.environ, **where, **_numbered(number, how, coordinator or "")}
                simulate(environment, [("local", how.local_devices)])
                environment["TF_CPP_MIN_LOG_LEVEL"] = "2"
                self._start(command, environment, limit, _prefixed(f"[{number}] ", output))
        except OSError as error:
            self.close()
            raise CannotRun(f"{how.shown(request)}: cannot be started ({error.strerror})") from None

    def _start(
        self,
        command: list[str],
        environment: dict[str, str],
        limit: int,
        output: Callable[[str, bytes], None],
    ) -> None:
        self.groups.append(
            ProcessGroup(
                command, folder=self._cwd, environment=environment, memory_limit=limit, output=output
            )
        )

    def sign(self, now: float) -> None:
        """Writes a sign of life every few seconds. Without it the processes end themselves: those on other
        machines cannot see that this one is gone.
        """
        if self._signed is None or now - self._signed > _SIGN:
            self._signed = now
            self.put(ALIVE, f"{os.getpid()} {now}".encode())

    def put(self, name: str, data: bytes) -> None:
        """Writes a file of the shared folder, so that readers only see it complete."""
        own = self._folder / f"{name}.{socket.gethostname()}.{os.getpid()}"
        own.write_bytes(data)
        own.replace(self._folder / name)

    def deaths(self) -> dict[int, Death]:
        """How the ended processes died, by their number; the launcher is number 0."""
        return {number: death for number, group in enumerate(self.groups) if (death := group.death())}

    @property
    def list_of_own(self) -> Path:
        """The record of the first process, if it runs on this machine without a launcher."""
        return self._folder / f"{socket.gethostname()}-{self.groups[0].pid}{SUFFIX}"

    def decide(self, verdict: bytes | None = None) -> None:
        """From now on this command decides for all. `verdict`: all processes must end, and their commands receive this text."""
        self._decides = True
        if verdict is not None:
            with contextlib.suppress(OSError):
                self.put(STOP, verdict)

    def told(self) -> str | None:
        """The text of the command that decides; None while there is none."""
        with contextlib.suppress(OSError):
            return (self._folder / STOP).read_text(encoding="utf-8") or None
        return None

    def wait(self, seconds: float) -> None:
        """Waits until all have ended, but no longer than `seconds`."""
        until = time.monotonic() + seconds
        while len(self.deaths()) < len(self.groups) and time.monotonic() < until:
            time.sleep(_LOOK)

    def close(self) -> None:
        """Ends all of them."""
        if self._decides and not (self._folder / STOP).exists():
            self.decide(b"{}")
        if self._launched:
            # a killed launcher cannot return its allocation: a job of srun would stay in the queue
            for group in self.groups:
                group.ask_to_end()
            self.wait(_LAST_WORDS)
        for group in self.groups:
            group.kill("was ended")
        for group in self.groups:
            group.close()

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _numbered(number: int, how: InStep, coordinator: str) -> dict[str, str]:
    """The environment variables that launchers set for a process, for programs that read them."""
    host, _, port = coordinator.rpartition(":")
    return {
        NUMBER: str(number),
        "RANK": str(number),
        "LOCAL_RANK": str(number),
        "WORLD_SIZE": str(how.processes),
        "MASTER_ADDR": host,
        "MASTER_PORT": port,
        "JAX_COORDINATOR_ADDRESS": coordinator,
        "JAX_NUM_PROCESSES": str(how.processes),
        "JAX_PROCESS_ID": str(number),
    }


def free_port() -> int:
    """A free port of the loopback interface."""
    with socket.socket() as one:
        one.bind((_LOOPBACK, 0))
        return int(one.getsockname()[1])


def _prefixed(prefix: str, output: Callable[[str, bytes], None]) -> Callable[[str, bytes], None]:
    """Passes on whole lines, each with the prefix of its process."""
    rests: dict[str, bytes] = {}
    lock = threading.Lock()

    def lines(stream: str, data: bytes) -> None:
        with lock:
            *whole, rests[stream] = (rests.get(stream, b"") + data).split(b"\n")
        if whole:
            output(stream, b"".join(prefix.encode() + line + b"\n" for line in whole))

    return lines
