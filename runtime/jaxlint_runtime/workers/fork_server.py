"""A process that has imported JAX and the program's packages, started no backend, and forks workers on
request.

A fork equals a fresh process after the same imports, and saves their time. JAX does not survive a fork once a
backend runs, nor do other threads. In these cases this process refuses, and workers are started as usual.

Each worker becomes a child of the command line, which adopts orphans: the process between them exits at once.
So the command line can watch and end a worker like one that it started.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import json
import os
import re
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxlint.gc_pause import no_garbage_collection
from jaxlint_runtime.protocol.fork_records import (
    CACHE,
    LEAST_COMPILE,
    Forked,
    Imported,
    Refused,
    StartFork,
    Warm,
)
from jaxlint_runtime.protocol.json_records import encode, from_plain

_MARK = "JAXLINT_WORKER"
_LENT = ("JAXLINT_LENT", "JAXLINT_LENT_IF_MISSING")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MOST_FDS = 16
_PATIENCE = 5.0  # seconds until the command line has adopted a worker
# What the worker of a trial imports, before the packages of the program and after them.
_BEFORE = ("jaxlint_runtime.workers.main", "jaxlint_runtime.capture.trial_run")
_AFTER = (
    "jax",
    "jaxlint_runtime.compat",
    "jaxlint_runtime.inspection",
    "jaxlint_runtime.proof.equivalence",
    "jaxlib.mlir.dialects.mhlo",  # which JAX imports to lower its first program
)


def serve(descriptor: int) -> None:
    """Forks workers until the command line is gone."""
    from jaxlint_runtime.capture import trial_run

    connection = socket.socket(fileno=descriptor)
    started_with = dict(os.environ)
    try:
        first, _ = _line(connection)
        with no_garbage_collection():
            problem = _imported(from_plain(Warm, json.loads(first)).modules)
        if problem is not None:
            connection.sendall(encode(Refused(problem)))
            return
        connection.sendall(encode(Imported(_loaded_files())))
        gc.collect()
        trial_run.note_open_files()
        gc.freeze()
        origin = _Origin(connection, started_with, _pages_of_files())
        while True:
            line, descriptors = _line(connection)
            pid = _fork(origin, from_plain(StartFork, json.loads(line)), descriptors)
            for one in descriptors:
                os.close(one)
            connection.sendall(encode(Forked(pid)))
    except (EOFError, OSError):
        pass  # the command line is gone
    finally:
        os._exit(0)  # exit handlers of the packages are for the workers


def _line(connection: socket.socket) -> tuple[bytes, list[int]]:
    """The next line, and the descriptors that come with it. Raises EOFError."""
    line, descriptors = b"", list[int]()
    while not line.endswith(b"\n"):
        data, fds, _, _ = socket.recv_fds(connection, 65536, _MOST_FDS)
        descriptors += fds
        if not data:
            raise EOFError
        line += data
    return line, descriptors


def _loaded_files() -> list[str]:
    """The files of its modules, except jaxlint's own, which are the same for all workers."""
    found = []
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("jaxlint", "jaxlint_runtime", "__main__"):
            continue
        with contextlib.suppress(Exception):  # some modules are objects that compute their attributes
            if isinstance(path := module.__file__, str):
                found.append(os.path.realpath(path))
    return found


def _imported(modules: Sequence[str]) -> str | None:
    """Imports them in the order of a fresh worker; returns why this process must not fork, None if it may."""
    with tempfile.TemporaryFile() as said:
        outputs = [os.dup(1), os.dup(2)]
        for number in (1, 2):
            os.dup2(said.fileno(), number)
        import numpy  # noqa: F401 - its threads are known: they are stopped and started around a fork

        threads = _threads()
        for name in (*_BEFORE, *modules, *_AFTER):
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number, output in zip((1, 2), outputs, strict=True):
            os.dup2(output, number)
            os.close(output)
        printed = os.fstat(said.fileno()).st_size
    from jaxlint_runtime import compat

    if printed:
        return "its packages print while they are imported"
    if compat.has_backend():
        return "its packages start a backend while they are imported"
    if threading.active_count() > 1 or _threads() > 1 + (threads - 1) * max(_blas_libraries(), 1):
        return "its packages start threads while they are imported"
    try:
        _overwrite_mark(os.environ[_MARK], os.environ[_MARK])
    except (OSError, LookupError):
        return "the environment of a process cannot be marked"
    return None


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))


def _blas_libraries() -> int:
    """How many copies of OpenBLAS are loaded: NumPy and SciPy have one each, with threads that it stops before a fork."""
    maps = Path("/proc/self/maps").read_text(errors="replace")
    return len(set(re.findall(r"\S*openblas\S*", maps)))


@dataclass(frozen=True, slots=True)
class _Origin:
    """The facts that a fork needs about its parent process."""

    connection: socket.socket
    environment: Mapping[str, str]  # that it was started with
    pages: Sequence[int]  # addresses of its pages of mapped files


def _fork(origin: _Origin, start: StartFork, descriptors: Sequence[int]) -> int:
    """Forks a worker, as an orphan; returns its process id."""
    read, write = os.pipe()
    between = os.fork()
    if between == 0:
        try:
            worker = os.fork()
            if worker == 0:
                os.close(read)
                os.close(write)
                _be_worker(origin, start, descriptors)
            os.write(write, str(worker).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(between, 0)  # from here on the worker has its new parent
    pid = os.read(read, 64)
    os.close(read)
    return int(pid)


def _be_worker(origin: _Origin, start: StartFork, descriptors: Sequence[int]) -> None:
    """Becomes a worker like a started process. Never returns."""
    status = 1
    try:
        os.setsid()
        origin.connection.close()
        output, errors, job, events = descriptors
        for descriptor, number in ((output, 1), (errors, 2)):
            os.dup2(descriptor, number)
            os.close(descriptor)
        _overwrite_mark(os.environ[_MARK], start.environment[_MARK])
        _set_environment(origin.environment, start.environment)
        os.chdir(start.folder)
        tempfile.tempdir = None
        _set_cache(start.environment)
        _touch(origin.pages)
        _await_parent(start.parent)
        faulthandler.enable(2, all_threads=False)
        from jaxlint_runtime.workers.main import main

        main(job, events)
        status = 0
    finally:
        os._exit(status)


def _set_environment(before: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """Turns the environment that this process had at its start into another; changes by the imports are kept."""
    for name, value in wanted.items():
        if name not in _LENT and before.get(name) != value:
            os.environ[name] = value
    for name in before.keys() - wanted.keys():
        os.environ.pop(name, None)


def _set_cache(environment: Mapping[str, str]) -> None:
    """JAX read its settings at import: this sets those of its compilation cache again, as JAX reads them."""
    import jax

    if CACHE in environment:
        jax.config.update(CACHE.lower(), environment[CACHE])
    if LEAST_COMPILE in environment:
        jax.config.update(LEAST_COMPILE.lower(), float(environment[LEAST_COMPILE]))


def _await_parent(parent: int) -> None:
    deadline = time.monotonic() + _PATIENCE
    while os.getppid() != parent:
        if time.monotonic() > deadline:
            raise OSError("not adopted")
        time.sleep(0.001)


def _overwrite_mark(before: str, after: str) -> None:
    """Replaces the mark where other processes read this one's environment, which never changes by itself: the
    command line finds leftover processes of a worker by the mark. Raises OSError and LookupError.
    """
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = int(fields[47]), int(fields[48])
    old, new = (f"{_MARK}={mark}".encode() for mark in (before, after))
    if len(old) != len(new):
        raise LookupError(after)
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        memory.seek(start)
        place = memory.read(end - start).find(old)
        if place < 0:
            raise LookupError(before)
        memory.seek(start + place)
        memory.write(new)


def _pages_of_files() -> list[int]:
    """The addresses of the pages of mapped files that this process holds.

    A fork begins without them, and would count them as memory of the program when it touches them again.
    """
    found: list[int] = []
    with contextlib.suppress(OSError, ValueError), open("/proc/self/pagemap", "rb") as pagemap:
        for line in Path("/proc/self/maps").read_text(errors="replace").splitlines():
            span, rights, *_, name = line.split(None, 5)
            if not rights.startswith("r") or not name.startswith("/"):
                continue
            start, end = (int(address, 16) for address in span.split("-"))
            pagemap.seek(start // _PAGE * 8)
            entries = pagemap.read((end - start) // _PAGE * 8)
            found += [
                start + number * _PAGE
                for number in range(len(entries) // 8)
                if entries[8 * number + 7] & 0x80
            ]
    return found


def _touch(pages: Sequence[int]) -> None:
    """Reads a byte of each."""
    import ctypes

    for address in pages:
        ctypes.string_at(address, 1)
