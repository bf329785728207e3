"""Runs in one of several processes: writes each program that spans processes to the record of this process, before its launch."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import socket
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from jaxlint_runtime.capture.function_identity import Project
from jaxlint_runtime.lockstep import host_data
from jaxlint_runtime.protocol.json_records import encode
from jaxlint_runtime.protocol.launch_records import (
    Alone,
    Began,
    Compiled,
    Compiling,
    HostData,
    Joined,
    Launched,
    Leaf,
    Place,
    Program,
    Record,
    Stack,
    Stands,
    Tick,
)

if TYPE_CHECKING:
    from jaxlint_runtime.inspection.memory import Memory

_TICK = 0.5  # seconds between two signs of life
_DEEPEST = 32  # places of a stack, the innermost of them
_KEPT_TEXT = 2 * 2**20  # characters of StableHLO that are left to be compared
_SHOWN_TYPES = 6
_COMPARED = 32  # calls of one line whose data are compared
_ARGUMENT = re.compile(r"%arg\d+: (tensor<[^>]*>)")
_MAIN = re.compile(r"func\.func public @main\((.*)")


class Writer:
    """The record of this process, a growing file. Forked children write nothing."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._process = os.getpid()

    def write(self, record: Record) -> None:
        """Writes one line at once, so that it exists whatever happens next."""
        if os.getpid() == self._process:
            os.write(self._fd, encode(record))


class Recording:
    """The events of this process, in order. `given`: arguments of `jax.distributed.initialize` that are set
    from outside.

    `stays`: the processes need their connection after the program's end.
    """

    def __init__(
        self,
        writer: Writer,
        folder: Path,
        project: Project,
        given: dict[str, Any] | None,
        stays: bool = False,
    ) -> None:
        self._stays = stays
        self.disconnect: Callable[[], None] = lambda: None  # lets the connection end when the process exits
        self._writer, self._folder, self._project, self._given = writer, folder, project, given
        self._lock = threading.RLock()  # programs may be launched from several threads
        self._stacks: dict[tuple[Place, ...], int] = {}
        self._programs = 0
        self._compile_begins: dict[int, float] = {}
        self._launches = 0
        self._host_data: Counter[int] = Counter()  # calls, by their stack
        self.joined = False
        self._thread = 0
        self._last: weakref.ref[Any] | None = None  # a result of the last launched program

    def begin(self, started_as: int | None) -> None:
        """Writes the first line, and signs of life from now on."""
        self._writer.write(Began(socket.gethostname(), os.getpid(), started_as))
        self._thread = threading.get_ident()  # that of the program
        threading.Thread(target=self._watch, name="jaxlint-lockstep", daemon=True).start()

    def on_jax(self, jax: ModuleType) -> None:
        """JAX was imported: installs the hooks."""
        from jaxlint_runtime import compat

        compat.LaunchHooks(self._compiling, self._compiled, self._launching, self._launched).install()
        compat.on_initialize(self.on_joined, self._given)
        host_data.on_jax(jax, self._host_data_made)
        if self._stays:
            self.disconnect = compat.stay_connected()

    def on_multihost(self, module: ModuleType) -> None:
        """JAX's helpers for several hosts were imported."""
        host_data.on_multihost(module, self._host_data_made)

    # ---- hooks ----

    def on_joined(self, process: int, processes: int) -> None:
        """The processes of the program have found each other."""
        self.joined = True
        self._writer.write(Joined(process, processes))

    def _compiling(self, name: str, module: Any, devices: Sequence[Any]) -> int | None:
        """The number of a program that spans processes."""
        if not self.joined:
            self._writer.write(Alone())
        shown = name.removeprefix("jit_")
        processes = tuple(sorted({device.process_index for device in devices}))
        if len(processes) < 2:
            self._writer.write(Compiling(shown))
            return None
        text = str(module)
        ids = ",".join(str(device.id) for device in devices)
        digest = hashlib.sha256(f"{ids}\n{text}".encode()).hexdigest()[:16]
        with self._lock:
            self._programs += 1
            number = self._programs
            self._keep(digest, text)
            self._writer.write(Program(number, shown, digest, processes, _argument_types(text)))
            self._writer.write(Compiling(shown, number, self._stack(sys._getframe(2))))
            self._compile_begins[number] = time.perf_counter()
        return number

    def _compiled(self, program: int | None, executable: Any) -> None:
        if program is None or executable is None:
            self._writer.write(Compiled())
            return
        seconds = time.perf_counter() - self._compile_begins.pop(program)
        memory = _memory(executable)
        self._writer.write(
            Compiled(
                program,
                _collectives(executable),
                seconds,
                None if memory is None else memory.total,
                None if memory is None else memory.alias,
            )
        )

    def _launching(self, program: int) -> None:
        with self._lock:
            self._launches += 1
            self._writer.write(Launched(program, self._stack(sys._getframe(2))))

    def _launched(self, results: Any) -> None:
        first = next(iter(results), None)
        with contextlib.suppress(TypeError):  # objects without weak references
            self._last = None if first is None else weakref.ref(first)

    def _host_data_made(self, caller: FrameType | None) -> Callable[[tuple[Leaf, ...]], None] | None:
        """The receiver of the data that one call puts into arrays that span processes.

        Calls in packages are not the program's data: JAX itself gathers and compares values this way.
        """
        if caller is None or self._project.file(caller.f_code.co_filename) is None:
            return None
        stack = self._stack(caller)
        with self._lock:
            self._host_data[stack] += 1
            wanted = self._host_data[stack] <= _COMPARED
        return (lambda leaves: self._writer.write(HostData(stack, leaves))) if wanted else None

    # ---- parts ----

    def _keep(self, digest: str, text: str) -> None:
        """Stores the StableHLO for the reader, who shows where two programs differ. The first process that has it writes it."""
        path = self._folder / f"{digest}.mlir"
        if len(text) <= _KEPT_TEXT and not path.exists():
            own = self._folder / f"{digest}.{os.getpid()}"
            with contextlib.suppress(OSError):
                own.write_text(text, encoding="utf-8")
                own.replace(path)

    def _stack(self, frame: FrameType | None) -> int:
        """The number of the stack of the user's lines from `frame` outwards, written once."""
        places: list[Place] = []
        while frame is not None and len(places) < _DEEPEST:
            path = self._project.file(frame.f_code.co_filename)
            if path is not None:
                places.append(Place(path, frame.f_lineno, frame.f_code.co_qualname))
            frame = frame.f_back
        key = tuple(reversed(places))
        with self._lock:
            number = self._stacks.get(key)
            if number is None:
                number = self._stacks[key] = len(self._stacks) + 1
                self._writer.write(Stack(number, key))
        return number

    def _watch(self) -> None:
        """Reports that the process is alive, and its position while it launches nothing."""
        seen, told = -1, (0, False)
        while True:
            time.sleep(_TICK)
            self._writer.write(Tick())
            launches, before = self._launches, seen
            seen = launches
            if launches != before:
                continue
            frame = sys._current_frames().get(self._thread)
            inside = self._computes() or (frame is not None and self._is_jax(frame))
            now = self._stack(frame), inside
            if now != told:
                self._writer.write(Stands(*now))
                told = now

    def _computes(self) -> bool:
        """Whether the last launched program still runs."""
        result = self._last() if self._last is not None else None
        try:
            return result is not None and not result.is_ready()
        except Exception:  # it was donated or deleted
            return False

    @staticmethod
    def _is_jax(frame: FrameType) -> bool:
        name = str(frame.f_globals.get("__name__", ""))
        return name.partition(".")[0] in ("jax", "jaxlib")


def watch_for_end(folder: Path, stop: str, alive: str, patience: float, end: Callable[[], None]) -> None:
    """Calls `end` on the reader's request, or after `patience` seconds without a sign of life from it. Runs in its own thread."""

    def watch() -> None:
        said, since = b"", time.monotonic()
        while not (folder / stop).exists():
            time.sleep(_TICK)
            with contextlib.suppress(OSError):
                now = (folder / alive).read_bytes()
                if now != said:
                    said, since = now, time.monotonic()
            if time.monotonic() - since > patience:
                break
        end()

    threading.Thread(target=watch, name="jaxlint-lockstep-end", daemon=True).start()


def _collectives(executable: Any) -> dict[str, int]:
    from jaxlint_runtime.inspection.collectives import collective_counts

    try:
        return collective_counts(executable.hlo_modules()[0].to_string())
    except Exception:  # a backend that does not show its programs
        return {}


def _memory(executable: Any) -> Memory | None:
    from jaxlint_runtime.inspection.memory import as_memory

    try:
        return as_memory(executable.get_compiled_memory_stats(), executable.local_devices()[0].platform)
    except Exception:  # a backend that does not say
        return None


def _argument_types(text: str) -> str:
    head = _MAIN.search(text)
    types = _ARGUMENT.findall(head[1]) if head else []
    more = f" and {len(types) - _SHOWN_TYPES} more" if len(types) > _SHOWN_TYPES else ""
    return ", ".join(types[:_SHOWN_TYPES]) + more
