"""Runs actions right after a module's first import, so that JAX need not be imported before the program.

The program may set `XLA_FLAGS` or `JAX_*` in its first lines; importing JAX earlier would make these settings too
late.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from jaxlint.gc_pause import no_garbage_collection


class _Loader(importlib.abc.Loader):
    """The real loader, and one call after it."""

    def __init__(self, loader: importlib.abc.Loader, action: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._action = action

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # the module must look unchanged
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        with no_garbage_collection():
            self._loader.exec_module(module)
        self._action(module)


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls `actions[name](module)` once, after the import of the module `name`."""

    def __init__(self, actions: dict[str, Callable[[ModuleType], None]]) -> None:
        self._actions = dict(actions)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        action = self._actions.pop(fullname, None)
        if action is None:
            return None
        spec = importlib.util.find_spec(fullname)  # this name is no longer ours: no recursion
        if spec is None or spec.loader is None:
            self._actions[fullname] = action
            return spec
        spec.loader = _Loader(spec.loader, action)
        return spec

    def install(self) -> None:
        """Runs the actions of loaded modules, and waits for the others."""
        for name in list(self._actions):
            if name in sys.modules:
                self._actions.pop(name)(sys.modules[name])
        sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """Wait no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
