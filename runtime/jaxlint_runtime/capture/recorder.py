"""Counts and times the calls of the user's jitted functions, stores the inputs of a late call, and decides when the
run has shown enough."""

from __future__ import annotations

import contextlib
import statistics
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from jaxlint_runtime.capture import signature as signatures
from jaxlint_runtime.capture import snapshot, stop_condition
from jaxlint_runtime.capture.compile_events import CompileClock
from jaxlint_runtime.capture.eager_calls import EagerCalls
from jaxlint_runtime.capture.function_identity import Identity, Project, code_key, identify, static_function
from jaxlint_runtime.capture.jit_proxy import JitProxy
from jaxlint_runtime.capture.stop import Stopper
from jaxlint_runtime.capture.varying_lengths import call_place
from jaxlint_runtime.lowering.jit_options import OPTION_NAMES, Parameters, read_options
from jaxlint_runtime.model import CapturedCall, CapturedFunction, Compile, JitOptions

_SHARE = 0.02  # share of the time since a function's first call that copying its inputs may take
_GROWTH = 1.5  # ratio of call numbers between two copies
_KEPT_SIGNATURES = 64
_KEPT_TIMES = 256
_LAST_IN_STEP = (
    8  # the last call whose arguments are copied where the processes of a program agree on the number
)
_FIRST = 2  # calls that show where the program calls a function
_ASK_AGAIN = 0.1  # seconds between two checks of whether the run has settled


@dataclass(slots=True)
class FunctionRecord:
    """All facts about one user function, over every wrapper that `jax.jit` created from it."""

    identity: Identity
    function: Any
    jitted: Any
    options: JitOptions
    parameters: Parameters
    jit_path: str | None = None
    jit_line: int | None = None
    wrappers: int = 0
    calls: int = 0
    inner_calls: int = 0
    seconds: float = 0.0
    compiles: list[Compile] = field(default_factory=list)
    signatures: list[signatures.Signature] = field(default_factory=list)
    sites: dict[str, dict[str, Any]] = field(default_factory=dict)  # the calls that compiled: file and place
    warm_ms: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT_TIMES))
    period_ms: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT_TIMES))
    last_start: float = 0.0
    first_start: float = 0.0
    first_end: float = 0.0
    last_end: float = 0.0
    copy_spent: float = 0.0
    copy_last: float = 0.0
    copy_tried: int = 0
    call: CapturedCall | None = None
    call_bytes: int = 0
    call_number: int = 0
    refused: str | None = None
    results: dict[int, weakref.ref[Any]] | None = None  # arrays that the last stored call returned, by id
    passed: dict[int, weakref.ref[Any]] = field(default_factory=dict)  # arrays that it received, by id
    reused: bool = False
    rebound: set[int | str] | None = None
    updates: bool = False  # a call received floating arrays that the call before had returned

    @property
    def weight(self) -> float:
        """Seconds that the program spent here, as far as known; the hottest function is chosen by it."""
        warm = statistics.median(self.warm_ms) * self.calls / 1e3 if self.warm_ms else 0.0
        return max(self.seconds, warm)

    def captured(self) -> CapturedFunction:
        """The record in the runtime's common form."""
        refused = self.refused
        if self.call is None and refused is None:
            uncalled = (
                "it was only called inside another JAX transformation"
                if self.inner_calls
                else "it was never called"
            )
            refused = "its arguments were not kept" if self.calls else uncalled
        return CapturedFunction(
            qualname=self.identity.qualname,
            path=self.identity.path,
            line=self.identity.line,
            function=self.function,
            jitted=self.jitted,
            options=self.options,
            call=self.call,
            calls=self.calls,
            seconds=self.seconds,
            compiles=list(self.compiles),
            refused=None if self.call is not None else refused,
            call_number=self.call_number,
            inner_calls=self.inner_calls,
            rebound=None if self.rebound is None else tuple(sorted(self.rebound, key=str)),
            wrappers=self.wrappers,
            reused=self.reused,
            warm_ms=list(self.warm_ms),
            period_ms=list(self.period_ms),
        )


class Recorder:
    """The records of one run.

    `calls` is how many calls of a function are enough (None: no limit): of any function, or with `settle` once the
    run has settled (`stop_condition.settled`), within `run_for` seconds. `capture_bytes` bounds the copies of
    arguments of all functions together. `examples`: the calls use example arguments, so each call replaces the stored
    one, and comparing it with the previous call is meaningless. `wanted`: the number of the call whose arguments are stored in
    the end, by path and name of a function, if it has so many.
    """

    def __init__(
        self,
        project: Project,
        stopper: Stopper,
        calls: int | None,
        capture_bytes: int,
        settle: bool = False,
        run_for: float | None = None,
        examples: bool = False,
        wanted: Mapping[tuple[str, str], int] | None = None,
    ) -> None:
        self.active = False
        self._wanted = wanted or {}
        self._examples = examples
        self.records: dict[tuple[Any, ...], FunctionRecord] = {}
        self.first_call: float | None = None  # the end of the first captured call, by time.monotonic
        self.eager_calls = EagerCalls(project)
        self.clock = CompileClock(self.eager_calls.compiled)
        self.announce: Callable[[], None] = lambda: None  # called at calls 1, 2, 4, 8 ... of a function
        self.awaits: Callable[[], bool] = lambda: (
            False
        )  # whether flagged functions of the host were not called yet
        # In one of several processes: copies its part of an array that spans them. The same calls are copied in all.
        self.spanning: Callable[[Any], Any] | None = None
        self._project = project
        self._stopper = stopper
        self._limit = calls
        self._settle = settle
        self._run_for = run_for
        self._budget = snapshot.Budget(capture_bytes)
        self._local = threading.local()
        self._asked = 0.0
        self._started = 0.0
        self._is_tracing: Callable[[], bool] = lambda: False  # until JAX is imported

    def start(self) -> None:
        """JAX is imported: starts counting."""
        from jaxlint_runtime import compat

        self._is_tracing = compat.is_tracing
        self.clock.install()
        self._started = time.perf_counter()
        self.active = True

    def stop(self) -> None:
        """Stops counting; wrapped functions stay usable."""
        self.active = False
        self.clock.remove()

    def wrap(self, jitted: Any, function: Any, options: dict[str, Any], caller: FrameType) -> Any:
        """The proxy for a function that was just jitted; the function itself if it is not the user's."""
        if not self.active:
            return jitted
        try:
            given = read_options(options)
            found = identify(function, self._project, caller)
            if found is not None:
                record = self._record(found, code_key(function), function, jitted, given, caller)
                return JitProxy(jitted, function, given, record, self)
            if given.static_argnums or given.static_argnames:
                # a library's jit may take the user's function as a static argument (equinox.filter_jit)
                return JitProxy(jitted, function, given, None, self)
        except Exception:  # recording must never break the program
            pass
        return jitted

    def _record(
        self,
        found: Identity,
        codes: tuple[Any, ...],
        function: Any,
        jitted: Any,
        given: JitOptions,
        caller: FrameType | None,
    ) -> FunctionRecord:
        """The record of a function, new or known, with one more wrapper."""
        key = (codes, found, repr([getattr(given, name) for name in OPTION_NAMES]))
        record = self.records.get(key)
        if record is None:
            record = FunctionRecord(found, function, jitted, given, Parameters.of(function, given))
            self.records[key] = record
        site = self._project.nearest_frame(caller)
        if site is not None:
            record.jit_path, record.jit_line = self._project.file(site.f_code.co_filename), site.f_lineno
        record.wrappers += 1
        if record.call is None:
            record.function, record.jitted = function, jitted
        return record

    def _adopt(self, proxy: JitProxy, args: tuple[Any, ...]) -> FunctionRecord | None:
        """The record of the user's function among the static arguments of a library's jit."""
        try:
            inner = static_function(args, proxy._jaxlint_options.static_argnums, self._project)
            if inner is None:
                return None
            known = proxy._jaxlint_adopted.get(inner)
            if known is None:
                found = identify(inner, self._project, None)
                assert found is not None
                proxy._jaxlint_number = 1
                known = proxy._jaxlint_adopted[inner] = self._record(
                    found,
                    code_key(inner),
                    proxy._jaxlint_function,
                    proxy._jaxlint_jitted,
                    proxy._jaxlint_options,
                    None,
                )
        except Exception:
            return None
        return known

    def busy(self) -> bool:
        """Whether this thread is inside a captured call or a transformation: then host syncs are not the user's."""
        return bool(getattr(self._local, "inside", False)) or self._is_tracing()

    def call(self, proxy: JitProxy, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs one call of a wrapped function."""
        jitted, record = proxy._jaxlint_jitted, proxy._jaxlint_record
        if not self.active:
            return jitted(*args, **kwargs)
        if record is None:
            record = self._adopt(proxy, args)
            if record is None:
                return jitted(*args, **kwargs)
        if getattr(self._local, "inside", False) or self._is_tracing():
            record.inner_calls += 1
            return jitted(*args, **kwargs)
        if self._stopper.requested or (
            self._limit is not None and record.calls >= self._limit and self._enough(record)
        ):
            self._stopper.raise_here()
        if record.calls < _FIRST:
            self.eager_calls.is_program()
        if record.results is not None:
            self._compare(record, args, kwargs)
        kept = self._keep(proxy, record, args, kwargs)
        self._local.inside = True
        self.clock.begin()
        start = time.perf_counter()
        try:
            out = jitted(*args, **kwargs)
        finally:
            seconds = time.perf_counter() - start
            spans = self.clock.end()
            self._local.inside = False
        record.calls += 1
        record.last_end = start + seconds
        record.first_end = record.first_end or record.last_end
        if kept and not self._examples:
            self._remember(record, args, kwargs, out)
        if spans is not None:
            self._compiled(proxy, record, spans, args, kwargs)
        elif kept:
            seconds = self._wait(out, start)
            record.warm_ms.append(seconds * 1e3)
        if spans is None:
            record.seconds += seconds
            if not kept and record.last_start:
                record.period_ms.append((start - record.last_start) * 1e3)
        # a call that was copied, waited for or compiled says nothing about the speed
        record.last_start = 0.0 if kept or spans is not None else start
        if self.first_call is None:
            self.first_call = time.monotonic()
        if not record.calls & (record.calls - 1):
            self.announce()
        return out

    def _enough(self, record: FunctionRecord) -> bool:
        """Requests a stop once the run has shown enough."""
        assert self._limit is not None
        now = time.perf_counter()
        if self._settle and now < self._asked + _ASK_AGAIN:
            return False
        self._asked = now
        records = list(self.records.values())
        if self._settle:
            started = self._started if self.awaits() else None
            reason = stop_condition.settled(records, self._limit, self._run_for, now, started)
        else:
            reason = stop_condition.exact(records, record, self._limit)
        if reason is None:
            return False
        self._stopper.request(reason)
        return True

    def _keep(
        self, proxy: JitProxy, record: FunctionRecord, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> bool:
        """Copies the arguments of the first call and of the last one wanted, and of others if there is time."""
        now = time.perf_counter()
        number = record.calls + 1
        wanted = self._wanted.get((record.identity.path, record.identity.qualname))
        if number == 1:
            record.first_start = now
        elif self.spanning is not None:
            if number & (number - 1) or number > _LAST_IN_STEP:
                return False
        elif number not in (self._limit, wanted) and not self._examples:
            if number < _GROWTH * record.copy_tried or record.copy_spent + record.copy_last > _SHARE * (
                now - record.first_start
            ):
                return False
        record.copy_tried = number
        if wanted is not None and number > wanted:
            return True  # waited for, like a call whose arguments are copied
        self._local.inside = True  # the copies wait for the device on our account
        try:
            size = snapshot.count_bytes(record.parameters, args, kwargs)
            self._budget.exchange(record.call_bytes, size)
            try:
                call = snapshot.take(record.parameters, args, kwargs, self.spanning)
            except BaseException:
                self._budget.exchange(size, record.call_bytes)
                raise
        except snapshot.Refused as refusal:
            record.refused = str(refusal)
            return False
        except Exception as error:
            record.refused = f"its arguments could not be copied: {type(error).__name__}: {error}"
            return False
        finally:
            self._local.inside = False
            record.copy_last = time.perf_counter() - now
            record.copy_spent += record.copy_last
        record.call, record.call_bytes, record.call_number = call, size, number
        record.jitted, record.function = proxy._jaxlint_jitted, proxy._jaxlint_function
        return True

    def _remember(self, record: FunctionRecord, args: Any, kwargs: Any, out: Any) -> None:
        """Records which arrays a call received and returned, without keeping them alive."""
        with contextlib.suppress(Exception):
            record.passed = {id(leaf): weakref.ref(leaf) for leaf in _arrays((args, kwargs))}
            record.results = {id(leaf): weakref.ref(leaf) for leaf in _arrays(out)}

    def _compare(self, record: FunctionRecord, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Finds arguments that the previous call returned: they are rebound, at every comparison so far."""
        results, record.results = record.results or {}, None
        passed, record.passed = record.passed, {}
        seen: set[int | str] = set()
        named: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
        with contextlib.suppress(Exception):
            for argument, value in named:
                arrays = _arrays(value)
                record.reused = record.reused or any(_is_among(leaf, passed) for leaf in arrays)
                if arrays and all(_is_among(leaf, results) for leaf in arrays):
                    seen.add(argument)
                if any(_is_floating(leaf) and _is_among(leaf, results) for leaf in arrays):
                    record.updates = True
            record.rebound = seen if record.rebound is None else record.rebound & seen

    def _wait(self, out: Any, start: float) -> float:
        import jax

        self._local.inside = True
        try:
            jax.block_until_ready(out)
        except Exception:  # a device error belongs to the program
            pass
        finally:
            self._local.inside = False
        return time.perf_counter() - start

    def _compiled(
        self,
        proxy: JitProxy,
        record: FunctionRecord,
        spans: tuple[float, float, float],
        args: Any,
        kwargs: Any,
    ) -> None:
        try:
            new = signatures.read_signature(record.parameters, args, kwargs)
            if proxy._jaxlint_number > 1 and not proxy._jaxlint_compiled and new in record.signatures:
                cause = f"`jax.jit` was called again (call {proxy._jaxlint_number}"
                cause += f", line {record.jit_line}): each call starts with an empty cache"
            else:
                cause = signatures.explain(new, record.signatures)
            if new not in record.signatures and len(record.signatures) < _KEPT_SIGNATURES:
                record.signatures.append(new)
        except Exception as error:
            cause = f"unknown: {type(error).__name__}: {error}"
        with contextlib.suppress(Exception):
            frame = self._project.nearest_frame(sys._getframe(1))
            place = call_place(frame)
            if frame is not None and place is not None:
                path = self._project.file(frame.f_code.co_filename)
                record.sites[f"{path}:{place}"] = {"path": path, "place": place}
        proxy._jaxlint_compiled = True
        record.compiles.append(Compile(spans[0], spans[2], cause, spans[1]))


def _arrays(tree: Any) -> list[Any]:
    from jax import tree_util

    return [leaf for leaf in tree_util.tree_leaves(tree) if hasattr(leaf, "aval")]


def _is_among(leaf: Any, known: dict[int, weakref.ref[Any]]) -> bool:
    found = known.get(id(leaf))
    return found is not None and found() is leaf


def _is_floating(leaf: Any) -> bool:
    import jax.numpy as jnp

    return bool(jnp.issubdtype(leaf.dtype, jnp.floating))
