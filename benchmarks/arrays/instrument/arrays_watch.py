"""Which arrays the variables of running code were, line by line."""

from __future__ import annotations

import argparse
import ast
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

MOST_SEEN = 200  # observations of one place
MOST_KEPT = 64  # those with different arrays, or in calls with other arrays
Key = tuple[str, int, int, str]


class Place:
    """One variable where it is bound."""

    __slots__ = ("arrays", "kept", "others", "seen")

    def __init__(self) -> None:
        self.seen = self.arrays = self.others = 0
        # by dtype, shape and the shapes of the parameters: the numbers of the call that sizes may refer to
        self.kept: dict[tuple[str, tuple[int, ...], tuple[object, ...]], dict[str, int]] = {}


class Module:
    """The statements of a file that bind variables."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.statement_of: dict[int, int] = {}  # line -> number of the statement
        self.targets: list[list[tuple[str, int, int]]] = []
        self.parameters: dict[tuple[int, str], list[tuple[str, int, int]]] = {}
        try:
            tree = ast.parse(Path(path).read_bytes())
        except (SyntaxError, ValueError):
            return
        for node in ast.walk(tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                targets: list[ast.expr] = (
                    list(node.targets) if isinstance(node, ast.Assign) else [node.target]
                )
                self.add(targets, node.lineno, node.end_lineno or node.lineno)
            elif isinstance(node, (ast.For, ast.AsyncFor)):
                self.add([node.target], node.lineno, node.iter.end_lineno or node.lineno)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                arguments = node.args
                found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
                first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
                name = getattr(node, "name", "<lambda>")
                self.parameters[first, name] = [(a.arg, a.lineno, a.col_offset) for a in found]

    def add(self, targets: list[ast.expr], first: int, last: int) -> None:
        names = [
            (part.id, part.lineno, part.col_offset)
            for target in targets
            for part in ast.walk(target)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        ]
        for line in range(first, last + 1):
            self.statement_of[line] = len(self.targets)
        bound = [name for name, _, _ in names]  # of `_, _ = ...` only the last is to be seen
        self.targets.append([found for found in names if bound.count(found[0]) == 1])


class Watch:
    """Follows the code below some folders, line by line."""

    def __init__(self, roots: list[str]) -> None:
        self.roots = tuple(root.rstrip(os.sep) + os.sep for root in roots) + tuple(
            root for root in roots if root.endswith(".py")
        )
        self.modules: dict[str, Module | None] = {}
        self.places: dict[Key, Place] = {}
        self.parameters: dict[CodeType, list[tuple[str, int, int]]] = {}

    def module(self, path: str) -> Module | None:
        if path not in self.modules:
            self.modules[path] = Module(path) if path.startswith(self.roots) else None
        return self.modules[path]

    def trace(self, frame: FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        module = self.module(code.co_filename)
        if module is None or event != "call":
            return None
        names = module.parameters.get((code.co_firstlineno, code.co_name), [])
        shapes: dict[str, tuple[int, ...]] = {}
        if names:
            local = frame.f_locals
            for name, _, _ in names:
                if name in local and is_array(local[name]):
                    shapes[name] = tuple(local[name].shape)
            for name, line, column in names:
                if name in local:
                    self.observe((module.path, line, column, name), local[name], frame, shapes)
        state = [-1, False]  # the statement that is being run, and whether it has raised

        def local_trace(frame: FrameType, event: str, arg: object) -> Any:
            if event == "exception":
                state[1] = True
                return local_trace
            now = module.statement_of.get(frame.f_lineno, -1) if event == "line" else -1
            if now != state[0]:
                if state[0] >= 0 and not state[1]:
                    local = frame.f_locals
                    for name, line, column in module.targets[state[0]]:
                        if name in local:
                            self.observe((module.path, line, column, name), local[name], frame, shapes)
                state[0], state[1] = now, False
            return local_trace

        return local_trace

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Follows what runs inside, in threads that start there too."""
        sys.settrace(self.trace)
        threading.settrace(self.trace)
        try:
            yield
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]

    def record(self) -> list[dict[str, Any]]:
        """What was seen, as JSON data."""
        return [
            {
                "place": list(key),
                "seen": place.seen,
                "arrays": place.arrays,
                "others": place.others,
                "kept": [[dtype, shape, numbers] for (dtype, shape, _), numbers in place.kept.items()],
            }
            for key, place in self.places.items()
        ]

    def observe(self, key: Key, value: Any, frame: FrameType, shapes: dict[str, tuple[int, ...]]) -> None:
        place = self.places.get(key)
        if place is None:
            place = self.places[key] = Place()
        if place.seen >= MOST_SEEN or value is None or is_wide():
            return
        place.seen += 1
        if not is_array(value):
            place.others += 1
            return
        place.arrays += 1
        kind = (str(value.dtype), tuple(value.shape), tuple(shapes.items()))
        if kind not in place.kept and len(place.kept) < MOST_KEPT:
            place.kept[kind] = numbers_of(frame, shapes)


def is_wide() -> bool:
    """Whether 64 bits are turned on: what is claimed holds for JAX as it is by default."""
    jax = sys.modules.get("jax")
    return jax is not None and bool(jax.config.jax_enable_x64)


def is_array(value: Any) -> bool:
    jax, numpy = sys.modules.get("jax"), sys.modules.get("numpy")
    if jax is None or numpy is None or not isinstance(value, (jax.Array, numpy.ndarray)):
        return False
    return not jax.dtypes.issubdtype(value.dtype, jax.dtypes.extended)


def numbers_of(frame: FrameType, shapes: dict[str, tuple[int, ...]]) -> dict[str, int]:
    """The numbers that a size may refer to: variables, attributes of objects (`self.features`), axes of the arguments
    (`x.0`), and the arguments of the command line."""
    found = given_to_program(frame)
    found |= {name: value for name, value in frame.f_globals.items() if type(value) is int}
    for name, value in frame.f_locals.items():
        if type(value) is int:
            found[name] = value
        for attribute, part in getattr(value, "__dict__", {}).items() if name == "self" else ():
            if type(part) is int:
                found[f"{name}.{attribute}"] = part
    for name, shape in shapes.items():
        found.update({f"{name}.{axis}": size for axis, size in enumerate(shape)})
    return found


def given_to_program(frame: FrameType | None) -> dict[str, int]:
    """The numbers that `argparse` read from the command line, as a caller in the same file holds them."""
    path = frame.f_code.co_filename if frame is not None else ""
    while frame is not None:
        for value in frame.f_locals.values() if frame.f_code.co_filename == path else ():
            if type(value) is argparse.Namespace:
                return {name: number for name, number in vars(value).items() if type(number) is int}
        frame = frame.f_back
    return {}
