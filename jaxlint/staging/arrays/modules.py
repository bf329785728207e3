"""Constants and classes with models in the modules of JAX, NumPy and their ecosystem."""

from __future__ import annotations

import math
import string

from jaxlint.jaxapi.api_names import known_names
from jaxlint.jaxapi.functions import CONSTANTS, NUMBERS
from jaxlint.jaxapi.models import MODELS
from jaxlint.jaxapi.names import canonical
from jaxlint.staging.evaluator.machine import Part
from jaxlint.staging.values import Static, Value

# Libraries whose modules are described by the tables, even if a project contains files of that name.
_DESCRIBED = frozenset({"jax", "numpy", "builtins", "optax", "flax"})
_TEXTS = frozenset({"__doc__", "__qualname__", "__module__"})  # a function or class has it too
_WIDE = frozenset({"jax_enable_x64", "x64_enabled"})
_NAMED = frozenset({"numpy", "jax.numpy"})  # modules that programs distinguish by their names


class LibraryModules(Part):
    """Attributes of modules that are not part of the project."""

    def is_described(self, name: str) -> bool:
        """Whether the tables alone describe this qualified name."""
        return name.partition(".")[0] in _DESCRIBED

    def module_has(self, module: str, name: str) -> bool | None:
        """Whether a module of the newest JAX has a name, as a version shim tests; None if unknown."""
        if module not in known_names:
            return None
        names = known_names(module)
        return None if names.is_open_now or not names.there else name in names.there

    def attribute_of_module(self, module: str, name: str) -> Value | None:
        """The value of `module.name` for a library module; None if it is only a name."""
        if name in _TEXTS:
            return Static(kind="str")
        if module == "jax.config" and name in _WIDE and self.machine.exact:
            return Static(False)  # the default
        if module == "string" and self.machine.exact and isinstance(text := getattr(string, name, None), str):
            return Static(text)
        if name == "__name__":
            if module in _NAMED:
                return Static(module)
            # The names of JAX's modules stay as written: some no longer exist.
            return None if module.startswith("jax.") else Static(kind="str")
        public = canonical(f"{module}.{name}")
        if name == "newaxis" and module in _NAMED:
            return Static(None)
        if public in CONSTANTS:
            if name == "inf":
                return Static(math.inf)  # programs compare with it
            return Static(kind="float") if public in NUMBERS else Static()
        return self.machine.language.model_of(public) if public in MODELS else None
