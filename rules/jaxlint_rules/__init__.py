"""The built-in rule pack: a folder per category, a module per rule."""

from __future__ import annotations

import importlib
import pkgutil

from jaxlint.api import Rule


def rules() -> list[type[Rule]]:
    """Every rule class of the pack, found by walking its folders."""
    found: list[type[Rule]] = []
    for info in pkgutil.walk_packages(__path__, prefix=f"{__name__}."):
        if info.name.rpartition(".")[2].startswith("_"):
            continue
        module = importlib.import_module(info.name)
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__:
                found.append(value)
    return found
