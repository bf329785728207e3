"""Modules that cost a process much and that few processes need: imported at their first use."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


class _Deferred(ModuleType):
    """Stands for the module of its name, and imports it when an attribute is read."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.__name__), name)


def deferred(name: str) -> Any:
    """The module of this name, imported at its first use."""
    return _Deferred(name)
