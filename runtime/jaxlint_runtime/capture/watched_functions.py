"""Counts and times functions that check flagged and that may not be jitted, from inside their bodies.

The body of a flagged `def` is compiled as a `with` block over a watch. Nothing is wrapped: the function keeps its
name, signature, lines, decorators and frame, and `inspect.getsource` still reads the file. The watch is a constant of
the code object, so the function's globals and builtins do not change either.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.abc
import os
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType
from typing import Any, Protocol

from jaxlint.syntax.function_bodies import own_nodes
from jaxlint_runtime.capture.described_arguments import describe_frame, describe_variables
from jaxlint_runtime.capture.loop_lengths import lengths_of_loops, loops_of

_SHARE = 0.01  # share of the time since a function's first call that describing its arguments may take
_GROWTH = 1.5  # ratio of call numbers between two descriptions
_TIMED = 10_000  # calls after which only every 16th is timed
_MARK = "jaxlint watch "
# their compilers read the body of a function themselves, and would not understand the block
_COMPILERS = frozenset({"njit", "numba", "cuda", "guvectorize", "stencil"})

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class WatchedFunction:
    """One flagged function. `seconds` is host time in the `timed` outermost calls, callees included."""

    qualname: str
    path: str
    line: int  # of the `def` or its first decorator
    end_line: int
    uncounted: str | None = None  # why its calls are not counted
    jitted: bool = False  # a decorator jits it: until it is called, nothing shows that it runs eagerly
    calls: int = 0
    inner_calls: int = 0  # under a transformation: traced, not run
    timed: int = 0
    seconds: float = 0.0
    arguments: list[dict[str, Any]] | None = None  # of the last call that was described
    first_arguments: list[dict[str, Any]] | None = None
    variables: list[dict[str, Any]] | None = None  # those with arrays, as left by the first call
    loops: list[ast.expr] = field(default_factory=list)  # what its loops run over
    lengths: dict[str, int] = field(default_factory=dict)  # how often, by the text of that
    # Path and name of the watched functions that it ran in, the innermost of each call; "" outside of all.
    callers: set[tuple[str, str]] = field(default_factory=set)
    described_call: int = 0
    describe_spent: float = 0.0
    describe_last: float = 0.0
    first_start: float = 0.0

    @property
    def call_seconds(self) -> float | None:
        """Mean seconds of a call; None if no call was timed to its end."""
        return self.seconds / self.timed if self.timed else None


class Watch:
    """The context around a watched body."""

    __slots__ = ("_local", "_owner", "record")

    def __init__(self, owner: Watcher, record: WatchedFunction) -> None:
        self._owner = owner
        self._local = threading.local()
        self.record = record

    def __enter__(self) -> None:
        try:
            starts = self._local.starts
        except AttributeError:
            starts = self._local.starts = []
        owner, record = self._owner, self.record
        around = owner.running()
        caller = around[-1] if around else None
        around.append(record)
        if not owner.active:
            starts.append(0.0)
            return
        if owner.busy():
            record.inner_calls += 1
            starts.append(0.0)
            return
        record.calls = number = record.calls + 1
        record.callers.add((caller.path, caller.qualname) if caller is not None else ("", ""))
        if number == 1 or number >= _GROWTH * record.described_call:
            self._describe(number)
        # of nested calls the outermost counts the time
        timed = not starts and (number <= _TIMED or not number & 15)
        starts.append(time.perf_counter() if timed else 0.0)

    def __exit__(self, *error: object) -> None:
        start = self._local.starts.pop()
        self._owner.running().pop()
        if start:
            record = self.record
            record.seconds += time.perf_counter() - start
            record.timed += 1
            if record.variables is None:
                record.variables = []
                with contextlib.suppress(Exception):  # describing must never break the program
                    frame = sys._getframe(1)
                    record.variables = describe_variables(frame)
                    record.lengths = lengths_of_loops(record.loops, {**frame.f_globals, **frame.f_locals})

    def _describe(self, number: int) -> None:
        record, now = self.record, time.perf_counter()
        if number == 1:
            record.first_start = now
        elif record.describe_spent + record.describe_last > _SHARE * (now - record.first_start):
            return
        try:
            record.arguments = describe_frame(sys._getframe(2))
        except Exception:  # describing must never break the program
            record.arguments = None
        if number == 1:
            record.first_arguments = record.arguments
        record.described_call = number
        record.describe_last = time.perf_counter() - now
        record.describe_spent += record.describe_last

    def __reduce__(self) -> Any:
        return contextlib.nullcontext, ()  # calls of a function that is pickled with its code are not counted


@dataclass(slots=True)
class Watcher:
    """The flagged places, by real path, and the functions found there once their files were compiled.

    `busy` says whether this thread is inside a transformation or a captured call.
    """

    places: dict[str, list[int]]
    busy: Callable[[], bool]
    active: bool = False
    found: dict[tuple[str, int, str], WatchedFunction] = field(default_factory=dict)
    _compiled: set[str] = field(default_factory=set)
    _local: threading.local = field(default_factory=threading.local)

    def running(self) -> list[WatchedFunction]:
        """The watched functions that this thread is in, the innermost last."""
        try:
            found: list[WatchedFunction] = self._local.running
        except AttributeError:
            found = self._local.running = []
        return found

    @property
    def records(self) -> list[WatchedFunction]:
        return list(self.found.values())

    @property
    def awaits(self) -> bool:
        """Whether a function of the loaded files was never called: what the program does after its training, perhaps."""
        return any(one.uncounted is None and not one.calls and not one.inner_calls for one in self.records)

    def compile(self, data: bytes, filename: str) -> types.CodeType | None:
        """The module's code with its flagged functions watched; None if there is nothing to do or it is impossible."""
        path = os.path.realpath(filename)
        lines = self.places.get(path)
        if not lines:
            return None
        before = dict(self.found)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(data, filename)
                watches = self._rewrite(tree, path, lines)
                code = compile(tree, filename, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.found = before
            return None  # Python's own compile reports the error, or succeeds without the additional block
        self._compiled.add(path)
        return with_constants(code, watches)

    def missed(self, files: Iterable[str]) -> list[WatchedFunction]:
        """The flagged functions in files that could not be watched: loaded by pytest or from an archive, or nested
        too deeply."""
        found: list[WatchedFunction] = []
        for path in files:
            if path not in self.places or path in self._compiled:
                continue
            with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError):
                with open(path, "rb") as file:
                    tree = ast.parse(file.read())
                for definition, name in _flagged(tree, self.places[path]):
                    found.append(_new_record(definition, name, path))
                    found[-1].uncounted = "its file cannot be watched"
        return found

    def _rewrite(self, tree: ast.Module, path: str, lines: Sequence[int]) -> dict[str, Watch]:
        watches: dict[str, Watch] = {}
        for definition, name in _flagged(tree, lines):
            new = _new_record(definition, name, path)
            # a file that is loaded twice, as `__main__` and by name, counts once
            record = self.found.setdefault((path, new.line, name), new)
            if record.uncounted is None:
                mark = f"{_MARK}{len(watches)}"
                watches[mark] = Watch(self, record)
                _enclose(definition, mark)
        return watches


def _flagged(tree: ast.AST, lines: Iterable[int]) -> list[tuple[Definition, str]]:
    """The innermost function around each line, with its qualified name, without duplicates."""
    inside = list(definitions(tree))
    chosen: dict[Definition, str] = {}
    for line in lines:
        around = [(first_line(one), one, name) for one, name in inside if _contains(one, line)]
        if around:
            _, definition, name = max(around, key=lambda entry: entry[0])
            chosen[definition] = name
    return list(chosen.items())


def _new_record(definition: Definition, name: str, path: str) -> WatchedFunction:
    end = definition.end_lineno or definition.lineno
    return WatchedFunction(
        name,
        path,
        first_line(definition),
        end,
        _why_not(definition),
        _is_jitted(definition),
        loops=loops_of(definition),
    )


def first_line(definition: Definition) -> int:
    return min([definition.lineno, *(decorator.lineno for decorator in definition.decorator_list)])


def _contains(definition: Definition, line: int) -> bool:
    return first_line(definition) <= line <= (definition.end_lineno or definition.lineno)


def definitions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[Definition, str]]:
    """Every function with its qualified name, as in Python."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Definition):
            yield node, prefix + node.name
            yield from definitions(node, f"{prefix}{node.name}.<locals>.")
        elif isinstance(node, ast.ClassDef):
            yield from definitions(node, f"{prefix}{node.name}.")
        else:
            yield from definitions(node, prefix)


def _why_not(definition: Definition) -> str | None:
    if isinstance(definition, ast.AsyncFunctionDef):
        return "a coroutine"
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own_nodes(definition)):
        return "a generator"
    if is_for_numba(definition):
        return "compiled by numba"
    if not body_of(definition):
        return "without a body"
    return None


def is_for_numba(definition: Definition) -> bool:
    """Whether a decorator compiles the body of a function by itself, and would not understand a call in it."""
    return bool(_decorators(definition) & _COMPILERS)


def _decorators(definition: Definition) -> set[str]:
    """The last part of every name in the decorators."""
    nodes = [node for decorator in definition.decorator_list for node in ast.walk(decorator)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def _is_jitted(definition: Definition) -> bool:
    return any(name.endswith("jit") for name in _decorators(definition) - _COMPILERS)


def body_of(definition: Definition) -> list[ast.stmt]:
    """The statements after the docstring."""
    first = definition.body[0]
    documented = (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
    return definition.body[1:] if documented else definition.body


def _enclose(definition: Definition, mark: str) -> None:
    body = body_of(definition)
    head = definition.body[: len(definition.body) - len(body)]
    # tracebacks and debuggers show no line that is not the user's
    block = ast.With(items=[ast.withitem(context_expr=ast.Constant(mark))], body=body)
    ast.copy_location(block, body[0])
    ast.copy_location(block.items[0].context_expr, body[0])
    definition.body = [*head, block]


def with_constants(code: types.CodeType, watches: Mapping[str, Any]) -> types.CodeType:
    """The code with each mark replaced by its watch, nested functions included."""
    constants = tuple(
        with_constants(constant, watches)
        if isinstance(constant, types.CodeType)
        else watches.get(constant, constant)
        if isinstance(constant, str)
        else constant
        for constant in code.co_consts
    )
    return code.replace(co_consts=constants)


class FileCompiler(Protocol):
    """Compiles some files in its own way; `places` holds their real paths. Other files are compiled as usual."""

    @property
    def places(self) -> Mapping[str, Any]: ...

    def compile(self, data: bytes, filename: str) -> types.CodeType | None: ...


class _WatchingLoader(SourceFileLoader):
    """Loads a file with its flagged functions watched; its bytecode is neither read from a cache nor written to one."""

    watcher: FileCompiler

    def get_code(self, fullname: str) -> types.CodeType | None:
        path = self.get_filename(fullname)
        code = self.watcher.compile(self.get_data(path), path)
        return super().get_code(fullname) if code is None else code


class WatchedImports(importlib.abc.MetaPathFinder):
    """Gives flagged files a loader that watches them; other imports are unchanged."""

    def __init__(self, watcher: FileCompiler) -> None:
        self._watcher = watcher
        self._local = threading.local()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if getattr(self._local, "asking", False):
            return None
        self._local.asking = True
        try:
            spec = _ask(self._others(), fullname, path, target)
        finally:
            self._local.asking = False
        if spec is not None and type(spec.loader) is SourceFileLoader:
            if os.path.realpath(spec.loader.path) in self._watcher.places:
                loader = _WatchingLoader(spec.loader.name, spec.loader.path)
                loader.watcher = self._watcher
                spec.loader = loader
        return spec

    def _others(self) -> Iterable[Any]:
        return sys.meta_path[sys.meta_path.index(self) + 1 :] if self in sys.meta_path else ()

    def install(self) -> None:
        """Starts watching; does nothing if no place is flagged."""
        if self._watcher.places:
            sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """Stops watching later imports."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def _ask(
    finders: Iterable[Any], fullname: str, path: Sequence[str] | None, target: ModuleType | None
) -> ModuleSpec | None:
    for finder in finders:
        find = getattr(finder, "find_spec", None)
        spec: ModuleSpec | None = find(fullname, path, target) if find is not None else None
        if spec is not None:
            return spec
    return None
