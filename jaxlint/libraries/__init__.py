"""What the analysis knows of libraries: one module a library, one function for each thing that follows rules of its own.

A module registers its models when it is imported (`jaxlint.staging.evaluator.external_models`); `load` imports all that stand in this folder.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache


@cache
def load() -> None:
    """Makes the models of all libraries known."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
