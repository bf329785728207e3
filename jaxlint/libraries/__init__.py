"""Models of libraries: one module for each library, one function for each thing with rules of its own.

A module registers its models at import (`jaxlint.staging.evaluator.external_models`). `load` imports all modules in
this folder.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache


@cache
def load() -> None:
    """Registers the models of all libraries."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
