"""The results of named functions, call by call, stored to compare two versions of a program.

Like a watched function (`watched_functions.py`), an observed one keeps its name, signature and lines. Its body runs
in a `with` block that counts and times it, and its results pass through a recorder.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import os
import pickle
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jaxlint.syntax.function_bodies import own_nodes
from jaxlint_runtime.capture.reached_code import ReachedCode
from jaxlint_runtime.capture.truncation import Cut
from jaxlint_runtime.capture.watched_functions import body_of, definitions, with_constants

_MARK = "jaxlint observe "
_CALLS = "calls.json"
_BYTES = 64 * 2**20  # of one call's result that are stored
_PLAIN = (bool, int, float, complex)
MODULE = "<module>"  # stands for the names in the program's main module at its end


@dataclass(slots=True)
class Observed:
    """One function: `seconds` is host time in its outermost calls."""

    qualname: str
    path: str
    calls: int = 0
    seconds: float = 0.0
    first_seconds: float = 0.0
    kept: int = 0


class _Block:
    """The context around an observed body."""

    def __init__(self, observer: Observer, record: Observed) -> None:
        self._observer = observer
        self._record = record
        self._local = threading.local()

    def __enter__(self) -> _Block:
        starts = self._local.__dict__.setdefault("starts", [])
        outermost = self._observer.active and not starts and not self._observer.tracing()
        if outermost:
            self._record.calls += 1
            self._observer.begun(self._record)
        starts.append((time.perf_counter(), self._observer.overhead) if outermost else None)
        return self

    def __exit__(self, *error: object) -> None:
        start = self._local.starts.pop()
        if start is not None:
            spent = time.perf_counter() - start[0] - (self._observer.overhead - start[1])
            self._record.seconds += spent
            self._record.first_seconds = self._record.first_seconds or spent
            self._observer.ended(self._record, failed=error[0] is not None)

    def returned(self, value: Any) -> Any:
        """Stores the outermost call's result: for calls 1, 2, 3 and then for powers of two."""
        number = self._record.calls
        outermost = len(self._local.starts) == 1 and self._local.starts[0] is not None
        if outermost and (number <= 3 or not number & (number - 1)):
            self._observer.keep(self._record.qualname, number, value)
            self._record.kept += 1
        return value


class _Jitted:
    """Stands before a function that a decorator jits: its body is only traced, its results come out here."""

    def __init__(self, function: Any, block: _Block) -> None:
        self.__dict__.update(getattr(function, "__dict__", {}))
        self.__wrapped__ = function
        self._jaxlint_block = block

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self._jaxlint_block as block:
            return block.returned(self.__wrapped__(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["__wrapped__"], name)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


@dataclass
class Observer:
    """Compiles the files of observed functions, and writes their results to `folder`.

    `places` holds the qualified names of functions by real path. `overhead` is the time in seconds that storing took.
    `cut` may end the program at the end of a call. `reach` learns which code of the files of `places` is reached.
    """

    places: Mapping[str, list[str]]
    folder: Path | None
    tracing: Callable[[], bool]
    active: bool = True
    overhead: float = 0.0
    records: list[Observed] = field(default_factory=list)
    cut: Cut | None = None
    reach: ReachedCode | None = None
    _open: list[Observed] = field(default_factory=list)  # that the main thread is in

    def compile(self, data: bytes, filename: str) -> types.CodeType | None:
        """The module's code with its functions observed; None if there is nothing to do or it is impossible."""
        path = os.path.realpath(filename)
        names = self.places.get(path)
        if not names and (self.reach is None or names is None):
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(data, filename)
                marks: dict[str, Any] = {}
                own = list(definitions(tree))
                if self.reach is not None:
                    self.reach.note(tree, path, marks)
                for definition, name in own:
                    if name in (names or ()) and not _yields(definition):
                        self._enclose(definition, name, path, marks)
                code = compile(tree, filename, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            if self.reach is not None:
                self.reach.forget(path)
            return None
        return with_constants(code, marks)

    def _enclose(self, definition: Any, name: str, path: str, marks: dict[str, Any]) -> None:
        body = body_of(definition)
        if not body:
            return
        record = Observed(name, path)
        self.records.append(record)
        block = _Block(self, record)
        if any("jit" in ast.dump(decorator) for decorator in definition.decorator_list):
            mark = f"{_MARK}{len(marks)}"
            marks[mark] = lambda function: _Jitted(function, block)
            first = definition.decorator_list[0]
            definition.decorator_list.insert(0, ast.copy_location(ast.Constant(mark), first))
            return
        enter, leave = f"{_MARK}{len(marks)}", f"{_MARK}{len(marks) + 1}"
        marks[enter], marks[leave] = block, block.returned
        for node in own_nodes(definition):
            if isinstance(node, ast.Return) and node.value is not None:
                call = ast.Call(func=ast.Constant(leave), args=[node.value], keywords=[])
                node.value = ast.copy_location(call, node.value)
                ast.copy_location(call.func, call)
        head = definition.body[: len(definition.body) - len(body)]
        around = ast.With(items=[ast.withitem(context_expr=ast.Constant(enter))], body=body)
        ast.copy_location(around, body[0])
        ast.copy_location(around.items[0].context_expr, body[0])
        definition.body = [*head, around]

    def begun(self, record: Observed) -> None:
        """The host has called a function."""
        if threading.current_thread() is threading.main_thread():
            self._open.append(record)

    def ended(self, record: Observed, *, failed: bool) -> None:
        """The call has ended. Raises an exception that ends the program if it is cut off here."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._open.pop()
        if self.cut is not None and self.active and not failed:
            self.cut.ended(record, self._open)

    def keep(self, name: str, number: int, value: Any) -> None:
        """Writes the arrays and numbers of a value. Others are left out, never raised."""
        if self.folder is None:
            return
        start = time.perf_counter()
        try:
            import jax

            from jaxlint_runtime.proof.equivalence import outcome

            numbers = jax.tree.map(_number, value)
            jax.block_until_ready(numbers)
            start = time.perf_counter()  # waiting is the program's own work
            if sum(getattr(leaf, "nbytes", 8) for leaf in jax.tree.leaves(numbers)) <= _BYTES:
                found = outcome(numbers)
                entry = (name, number, found.leaves, found.paths, found.groups)
                key = hashlib.sha256(f"{name} {number}".encode()).hexdigest()[:24]
                (self.folder / f"{key}.pickle").write_bytes(pickle.dumps(entry))
        except Exception:  # objects that are not pytrees, deleted arrays, unknown kinds of keys
            pass
        finally:
            self.overhead += time.perf_counter() - start

    def close(self) -> None:
        """Writes the number of calls of each function."""
        if self.folder is not None:
            calls = {record.qualname: record.calls for record in self.records}
            (self.folder / _CALLS).write_text(json.dumps(calls))


def _number(leaf: Any) -> Any:
    """Arrays unchanged, numbers as JAX arrays; None, which is not a leaf, for anything else."""
    import jax
    import numpy as np

    if isinstance(leaf, _PLAIN):
        array = np.asarray(leaf)
        narrow = array.astype(jax.dtypes.canonicalize_dtype(array.dtype))
        return narrow if narrow.dtype.kind != "i" or narrow == array else array
    # modules such as numpy also have `dtype` and `shape`
    return leaf if isinstance(leaf, jax.Array | np.ndarray | np.generic) else None


def _yields(definition: Any) -> bool:
    return isinstance(definition, ast.AsyncFunctionDef) or any(
        isinstance(node, ast.Yield | ast.YieldFrom) for node in own_nodes(definition)
    )


def corresponding(left: Path, right: Path) -> Callable[[str], bool]:
    """Whether the calls of a function in two runs correspond: not if one of them has compiled some into their
    callers."""
    one, two = (json.loads((folder / _CALLS).read_text()) for folder in (left, right))
    return lambda name: one.get(name) == two.get(name)


def read(folder: Path) -> Iterator[tuple[str, int, Any]]:
    """The (function, call, outcome) entries stored in a folder."""
    from jaxlint_runtime.proof.equivalence import Outcome

    for path in sorted(folder.glob("*.pickle")):
        name, number, leaves, paths, groups = pickle.loads(path.read_bytes())
        yield name, number, Outcome(leaves, paths, groups)
