"""`--workers ray`: errands run as Ray tasks, on an existing cluster or on one of this machine that ends with
the run.

The messages of a task go through an actor, so no shared folder is needed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import signal
import socket
import tarfile
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jaxlint_runtime.engines.engine import LostEngine, said_by
from jaxlint_runtime.engines.relay import relay
from jaxlint_runtime.protocol.errands import Errand, read_errand
from jaxlint_runtime.protocol.json_records import encode
from jaxlint_runtime.request import CannotRun, Workers
from jaxlint_runtime.targets import parse
from jaxlint_runtime.workers.cleanup import own_folder, remove, temporary_files_in

_ANSWER = 60.0  # seconds that the cluster may take for an answer
_END = 5.0  # for tasks to end by themselves
_KNOCK = 10.0  # and for a connection
_BUILT_IN = ("num_cpus", "num_gpus")


class Mailbox:
    """An actor that stores the lines of all tasks, by their numbers, until they are read."""

    def __init__(self) -> None:
        self._lines: dict[int, list[bytes]] = {}
        self._asked: dict[int, list[bytes]] = {}

    def put(self, number: int, lines: list[bytes]) -> None:
        """Adds lines of a task."""
        self._lines.setdefault(number, []).extend(lines)

    def take(self) -> dict[int, list[bytes]]:
        """Returns and removes all stored lines."""
        lines, self._lines = self._lines, {}
        return lines

    def ask(self, number: int, question: bytes) -> None:
        """Adds a question to a task."""
        self._asked.setdefault(number, []).append(question)

    def asked(self, number: int) -> list[bytes]:
        """Returns and removes the questions to a task."""
        return self._asked.pop(number, [])


class RayEngine:
    """Ray tasks. Options are resources: `num_gpus=1`, and those that the cluster's nodes offer, such as `TPU=4`."""

    pause = 0.2
    side_by_side = None

    def __init__(self, workers: Workers) -> None:
        """Raises CannotRun."""
        import ray

        self._ray = ray
        self.name = "Ray"
        self._resources = _amounts(workers.options)
        self._jobs: dict[int, _RayJob] = {}
        self._temporary: str | None = None
        try:
            self._connect(workers.place or os.environ.get("RAY_ADDRESS"))
            self._mailbox: Any = ray.remote(num_cpus=0)(Mailbox).remote()
            self._errand: Any = ray.remote(max_retries=0)(work)
        except Exception as error:
            self.close()
            raise CannotRun(f"--workers ray: cannot be reached: {said_by(error)}{_advice(error)}") from None

    def _connect(self, address: str | None) -> None:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        if address is None:
            self._temporary = tempfile.mkdtemp(prefix="ray-")
            address = "local"
            os.environ.setdefault(
                "RAY_USAGE_STATS_ENABLED", "0"
            )  # a Ray that the user did not start reports nothing
            options |= {"include_dashboard": False, "_temp_dir": self._temporary}
        _knock(address)
        handlers = _handlers()
        try:
            with temporary_files_in(self._temporary):  # those of its processes go with it
                self._ray.init(address=address, namespace="jaxlint", **options)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def submit(self, errands: Sequence[Errand]) -> Sequence[_RayJob]:
        """A task for each errand; the cluster starts it where its resources are free."""
        made = []
        try:
            for errand in errands:
                number = len(self._jobs)
                packed = self._ray.put(b"" if errand.placing is not None else _pack(Path(errand.left.folder)))
                task = self._errand.options(**self._needs(errand)).remote(
                    number, encode(errand).decode(), packed, self._mailbox
                )
                self._jobs[number] = _RayJob(self, number, task)
                made.append(self._jobs[number])
        except Exception as error:
            raise LostEngine(said_by(error)) from None
        return made

    def _needs(self, errand: Errand) -> dict[str, Any]:
        """The resources of a task. A task that measures times on CPUs takes a whole node, so that it runs there alone."""
        target = parse(errand.left.target)
        given = {name: value for name, value in self._resources.items() if name in _BUILT_IN}
        others = {name: value for name, value in self._resources.items() if name not in _BUILT_IN}
        if errand.only_compiles:
            return {"num_cpus": given.get("num_cpus", 1)}
        found: dict[str, Any] = {"num_cpus": 1, **given, "resources": others}
        if target.platform == "gpu":
            found.setdefault("num_gpus", 1)
        elif target.platform == "cpu" and "num_cpus" not in given:
            nodes = [node["Resources"].get("CPU", 0) for node in self._ray.nodes() if node["Alive"]]
            found["num_cpus"] = max(1, *nodes)
        return found

    def look(self) -> None:
        """Passes the received lines to their jobs. Raises LostEngine."""
        try:
            found = self._ray.get(self._mailbox.take.remote(), timeout=_ANSWER)
        except Exception as error:
            raise LostEngine(f"gives no answer ({type(error).__name__})") from None
        for number, lines in found.items():
            self._jobs[number].said += lines

    def ask(self, number: int, question: bytes) -> None:
        """Passes a question on to a task. Raises LostEngine."""
        try:
            self._ray.get(self._mailbox.ask.remote(number, question), timeout=_ANSWER)
        except Exception as error:
            raise LostEngine(f"gives no answer ({type(error).__name__})") from None

    def end_of(self, task: Any) -> str | None:
        """How a task ended; None while it waits or runs."""
        try:
            done, _ = self._ray.wait([task], timeout=0)
            if not done:
                return None
            self._ray.get(task, timeout=_ANSWER)
        except Exception as error:
            lines = str(error).strip().splitlines() or [""]
            return f"ended with {type(error).__name__} ({lines[-1].strip()})"
        return ""

    def end(self, task: Any) -> None:
        """Ends a task, and the process of its errand with it."""
        with contextlib.suppress(Exception):
            self._ray.cancel(task, force=True)

    def close(self) -> None:
        """Ends the tasks, and the cluster of this machine."""
        left = [job.task for job in self._jobs.values() if job.ended() is None]
        with contextlib.suppress(Exception):
            for task in left:
                self._ray.cancel(task)  # it may remove its files
            if left:  # the call itself would start a Ray if there is none
                self._ray.wait(left, num_returns=len(left), timeout=_END)
        for job in self._jobs.values():
            job.cancel()
        with contextlib.suppress(Exception):
            self._ray.shutdown()
        if self._temporary is not None:
            remove(self._temporary)


class _RayJob:
    def __init__(self, engine: RayEngine, number: int, task: Any) -> None:
        self._engine = engine
        self._number = number
        self.task = task
        self._end: str | None = None
        self.said: list[bytes] = []

    def lines(self) -> Sequence[bytes]:
        """The lines that have arrived."""
        said, self.said = self.said, []
        return said

    def ask(self, question: bytes) -> None:
        """Passes a question on. Raises LostEngine."""
        self._engine.ask(self._number, question)

    def ended(self) -> str | None:
        """How it ended."""
        if self._end is None:
            self._end = self._engine.end_of(self.task)
            if self._end is not None:
                with contextlib.suppress(LostEngine):
                    self._engine.look()  # for its last message
        return self._end

    def cancel(self) -> None:
        """Ends it."""
        if self._end is None:
            self._engine.end(self.task)


def work(number: int, errand: str, packed: bytes, mailbox: Any) -> None:
    """The task: unpacks the function, and runs the errand."""
    import ray

    found = read_errand(errand)
    with own_folder() as folder:
        if packed:
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                archive.extractall(folder, filter="data")
        left = dataclasses.replace(found.left, folder=folder)
        relay(
            dataclasses.replace(found, left=left),
            lambda lines: ray.get(mailbox.put.remote(number, lines)),
            lambda: True,
            lambda: ray.get(mailbox.asked.remote(number)),
        )


def _advice(error: Exception) -> str:
    """The advice if a cluster may require the user's token, which Ray does not send automatically."""
    if isinstance(error, OSError) or "RAY_AUTH_MODE" in os.environ:
        return ""
    return "; set RAY_AUTH_MODE=token if the cluster asks for a token"


def _knock(address: str) -> None:
    """Raises OSError if nothing listens at an address: `ray.init` would wait for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK).close()


def _pack(folder: Path) -> bytes:
    """The files of a folder as an archive."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.add(folder, arcname=".")
    return data.getvalue()


def _amounts(options: Any) -> dict[str, float]:
    """The options as amounts of resources. Raises CannotRun."""
    try:
        return {name: float(value) for name, value in options.items()}
    except ValueError:
        raise CannotRun(
            "--workers ray: what follows the address are amounts of resources, such as num_gpus=1"
        ) from None


def _handlers() -> dict[int, Any]:
    """The signal handlers of this process, which `ray.init` replaces."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
