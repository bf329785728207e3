"""One whole run of one version of a program: its results, its run and compile times, and its memory.

No capture hook is installed: the program runs as it would by itself, except for the observed functions.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import gc
import importlib
import io
import os
import re
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from types import ModuleType
from typing import Any

from jaxlint_runtime.capture.fixed_seeds import seed_the_unseeded
from jaxlint_runtime.capture.observed_results import MODULE, Observer, corresponding, read
from jaxlint_runtime.capture.outside_files import OutsideFiles
from jaxlint_runtime.capture.reached_code import ReachedCode
from jaxlint_runtime.capture.run_program import Kind, pytest_exit, run_program
from jaxlint_runtime.capture.session import relocate_path
from jaxlint_runtime.capture.stop import Stopper, StopProgram
from jaxlint_runtime.capture.truncation import Cut
from jaxlint_runtime.capture.watched_functions import WatchedImports
from jaxlint_runtime.protocol.channel import Channel
from jaxlint_runtime.protocol.jobs import Trial
from jaxlint_runtime.protocol.json_records import to_plain
from jaxlint_runtime.protocol.worker_events import Compared, Done, Ended, Error, Hello, Ran

_COMPILING = ("/jax/core/compile/jaxpr_trace_duration", "/jax/core/compile/jaxpr_to_mlir_module_duration")
_BACKEND = "/jax/core/compile/backend_compile_duration"
_OPEN: list[io.IOBase] = []  # files that were open before this process was forked, which its collector skips
# Relative, of a whole run: in float64, rounding grows over its steps to more than single operations have, and a mistake, as a part in
# float32 that has 1e-7, is far larger.
_LEAST_ERROR = 1e-11
_SPREAD = 0.1  # a value that rounding moves by more than this is useless


class _Compiles:
    """Seconds of tracing, lowering and compiling, without overlap, and the number of compiles."""

    def __init__(self) -> None:
        self.count = 0
        self.spans: list[tuple[float, float]] = []

    def listen(self, event: str, duration_secs: float, **_: Any) -> None:
        if event in _COMPILING or event == _BACKEND:
            now = time.perf_counter()
            self.spans.append((now - duration_secs, now))
            self.count += event == _BACKEND

    def seconds(self) -> float:
        total, end = 0.0, 0.0
        for start, stop in sorted(self.spans):
            total += max(0.0, stop - max(start, end))
            end = max(end, stop)
        return total


def run_trial(channel: Channel, job: Trial) -> None:
    """Runs the program once and sends the results. Ends the process."""
    channel.send(Hello(os.getpid()))
    status = 1
    outside = OutsideFiles(job.inside)
    try:
        seen = _run(job, outside)
        if not seen.ending.message.startswith("the program called os._exit"):
            _end_as_python_does()
        outside.stop()
        if (cache := _compilation_cache()) is not None:
            outside.forget(cache)
        channel.send(dataclasses.replace(seen, outside=outside.written(), gone=outside.gone()))
        channel.send(Done())
        status = 0
    except BaseException as error:
        with contextlib.suppress(Exception):
            channel.send(Error(f"the trial failed: {type(error).__name__}: {error}"))
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(status)


def _compilation_cache() -> str | None:
    """The folder of JAX's compilation cache, which differs between versions."""
    import jax

    folder = getattr(jax.config, "jax_compilation_cache_dir", None)
    return folder if isinstance(folder, str) and folder else None


def _end_as_python_does() -> None:
    """Calls the `atexit` functions, and flushes open files: both may be part of the program's output."""
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    for one in (*_OPEN, *_files()):
        with contextlib.suppress(Exception):
            if not one.closed and one.writable():
                one.flush()


def _files() -> list[io.IOBase]:
    """All file objects among those that the garbage collector looks at."""
    return [one for one in gc.get_objects() if issubclass(type(one), io.IOBase)]


def note_open_files() -> None:
    """Remembers the file objects of this process, whose objects are frozen before it forks."""
    _OPEN[:] = _files()


def _run(job: Trial, outside: OutsideFiles) -> Ran:
    kind = Kind(job.launch.kind)
    stopper = Stopper(pytest_exit if kind is Kind.PYTEST else StopProgram)
    folder = Path(job.record) if job.record else None
    places: dict[str, list[str]] = defaultdict(list)
    for path, name in job.observe:
        places[path].append(name)
    for path in job.files:
        places[os.path.realpath(path)] += []
    reach = ReachedCode() if job.files else None
    relocate_path(job.launch.relocated)
    if kind is not Kind.SCRIPT:
        sys.path.insert(0, os.getcwd())
    for name in job.preload:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    import jax

    from jaxlint_runtime import compat

    observer = Observer(places, folder, compat.is_tracing, reach=reach)
    imports = WatchedImports(observer)
    compiles = _Compiles()
    jax.monitoring.register_event_duration_secs_listener(compiles.listen)
    imports.install()
    seed_the_unseeded()
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # forget the highest resident set so far
    resident = _status("VmRSS")
    cut = _cut(job, stopper)
    observer.cut = cut
    start, worked = time.perf_counter(), time.process_time()

    def compiled(data: bytes, name: str) -> Any:
        return observer.compile(data, name) or compile(data, name, "exec", dont_inherit=True)

    outside.start()
    ending = run_program(kind, job.launch.target, job.launch.arguments, stopper, compiled)
    seconds = time.perf_counter() - start - observer.overhead
    worked = time.process_time() - worked
    peak: int | None = _status("VmHWM") - resident
    observer.active = False
    imports.remove()
    device = jax.devices()[0]
    if device.platform != "cpu":
        peak = (device.memory_stats() or {}).get("peak_bytes_in_use")
    if kind is Kind.SCRIPT:
        observer.keep(MODULE, 1, _globals())
    observer.close()
    compile_s = compiles.seconds()
    return Ran(
        ending=Ended(ending.how, ending.status, ending.message),
        frames=list(ending.frames),
        run_s=max(seconds - compile_s, 0.0),
        compile_s=compile_s,
        cpu_s=worked,
        compiles=compiles.count,
        peak_bytes=peak,
        cut=None if cut is None else cut.at,
        functions=[to_plain(record) for record in observer.records],
        threads=threading.active_count(),
        compared=_compare(folder, [Path(path) for path in job.references], job.dtype),
        missed=reach.missed() if reach is not None else [],
    )


def _cut(job: Trial, stopper: Stopper) -> Cut | None:
    """Where this run is to be cut off, if at all."""
    if job.cut_after is None and job.cut_at is None:
        return None

    def stop(reason: str) -> None:
        stopper.request(reason)
        stopper.raise_here()

    cut = Cut(stop, job.cut_after, job.cut_at)
    cut.watch(sys.stdout)
    return cut


def _globals() -> dict[str, Any]:
    """Arrays and numbers in the names of the program's main module."""
    names = vars(sys.modules["__main__"]) if "__main__" in sys.modules else {}
    return {
        name: value
        for name, value in names.items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and (isinstance(value, int | float | list | tuple | dict) or hasattr(value, "dtype"))
    }


def _compare(folder: Path | None, references: list[Path], dtype: str | None) -> Compared | None:
    """Compares this run's values with those of the first reference; the other references show how far rounding moves
    them.

    `dtype`: the dtype that this run computes in, if it is coarser than its results.
    """
    if folder is None or not references:
        return None
    from jaxlint_runtime.inspection.intermediate_dtypes import coarsest
    from jaxlint_runtime.proof import equivalence

    first, *others = ({(name, number): found for name, number, found in read(path)} for path in references)
    ours = {(name, number): found for name, number, found in read(folder)}
    same_calls = corresponding(references[0], folder)
    compared = values = 0
    apart = 0.0  # a value that differs more between runs of the original than its dtype explains
    worst: Any = None
    for key, reference in first.items():
        found = ours.get(key)
        if found is None or not same_calls(key[0]):
            continue
        if key[0] == MODULE:
            reference, found = _common(reference, found)
        names = [_computed_in(str(leaf.dtype)) for leaf in reference.leaves]
        allowed = max(equivalence.tolerance(coarsest([*names, dtype] if dtype else names)), _LEAST_ERROR)
        spread = None
        usable = True
        moved = 0.0
        for other in others:
            again = other.get(key)
            if again is None:
                continue
            if key[0] == MODULE:
                _, again = _common(reference, again)
            noise = equivalence.compare(reference, again, allowed)
            if noise.numerics.max_rel > _SPREAD:  # other shapes or integers count as infinitely different
                usable = False
            elif spread is None or noise.numerics.max_rel > spread[0]:
                spread = (noise.numerics.max_rel, again)
            moved = max(moved, noise.numerics.max_rel if noise.problem is not None else 0.0)
        if not usable or not reference.leaves:
            continue
        verdict = equivalence.compare(
            reference, found, allowed, rounded=None if spread is None else spread[1]
        )
        apart = max(apart, moved)
        compared += 1
        values += sum(equivalence.told(leaf) for leaf in reference.leaves)
        if worst is None or (verdict.problem is not None, verdict.numerics.max_rel) > (
            worst[1].problem is not None,
            worst[1].numerics.max_rel,
        ):
            worst = (key, verdict)
    if worst is None:
        return Compared()
    (name, number), verdict = worst
    problem = None if verdict.problem is None else f"call {number} of {name}: {verdict.problem}"
    return Compared(compared, values, problem, verdict.numerics, apart)


def _computed_in(name: str) -> str:
    """The dtype in which a program computed a result, at best: JAX has no float64 unless that is switched on, so numbers of Python and
    arrays of NumPy that follow from its results have no more digits than float32."""
    import jax

    double = getattr(jax.config, "jax_enable_x64", False)
    return "float32" if name == "float64" and not double else name


def _common(left: Any, right: Any) -> tuple[Any, Any]:
    """The leaves that both have: an edit may add or remove names of a module."""
    from jaxlint_runtime.proof.equivalence import Outcome

    mine = dict(zip(left.paths, left.leaves, strict=True))
    theirs = dict(zip(right.paths, right.leaves, strict=True))
    names = tuple(
        name
        for name in mine
        if name in theirs
        and mine[name].shape == theirs[name].shape
        and mine[name].dtype == theirs[name].dtype
    )
    groups = tuple((n,) for n in range(len(names)))
    return (
        Outcome(tuple(mine[name] for name in names), names, groups),
        Outcome(tuple(theirs[name] for name in names), names, groups),
    )


def _status(name: str) -> int:
    """A figure of this process in bytes, by its name in /proc/self/status; 0 if there is none."""
    with contextlib.suppress(OSError):
        found = re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
        return int(found[1]) * 1024 if found else 0
    return 0
