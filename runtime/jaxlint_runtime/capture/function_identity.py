"""The user's function behind a jitted one: looks through wrappers and finds where it was written."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
import types
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_INSTALLED = frozenset({"site-packages", "dist-packages"})
# never the user's, even with --include-packages: these are looked through
_OWN = ("jax", "jaxlib", "jaxlint", "jaxlint_rules", "jaxlint_runtime")

_DEEPEST = 4  # nesting depth of tuples that are searched for a function


@dataclass(frozen=True, slots=True)
class Identity:
    """A place in the source that identifies a jitted function. `line` is that of the `def` or its first decorator."""

    qualname: str
    path: str
    line: int
    end_line: int


class Project:
    """Distinguishes the user's files from installed ones.

    `roots` are folders of the user's code; installed packages inside them (a virtual environment) do not count. With
    `include_packages` every installed package except JAX itself counts too.
    """

    def __init__(self, roots: Iterable[str | Path], include_packages: bool = False) -> None:
        self.roots = tuple(os.path.realpath(root) + os.sep for root in roots)
        self.include_packages = include_packages
        paths = sysconfig.get_paths()
        self._stdlib = tuple(os.path.realpath(paths[key]) + os.sep for key in ("stdlib", "platstdlib"))
        self._own = _package_folders(_OWN)
        self._named: tuple[str, ...] = ()
        self._known: dict[str, str | None] = {}

    def file(self, filename: str) -> str | None:
        """The real path of a file that is the user's, otherwise None."""
        try:
            return self._known[filename]
        except KeyError:
            found = self._known[filename] = self._classify(filename)
            return found

    def _classify(self, filename: str) -> str | None:
        if filename.startswith("<"):
            return None
        real = os.path.realpath(filename)
        if real.startswith(self._named):
            return real
        if real.startswith(self._own):
            return None
        installed = not _INSTALLED.isdisjoint(Path(real).parts)
        if installed or real.startswith(self._stdlib):
            return real if installed and self.include_packages else None
        return real if real.startswith(self.roots) else None

    def add(self, path: str | Path) -> None:
        """Counts this file or folder as the user's, installed or not."""
        real = os.path.realpath(path)
        self._named = (*self._named, real + os.sep if os.path.isdir(real) else real)
        self._known.clear()

    def nearest_frame(self, frame: types.FrameType | None) -> types.FrameType | None:
        """The innermost frame of the user's code, from `frame` outwards."""
        while frame is not None and self.file(frame.f_code.co_filename) is None:
            frame = frame.f_back
        return frame


def _package_folders(names: Iterable[str]) -> tuple[str, ...]:
    """Folders of packages that are loaded or lie beside this one, located without importing anything."""
    folders = [Path(__file__).resolve().parents[1]]
    for name in names:
        module = sys.modules.get(name)
        folders.extend(Path(entry).resolve() for entry in getattr(module, "__path__", ()))
    return tuple(str(folder) + os.sep for folder in folders)


def unwrap(function: Any) -> Iterator[Any]:
    """The function itself and the functions that it wraps, outermost first: partials, bound methods,
    `functools.wraps`, callables."""
    seen: set[int] = set()
    while function is not None and id(function) not in seen:
        seen.add(id(function))
        yield function
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif (wrapped := _attribute(function, "__wrapped__")) is not None:
            function = wrapped
        elif not isinstance(function, types.FunctionType | type):
            function = getattr(type(function), "__call__", None)  # noqa: B004 - the function is wanted
            if not isinstance(function, types.FunctionType):
                return
        else:
            return


def _attribute(value: Any, name: str) -> Any:
    try:
        return getattr(value, name, None)
    except Exception:  # a user's `__getattr__` may raise anything
        return None


def identify(function: Any, project: Project, caller: types.FrameType | None) -> Identity | None:
    """Where the jitted function was written, or where it was jitted if only that is in the user's files.

    The innermost user function counts: `jit(vmap(loss))` is about `loss`. `caller` is the frame that called
    `jax.jit`. None: no user code is involved.
    """
    found: Identity | None = None
    for layer in unwrap(function):
        code = getattr(layer, "__code__", None)
        if isinstance(code, types.CodeType) and (path := project.file(code.co_filename)):
            found = Identity(code.co_qualname, path, code.co_firstlineno, last_line(code))
    if found is not None or caller is None:
        return found
    path = project.file(caller.f_code.co_filename)
    if path is None:
        return None
    name = _attribute(function, "__qualname__") or _attribute(function, "__name__") or type(function).__name__
    return Identity(str(name), path, caller.f_lineno, caller.f_lineno)


def last_line(code: types.CodeType) -> int:
    """The last line of a function, nested functions included."""
    lines = [line for _, _, line in code.co_lines() if line is not None]
    inner = [last_line(const) for const in code.co_consts if isinstance(const, types.CodeType)]
    return max(lines + inner, default=code.co_firstlineno)


def static_function(args: Sequence[Any], positions: Iterable[int], project: Project) -> Any:
    """The first user function among the static arguments of a call, None if there is none."""
    waiting = [(args[position], 0) for position in positions if -len(args) <= position < len(args)]
    while waiting:
        value, depth = waiting.pop(0)
        if isinstance(value, types.FunctionType):
            if any(
                project.file(layer.__code__.co_filename)
                for layer in unwrap(value)
                if hasattr(layer, "__code__")
            ):
                return value
        elif isinstance(value, tuple | list) and depth < _DEEPEST:
            waiting = [(item, depth + 1) for item in value] + waiting
    return None


def code_key(function: Any) -> tuple[Any, ...]:
    """The key that makes two wrappers "the same function, jitted again": the code objects around and inside it."""
    codes = tuple(
        code
        for layer in unwrap(function)
        if isinstance(code := getattr(layer, "__code__", None), types.CodeType)
    )
    return codes or (id(function),)
