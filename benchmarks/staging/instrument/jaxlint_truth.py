"""A pytest plugin that records which functions JAX really traced. Needs Python 3.12 for `sys.monitoring`.

A function counts as traced when an argument or a variable of its closure was or held, as a pytree, an abstract tracer
at a call: one whose value nobody knows, so that `bool()` of it raises. The tracers of plain `jax.grad` know theirs.

Read from the environment: TRUTH_OUT (the JSON file to write), TRUTH_ROOTS (folders whose code is watched, joined by
the path separator), TRUTH_SECONDS (no test starts after so many), TRUTH_TEST_SECONDS (longest test), TRUTH_SEED,
TRUTH_PART ("i/n": of the tests in their order, every n-th from the i-th on).
"""

from __future__ import annotations

import inspect
import json
import os
import random
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

# Calls of one function after which it is no longer watched, when it was seen traced and when not.
MOST_CALLS, MOST_UNTRACED_CALLS = 3000, 100_000
SAVE_EVERY_S = 20.0
NO_FUNCTIONS = {"<module>", "<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>"}
MOST_NODES = 5000  # of one argument
BUILTIN = (dict, list, tuple)
PLAIN = (bool, int, float, complex, str, bytes, type(None), type)

monitoring = sys.monitoring  # type: ignore[attr-defined]
TOOL = 4


class Entry:
    """What was seen of one code object."""

    __slots__ = (
        "callers",
        "calls",
        "closure",
        "code",
        "concrete",
        "lines",
        "parameters",
        "raised",
        "traced",
        "under",
    )

    def __init__(self, code: CodeType) -> None:
        self.code = code
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
        self.parameters: dict[str, int] = dict.fromkeys(code.co_varnames[:count], 0)
        self.calls = 0
        self.traced = 0
        self.under = 0
        self.concrete = 0
        self.closure: set[str] = set()
        self.lines: set[int] = set()
        self.raised: set[int] = set()
        self.callers: list[dict[str, Any]] = []


class Recorder:
    """Follows the calls of functions below `roots`, and the lines of those that got abstract tracers."""

    def __init__(self, roots: list[str]) -> None:
        self.roots = tuple(os.path.join(root, "") for root in roots)
        self.entries: dict[int, Entry] = {}  # by the id of the code, which the entry keeps alive
        self.running: dict[
            int, int
        ] = {}  # id of a frame that got tracers: the line it is at, 0 before the first
        self.busy = threading.local()
        self.core: Any = None
        self.registry: Any = None

    def start(self) -> None:
        events = monitoring.events
        monitoring.use_tool_id(TOOL, "jaxlint-truth")
        monitoring.register_callback(TOOL, events.PY_START, self.on_start)
        monitoring.register_callback(TOOL, events.LINE, self.on_line)
        monitoring.register_callback(TOOL, events.PY_RETURN, self.on_return)
        monitoring.register_callback(TOOL, events.RAISE, self.on_raise)
        monitoring.register_callback(TOOL, events.PY_UNWIND, self.on_unwind)
        monitoring.set_events(TOOL, events.PY_START | events.RAISE | events.PY_UNWIND)

    def stop(self) -> None:
        monitoring.set_events(TOOL, 0)
        monitoring.free_tool_id(TOOL)

    def jax_is_there(self) -> bool:
        if self.core is None:
            jax = sys.modules.get("jax")
            core = sys.modules.get("jax._src.core")
            if core is None or not hasattr(jax, "jit") or not hasattr(jax, "tree_util"):
                return False
            self.core, self.registry = core, sys.modules["jax.tree_util"].default_registry
        return True

    def is_function(self, code: CodeType) -> bool:
        return (
            code.co_filename.startswith(self.roots)
            and bool(code.co_flags & inspect.CO_NEWLOCALS and code.co_flags & inspect.CO_OPTIMIZED)
            and code.co_name not in NO_FUNCTIONS
        )

    def on_start(self, code: CodeType, offset: int) -> Any:
        entry = self.entries.get(id(code))
        if entry is None:
            if not self.is_function(code):
                return monitoring.DISABLE
            entry = self.entries[id(code)] = Entry(code)
            monitoring.set_local_events(TOOL, code, monitoring.events.LINE | monitoring.events.PY_RETURN)
        if getattr(self.busy, "value", False):
            return None
        frame = sys._getframe(1)
        self.running.pop(id(frame), None)
        entry.calls += 1
        if entry.calls > (MOST_CALLS if entry.traced else MOST_UNTRACED_CALLS):
            return monitoring.DISABLE
        if self.jax_is_there():
            self.busy.value = True
            try:
                self.look(entry, frame)
            finally:
                self.busy.value = False
        return None

    def look(self, entry: Entry, frame: FrameType) -> None:
        """Searches the arguments and the closure of a call for tracers."""
        values = frame.f_locals
        abstract = concrete = False
        for name in entry.parameters:
            kind = self.search(values.get(name))
            if kind == "abstract":
                entry.parameters[name] += 1
                abstract = True
            concrete = concrete or kind == "concrete"
        for name in entry.code.co_freevars:
            if self.search(values.get(name)) == "abstract":
                entry.closure.add(name)
                abstract = True
        entry.concrete += concrete
        if abstract:
            entry.traced += 1
            self.running[id(frame)] = 0
            if len(entry.callers) < 3:
                caller = self.caller(frame)
                if caller not in entry.callers:
                    entry.callers.append(caller)
        elif self.under_trace():
            entry.under += 1

    def search(self, value: Any) -> str:
        """ "abstract" when `value` is or holds an abstract tracer, "concrete" when only ones with values, or ""."""
        if isinstance(value, PLAIN):
            return ""
        found = ""
        for leaf in self.leaves(value):
            if isinstance(leaf, self.core.Tracer):
                if leaf.to_concrete_value() is None:
                    return "abstract"
                found = "concrete"
        return found

    def leaves(self, value: Any) -> Iterator[Any]:
        """The leaves of a pytree. Objects that hold themselves end here, which JAX's own flattening does not survive."""
        todo: list[Any] = [value]
        seen: dict[int, Any] = {}  # which keeps them: what a flattening made must not give its id to the next
        while todo:
            at = todo.pop()
            if isinstance(at, PLAIN):
                continue
            if isinstance(at, self.core.Tracer):
                yield at
                continue
            try:
                level = self.registry.flatten_one_level(at)
            except Exception:
                # Keys of several types, or a class that cannot be taken apart half way through its constructor.
                level = (at.values() if isinstance(at, dict) else at,) if isinstance(at, BUILTIN) else None
            if level is None:
                yield at
            elif id(at) not in seen and len(seen) < MOST_NODES:
                seen[id(at)] = at
                todo.extend(level[0])

    def under_trace(self) -> bool:
        """Whether JAX is tracing abstractly, whatever the arguments are."""
        trace = getattr(getattr(self.core, "trace_ctx", None), "trace", None)
        while trace is not None:
            if type(trace).__name__ in ("DynamicJaxprTrace", "BatchTrace", "JaxprTrace"):
                return True
            trace = getattr(trace, "parent_trace", None)
        return False

    def caller(self, frame: FrameType) -> dict[str, Any]:
        """The nearest watched function up the stack, and what of libraries lies between."""
        between: list[str] = []
        up = frame.f_back
        while up is not None and not self.is_function(up.f_code):
            module = up.f_globals.get("__name__", "?")
            if "traceback_util" not in module and not module.startswith(("_pytest", "pluggy", "unittest")):
                between.append(f"{module}.{up.f_code.co_qualname}")
            up = up.f_back
        if up is None:
            return {"path": None, "line": 0, "qualname": "", "at": 0, "between": between[:3] + between[-3:]}
        code = up.f_code
        return {
            "path": code.co_filename,
            "line": code.co_firstlineno,
            "qualname": code.co_qualname,
            "at": up.f_lineno,
            "between": between if len(between) < 7 else between[:3] + between[-3:],
        }

    def on_line(self, code: CodeType, line: int) -> Any:
        frame = id(sys._getframe(1))
        at = self.running.get(frame)
        if at is None:
            return None
        if at:
            self.entries[id(code)].lines.add(at)
        self.running[frame] = line
        return None

    def on_return(self, code: CodeType, offset: int, value: Any) -> Any:
        at = self.running.pop(id(sys._getframe(1)), None)
        if at:
            self.entries[id(code)].lines.add(at)
        return None

    def on_raise(self, code: CodeType, offset: int, error: BaseException) -> Any:
        if id(code) in self.entries:
            frame = sys._getframe(1)
            if id(frame) in self.running:
                self.entries[id(code)].raised.add(frame.f_lineno)
                self.running[id(frame)] = 0
        return None

    def on_unwind(self, code: CodeType, offset: int, error: BaseException) -> Any:
        if id(code) in self.entries:
            self.running.pop(id(sys._getframe(1)), None)
        return None

    def records(self) -> list[dict[str, Any]]:
        return [
            {
                "path": entry.code.co_filename,
                "line": entry.code.co_firstlineno,
                "column": next((p[2] for p in entry.code.co_positions() if p[2]), 0),
                "qualname": entry.code.co_qualname,
                "calls": entry.calls,
                "traced": entry.traced,
                "under": entry.under,
                "concrete": entry.concrete,
                "parameters": entry.parameters,
                "closure": sorted(entry.closure),
                "lines": sorted(entry.lines),
                "raised": sorted(entry.raised),
                "callers": entry.callers,
            }
            for entry in list(self.entries.values())
            if entry.calls
        ]


class TooSlow(Exception):
    """A test took longer than it may."""


def _told(excinfo: Any, style: Any = None) -> str:
    return f"{excinfo.typename}"


def _test(item: Any) -> tuple[Any, ...]:
    """What the cases of one test share: class and code of the function. absl and chex make a function of each case, which wraps it."""
    code = getattr(inspect.unwrap(getattr(item, "function", item)), "__code__", None)
    if code is None:
        return str(item.path), re.sub(r"__with.*|\[.*|_?\d+$", "", item.name)
    return code.co_filename, code.co_firstlineno, getattr(item, "cls", None)


class Plugin:
    """Chooses the tests, watches the clock, writes the file."""

    def __init__(self) -> None:
        self.recorder = Recorder(os.environ["TRUTH_ROOTS"].split(os.pathsep))
        self.out = Path(os.environ["TRUTH_OUT"])
        self.seconds = float(os.environ["TRUTH_SECONDS"])
        self.test_seconds = float(os.environ["TRUTH_TEST_SECONDS"])
        self.seed = int(os.environ["TRUTH_SEED"])
        self.part, self.parts = map(int, os.environ.get("TRUTH_PART", "0/1").split("/"))
        self.reached: set[str] = set()
        self.outcomes: Counter[str] = Counter()
        self.files = 0
        self.began = self.saved = time.monotonic()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """A seeded order in which each test comes once before the second case of any; and of that, this part."""
        random.Random(self.seed).shuffle(items)
        # Of the variants of a test that chex makes, the one under jit shows what a run of all of them would.
        items.sort(key=lambda item: "without_jit" in item.name or "with_device" in item.name)
        seen: Counter[tuple[Any, ...]] = Counter()

        def rank(item: Any) -> int:
            test = _test(item)
            seen[test] += 1
            return seen[test]

        ranks = {id(item): rank(item) for item in items}
        items.sort(key=lambda item: ranks[id(item)])
        for item in items:
            item.repr_failure = (
                _told  # pytest's own follows frames, and a test of recursion has been seen to end it
            )
        self.outcomes["collected"] = len(items)
        self.outcomes["distinct"] = len(seen)
        self.files = len({item.path for item in items})
        items[:] = items[self.part :: self.parts]
        self.began = time.monotonic()

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.outcomes["files not collected"] += 1

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: Any) -> Any:
        def stop(signum: int, frame: Any) -> None:
            raise TooSlow(f"over {self.test_seconds:g} s")

        self.reached.add(str(item.path))
        old = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, self.test_seconds)
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.outcome] += 1

    def pytest_sessionstart(self, session: Any) -> None:
        self.session = session

    def pytest_runtest_logfinish(self) -> None:
        if time.monotonic() - self.saved > SAVE_EVERY_S:
            self.save()
        if time.monotonic() - self.began > self.seconds:
            self.session.shouldstop = "the time is over"

    def pytest_sessionfinish(self) -> None:
        self.recorder.stop()
        self.save()

    def save(self) -> None:
        """Writes all there is, so that a crash later loses little."""
        self.saved = time.monotonic()
        jax = sys.modules.get("jax")
        text = json.dumps(
            {
                "python": sys.version.split()[0],
                "jax": getattr(jax, "__version__", None),
                "tests": dict(self.outcomes),
                "files": self.files,
                "reached": sorted(self.reached),
                "functions": self.recorder.records(),
            }
        )
        partial = self.out.with_suffix(".partial")
        partial.write_text(text)
        partial.replace(self.out)


def pytest_configure(config: Any) -> None:
    try:
        from absl import flags

        flags.FLAGS.mark_as_parsed()
    except ImportError:
        pass
    plugin = Plugin()
    config.pluginmanager.register(plugin, "jaxlint-truth-recorder")
    plugin.recorder.start()
