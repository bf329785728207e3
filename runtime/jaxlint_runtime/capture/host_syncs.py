"""Counts host syncs: `float(x)`, `x.item()`, `np.asarray(x)`, `print(x)` and the like.

Hooks on JAX's array type and on three functions, by public names only. Each host sync is attributed to the nearest
line of user code, with its duration. On CPU, NumPy reads arrays through the buffer protocol, past every method; hence
the wrappers around `numpy.asarray` and `numpy.array`.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from jaxlint_runtime.capture.function_identity import Project

_METHODS = {
    "__array__": "np.asarray(x)",
    "__float__": "float(x)",
    "__int__": "int(x)",
    "__bool__": "bool(x)",
    "__index__": "index(x)",
    "__complex__": "complex(x)",
    "__repr__": "repr(x)",
    "__str__": "str(x)",
    "__format__": "format(x)",
    "__iter__": "iter(x)",
    "item": "x.item()",
    "tolist": "x.tolist()",
    "tobytes": "x.tobytes()",
    "block_until_ready": "x.block_until_ready()",
}

_UNPACKS = _METHODS["__iter__"]  # also work under jit


@dataclass(slots=True)
class SyncSite:
    """A line with host syncs: how many, for how long, and how many since the first captured call."""

    path: str
    line: int
    kind: str
    count: int = 0
    seconds: float = 0.0
    in_steps: int = 0


class HostSyncs:
    """The hooks and their counts.

    `counting` says whether a host sync counts now (not inside a jitted call); `waited` is called at the first one of
    each line.
    """

    def __init__(
        self,
        project: Project,
        counting: Callable[[], bool],
        stepping: Callable[[], bool],
        waited: Callable[[], None] = lambda: None,
    ) -> None:
        self.sites: dict[tuple[str, int, str], SyncSite] = {}
        self._project = project
        self._counting = counting
        self._stepping = stepping
        self._waited = waited
        self._local = threading.local()
        self._undo: list[tuple[Any, str, Any]] = []

    def install(self, jax: Any) -> None:
        """Installs the hooks. A function that cannot be hooked stays unchanged."""
        import numpy

        array_type = _array_type()
        for name, kind in _METHODS.items():
            if name in vars(array_type):
                self._replace(array_type, name, self._hook(vars(array_type)[name], kind))
        self._replace(jax, "device_get", self._hook(jax.device_get, "jax.device_get(x)"))
        self._replace(jax, "block_until_ready", self._hook(jax.block_until_ready, "jax.block_until_ready(x)"))
        for name in ("asarray", "array"):
            original = getattr(numpy, name)
            self._replace(numpy, name, self._numpy_hook(original, f"np.{name}(x)", array_type))

    def remove(self) -> None:
        """Restores everything."""
        while self._undo:
            owner, name, original = self._undo.pop()
            setattr(owner, name, original)

    def _replace(self, owner: Any, name: str, new: Any) -> None:
        original = vars(owner)[name]
        try:
            setattr(owner, name, new)
        except (AttributeError, TypeError):
            return
        self._undo.append((owner, name, original))

    def _hook(self, original: Any, kind: str) -> Any:
        def waits(*args: Any, **kwargs: Any) -> Any:
            if getattr(self._local, "inside", False) or not self._counting():
                return original(*args, **kwargs)
            return self._timed(original, kind, sys._getframe(1), args, kwargs)

        return _disguise(waits, original)

    def _numpy_hook(self, original: Any, kind: str, array_type: type) -> Any:
        def waits(*args: Any, **kwargs: Any) -> Any:
            if (
                not args
                or type(args[0]) is not array_type
                or getattr(self._local, "inside", False)
                or not self._counting()
            ):
                return original(*args, **kwargs)
            return self._timed(original, kind, sys._getframe(1), args, kwargs)

        return _disguise(waits, original)

    def _timed(self, original: Any, kind: str, frame: FrameType | None, args: Any, kwargs: Any) -> Any:
        self._local.inside = True
        start = time.perf_counter()
        try:
            result = original(*args, **kwargs)
        finally:
            self._local.inside = False
        seconds = time.perf_counter() - start
        # not where it raises: `jnp.power` asks each exponent whether it is an integer
        user = self._project.nearest_frame(frame)
        if user is not None:
            self._count(user.f_code.co_filename, user.f_lineno, kind, seconds)
        return result

    def _count(self, filename: str, line: int, kind: str, seconds: float) -> None:
        path = self._project.file(filename) or filename
        site = self.sites.setdefault((path, line, kind), SyncSite(path, line, kind))
        if not site.count and kind != _UNPACKS:
            self._waited()
        site.count += 1
        site.seconds += seconds
        if self._stepping():
            site.in_steps += 1


def _array_type() -> type:
    """The class of concrete arrays. Found without creating an array, which would start the backend too early."""
    from jaxlint_runtime import compat

    return compat.array_type()


def _disguise(hook: Any, original: Any) -> Any:
    try:
        return functools.update_wrapper(hook, original)
    except Exception:  # a native method without the usual attributes
        return hook
