"""One captured run of the program: installs the hooks, runs it, removes them, and reports the results."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import statistics
import sys
import warnings
from collections.abc import Callable, Sequence
from types import CodeType, ModuleType
from typing import Any, Protocol

from jaxlint_runtime.capture.function_identity import Project
from jaxlint_runtime.capture.growing_arguments import growing
from jaxlint_runtime.capture.growing_ends import padded_end
from jaxlint_runtime.capture.host_rows import MAKERS, RowsOfHost
from jaxlint_runtime.capture.host_syncs import HostSyncs, SyncSite
from jaxlint_runtime.capture.import_hooks import AfterImport
from jaxlint_runtime.capture.jit_proxy import jit_proxy
from jaxlint_runtime.capture.recorder import FunctionRecord, Recorder
from jaxlint_runtime.capture.run_program import Ending, Kind, pytest_exit, run_program
from jaxlint_runtime.capture.stop import Stopper, StopProgram
from jaxlint_runtime.capture.varying_lengths import padding_of
from jaxlint_runtime.capture.varying_numbers import varying_numbers
from jaxlint_runtime.capture.watched_functions import WatchedFunction, WatchedImports, Watcher
from jaxlint_runtime.capture.weak_starts import weak_arguments, weak_starts
from jaxlint_runtime.lowering.jit_options import OPTION_NAMES, read_mapped
from jaxlint_runtime.model import CapturedFunction, JitOptions
from jaxlint_runtime.protocol.jobs import Capture, Known, Shard
from jaxlint_runtime.protocol.report_forms import FlaggedJson, FunctionJson, SyncJson
from jaxlint_runtime.protocol.worker_events import Busy, Captured, Ended

_QUARTERED = 4  # call times needed for a quartile
_PLATFORMS = {"cpu": "cpu", "tpu": "tpu"}  # the other names are makes of GPU


class Examples(Protocol):
    """Calls functions instead of running the program. `problems` has one line for each function that could not be called."""

    problems: list[str]

    def run(self) -> tuple[int, str]:
        """Returns an exit status and a description."""


class Session:
    """The hooks around one run."""

    def __init__(self, job: Capture, examples: Examples | None = None) -> None:
        launch, until = job.launch, job.until
        self.job = job
        self.kind = Kind(launch.kind)
        self.project = Project(launch.roots, launch.include_packages)
        self.stopper = Stopper(pytest_exit if self.kind is Kind.PYTEST else StopProgram)
        self.recorder = Recorder(
            self.project,
            self.stopper,
            until.calls,
            job.capture_bytes,
            until.settle,
            until.run_for,
            examples=examples is not None,
            wanted={(path, name): number for path, name, number in job.calls},
        )
        self._examples = examples
        self.syncs = HostSyncs(
            self.project,
            counting=lambda: self.recorder.active and not self.recorder.busy(),
            stepping=lambda: self.recorder.first_call is not None,
            waited=self.recorder.eager_calls.is_program,
        )
        self.several: Callable[[int], None] = lambda processes: (
            None
        )  # the program is one of so many processes
        self.watcher = Watcher(_by_file(job.flagged), self.recorder.busy)
        self.recorder.awaits = lambda: self.watcher.awaits
        self._watched_imports = WatchedImports(self.watcher)
        self._jax: ModuleType | None = None
        self._main_file = launch.target if self.kind is Kind.SCRIPT else None
        self._undo: list[tuple[ModuleType, str, Any]] = []
        self.rows = RowsOfHost(
            self.project, counting=lambda: self.recorder.active and not self.recorder.busy()
        )
        self._imports = AfterImport({"jax": self._on_jax, "jax.experimental.pjit": self._on_pjit})

    def run(self, program: Callable[[], Ending] | None = None) -> Ending:
        """Runs the program of the job under the hooks, or what is passed."""
        os.register_at_fork(after_in_child=self._forked)
        self._imports.install()
        self._watched_imports.install()
        self.watcher.active = True
        relocate_path(self.job.launch.relocated)
        if self.kind is not Kind.SCRIPT:
            sys.path.insert(0, os.getcwd())
        if self.kind is Kind.MODULE:
            self._count_module()
        try:
            if program is not None:
                return program()
            return run_program(
                self.kind,
                self.job.launch.target,
                self.job.launch.arguments,
                self.stopper,
                self._compile_script,
                None if self._examples is None else self._examples.run,
            )
        finally:
            self.end()

    def _compile_script(self, data: bytes, filename: str) -> CodeType:
        return self.watcher.compile(data, filename) or compile(data, filename, "exec", dont_inherit=True)

    def _count_module(self) -> None:
        """A named module counts as the user's code, even if it is installed."""
        try:
            spec = importlib.util.find_spec(self.job.launch.target)
        except Exception:  # running it will report the problem
            return
        if spec is not None and spec.submodule_search_locations:
            spec = importlib.util.find_spec(self.job.launch.target + ".__main__")
        if spec is not None and spec.origin and os.path.isfile(spec.origin):
            self._main_file = spec.origin
            levels = spec.name.count(".")
            folder = spec.origin
            for _ in range(levels):
                folder = os.path.dirname(folder)
            self.project.add(folder)

    def end(self) -> None:
        """Removes the hooks; wrapped functions continue to work. May be called twice."""
        self._imports.remove()
        self._watched_imports.remove()
        self.watcher.active = False
        while self._undo:
            module, name, original = self._undo.pop()
            setattr(module, name, original)
        self.syncs.remove()
        if self.recorder.active:
            self.recorder.stop()

    def _on_jax(self, jax: ModuleType) -> None:
        from jaxlint_runtime import compat

        self._jax = jax
        compat.on_initialize(lambda _, processes: self._joins(processes), asked=self._joins)
        self._replace(jax, "jit", jax.jit)
        if isinstance(self.job.then, Shard):  # explicit sharding is recorded too
            self._replace(jax, "pmap", jax.pmap, read_mapped)
        for name in MAKERS:
            made = getattr(jax.numpy, name)
            setattr(jax.numpy, name, self.rows.wrap(made))
            self._undo.append((jax.numpy, name, made))
        self.recorder.start()
        self.syncs.install(jax)

    def _joins(self, processes: int | None) -> None:
        if isinstance(processes, int) and processes > 1 and self.recorder.active:
            self.several(processes)

    def _on_pjit(self, module: ModuleType) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            original = getattr(module, "pjit", None)
        if original is not None:
            self._replace(module, "pjit", original)

    def _replace(self, module: ModuleType, name: str, original: Any, read: Any = None) -> None:
        setattr(module, name, jit_proxy(original, self.recorder, read))
        self._undo.append((module, name, original))

    def _forked(self) -> None:
        self.recorder.active = self.watcher.active = False  # a child process is not recorded

    # ---- results ----

    @property
    def has_shown(self) -> bool:
        """Whether a call of a captured or a watched function has ended."""
        captured = any(one.calls for one in self.recorder.records.copy().values())
        return captured or any(one.timed for one in self.watcher.records)

    def progress(self) -> list[Busy]:
        """Calls so far, busiest first."""
        return [
            Busy(
                record.identity.qualname,
                record.identity.path,
                record.identity.line,
                record.calls,
                record.inner_calls,
                len(record.compiles),
            )
            for record in self._sorted()
        ]

    def functions(self, known: Known) -> list[CapturedFunction]:
        """The captured functions, busiest first, with what is known about them from the source."""
        callers: dict[tuple[str | None, int | None], tuple[int | str, ...]]
        callers = {(path, line): tuple(parameters) for path, line, parameters in known.dead_arguments}
        wanted = None if self.job.only is None else set(self.job.only)
        found = []
        for record in self._sorted():
            if wanted is not None and (record.identity.path, record.identity.qualname) not in wanted:
                continue
            function = record.captured()
            function.findings = [f for f in known.findings if _speaks_of(f, record)]
            function.dead_arguments = callers.get((record.jit_path, record.jit_line), ())
            if self.job.undonated:  # the source shows which arguments the callers no longer need
                options = function.options
                function.dead_arguments = (*options.donate_argnums, *options.donate_argnames)
                function.options = dataclasses.replace(
                    function.options, donate_argnums=(), donate_argnames=()
                )
            found.append(function)
        return found

    def summary(self, ending: Ending, seconds: float, versions: dict[str, str]) -> Captured:
        """Everything that the run recorded."""
        records = self._sorted()
        hottest = records[0] if records and records[0].calls else None
        found = self.recorder.eager_calls.found()
        return Captured(
            ending=Ended(ending.how, ending.status, ending.message),
            seconds=seconds,
            used_jax=self._jax is not None,
            device=self._device(),
            targets=self.targets(),
            versions=versions,
            functions=[_function_json(record) for record in records],
            flagged=[_watched_json(record) for record in self._sorted_watched()],
            eager={
                "compiles": self.recorder.clock.eager_compiles,
                "seconds": self.recorder.clock.eager_seconds,
                "calls": [call.as_json() for call in found if not call.within],
                "inner": [call.as_json() for call in found if call.within],
                "rows": [dataclasses.asdict(call) for call in self.rows.found()],
            },
            step=None if hottest is None else hottest.identity.qualname,
            syncs=[_sync_json(site, hottest) for site in self._sorted_syncs()],
            files=self._files(),
            problems=[] if self._examples is None else self._examples.problems,
        )

    def _sorted(self) -> list[FunctionRecord]:
        return sorted(self.recorder.records.copy().values(), key=lambda record: -record.weight)

    def _sorted_syncs(self) -> list[SyncSite]:
        return sorted(self.syncs.sites.copy().values(), key=lambda site: (-site.in_steps, -site.seconds))

    def _sorted_watched(self) -> list[WatchedFunction]:
        """The flagged functions that are not jitted themselves, the most expensive first.

        A decorator may jit a function that the program never called.
        """
        jitted = {
            (record.identity.path, record.identity.line, record.identity.qualname)
            for record in self.recorder.records.copy().values()
        }
        seen = [*self.watcher.records, *self.watcher.missed(self._files())]
        found = [
            one
            for one in seen
            if (one.path, one.line, one.qualname) not in jitted and (one.calls or not one.jitted)
        ]
        return sorted(found, key=lambda one: (-one.calls * (one.call_seconds or 0.0), one.path, one.line))

    def targets(self) -> list[str]:
        """The requested targets, otherwise the kind of device that the program ran on."""
        if self.job.targets or self._jax is None:
            return list(self.job.targets)
        try:
            return [_PLATFORMS.get(self._jax.default_backend(), "gpu")]
        except Exception:  # no usable backend
            return []

    def _device(self) -> str | None:
        if self._jax is None:
            return None
        try:
            device = self._jax.devices()[0]
        except Exception as error:  # no usable backend
            return f"none ({type(error).__name__})"
        return f"{device.platform}: {device.device_kind}"

    def _files(self) -> list[str]:
        """The user's files that the program loaded."""
        found = {os.path.realpath(self._main_file)} if self._main_file else set()
        for module in list(sys.modules.values()):
            origin = getattr(module, "__file__", None)
            if isinstance(origin, str) and (path := self.project.file(origin)) and path.endswith(".py"):
                found.add(path)
        found |= {record.identity.path for record in self.recorder.records.values()}
        return sorted(path for path in found if os.path.isfile(path))


def relocate_path(relocated: tuple[str, str] | None) -> None:
    """In a scratch copy: imports the project's packages from there, not from their editable installs."""
    if relocated is None:
        return
    original, copy = relocated

    def moved(entry: str) -> str:
        inside = entry == original or entry.startswith(original + os.sep)
        there = copy + entry[len(original) :]
        # a virtual environment inside the project is not copied
        return there if inside and os.path.exists(there) else entry

    sys.path[:] = [moved(entry) for entry in sys.path]
    # editable installs may use import hooks; the path goes before those
    sys.path += [folder for folder in (copy, os.path.join(copy, "src")) if os.path.isdir(folder)]


def _function_json(record: FunctionRecord) -> FunctionJson:
    captured, weak = record.captured(), weak_starts(record.signatures)
    return {
        "function": record.identity.qualname,
        "path": record.identity.path,
        "line": record.identity.line,
        "end_line": record.identity.end_line,
        "jit_path": record.jit_path,
        "jit_line": record.jit_line,
        "options": _options_json(record.options),
        "calls": record.calls,
        "inner_calls": record.inner_calls,
        "wrappers": record.wrappers,
        "seconds": record.seconds,
        "weight_seconds": record.weight,
        "call_ms": _median(captured.warm_ms),
        "call_ms_low": _quartile(captured.warm_ms, 0),
        "call_ms_high": _quartile(captured.warm_ms, 2),
        "period_ms": _median(captured.period_ms),
        "captured_call": record.call_number or None,
        "captured_bytes": record.call_bytes,
        "refused": captured.refused,
        "rebound": captured.rebound,
        "constants": [],
        "growing": [dataclasses.asdict(one) for one in growing(record.signatures)],
        "padding": padding_of(record),
        "ends": padded_end(record),
        "numbers": [dataclasses.asdict(one) for one in varying_numbers(record.signatures)],
        "weak": {
            "starts": [dataclasses.asdict(one) for one in weak],
            "calls": list(record.sites.values()),
        }
        if weak
        else None,
        "compiles": [
            {
                "trace_s": c.seconds_trace,
                "lower_s": c.seconds_lower,
                "compile_s": c.seconds_compile,
                "cause": c.cause,
            }
            for c in record.compiles
        ],
    }


def _watched_json(record: WatchedFunction) -> FlaggedJson:
    mean, counted = record.call_seconds, record.uncounted is None
    weak = weak_arguments(record.first_arguments, record.arguments)
    return {
        "function": record.qualname,
        "path": record.path,
        "line": record.line,
        "end_line": record.end_line,
        "calls": record.calls if counted else None,
        "inner_calls": record.inner_calls if counted else None,
        "seconds": None if mean is None else mean * record.calls,
        "call_ms": None if mean is None else mean * 1e3,
        "uncounted": record.uncounted,
        "described_call": record.described_call or None,
        "arguments": record.arguments,
        "variables": record.variables,
        "weak": {"starts": [dataclasses.asdict(one) for one in weak]} if weak else None,
        "lengths": record.lengths,
        "callers": sorted(map(list, record.callers)),
    }


def _by_file(places: Sequence[tuple[str, int]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for path, line in places:
        found.setdefault(path, []).append(line)
    return found


def _options_json(options: JitOptions) -> dict[str, Any]:
    values = {name: list(getattr(options, name)) for name in OPTION_NAMES if getattr(options, name)}
    return {
        **values,
        **{name: str(value)[:120] for name, value in options.others.items() if value is not None},
    }


def _sync_json(site: SyncSite, hottest: FunctionRecord | None) -> SyncJson:
    return {
        "path": site.path,
        "line": site.line,
        "kind": site.kind,
        "count": site.count,
        "seconds": site.seconds,
        "per_step": None if hottest is None else site.in_steps / hottest.calls,
    }


def _median(values: list[float]) -> float | None:
    return statistics.median(values) if values else None


def _quartile(values: list[float], which: int) -> float | None:
    return statistics.quantiles(values, n=4)[which] if len(values) >= _QUARTERED else None


def _speaks_of(finding: dict[str, Any], record: FunctionRecord) -> bool:
    """Whether a finding lies inside the function, or where it is jitted."""
    path, line = finding.get("path"), finding.get("line", 0)
    if path == record.identity.path and record.identity.line <= line <= record.identity.end_line:
        return True
    return path == record.jit_path and line == record.jit_line
