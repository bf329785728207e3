"""The examples file: a Python file with arguments for functions of a program.

# examples.py
import jax
from train import init

def train_step(batch=32):            # named like the function; its parameters are dimensions (--dim batch=64)
    params = init(jax.random.key(0))
    x = jax.ShapeDtypeStruct((batch, 784), "float32")   # a shape: values are drawn
    return params, x                 # a tuple: the arguments in order

EXAMPLES = {"Model.loss": {"x": ...}, "evaluate": lambda batch=32: ...} # or a table; a dict names the
arguments
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from jaxlint_runtime.inputs.dimensions import Dimensions, NoExample

TABLE = "EXAMPLES"


@dataclass(frozen=True, slots=True)
class Example:
    """A function by its name (or itself), and its arguments."""

    name: str
    function: Any
    arguments: Any  # a tuple, a dict, one argument, or a function of dimensions that returns them

    def build(self, dims: Dimensions) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments. Raises NoExample, and any exception of the file's own code."""
        found = self.arguments
        if isinstance(found, FunctionType):
            found = found(**_sizes(found, self.name, dims))
        if isinstance(found, tuple):
            return found, {}
        if type(found) is dict and all(isinstance(key, str) for key in found):
            return (), found
        return (found,), {}


def load_program(kind: str, target: str) -> ModuleType:
    """Imports the program, without running it as `__main__`. Raises the exceptions of the import."""
    if kind == "module":
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        return importlib.import_module(target)
    return _load(Path(target).resolve())


def _load(path: Path) -> ModuleType:
    """A file as a module, under the name by which others import it."""
    names, folder = [path.stem], path.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    for entry in dict.fromkeys((str(path.parent), str(folder))):
        if entry not in sys.path:
            sys.path.insert(0, entry)
    name = ".".join(names)
    known = sys.modules.get(name)
    if known is None:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin and os.path.realpath(spec.origin) == str(path):
            return importlib.import_module(name)
    elif os.path.realpath(getattr(known, "__file__", None) or "") == str(path):
        return known
    spec = importlib.util.spec_from_file_location(name, path)  # its name belongs to another module
    if spec is None or spec.loader is None:
        raise NoExample(f"{path} is not a Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_examples(path: str, program: ModuleType) -> list[Example]:
    """The examples of a file. Raises NoExample if there are none, and the exceptions of its import."""
    module = _load(Path(path).resolve())
    table = getattr(module, TABLE, {})
    if not isinstance(table, dict):
        raise NoExample(f"{path}: {TABLE} must map function names to arguments")
    found = list(_of_table(path, table, program))
    for name, value in vars(module).items():
        if not isinstance(value, FunctionType) or value.__module__ != module.__name__:
            continue  # imported from elsewhere
        try:
            found.append(Example(name, resolve(name, program), value))
        except NoExample:
            continue  # a helper of the file's own
    if not found:
        raise NoExample(
            f"{path}: no examples; define functions with the names of those in {program.__name__} "
            f"({_functions(program)}) that return arguments, or a dict {TABLE}"
        )
    return found


def _of_table(path: str, table: dict[Any, Any], program: ModuleType) -> Iterator[Example]:
    for key, arguments in table.items():
        if not isinstance(key, str):
            yield Example(getattr(key, "__qualname__", type(key).__name__), key, arguments)
            continue
        try:
            yield Example(key, resolve(key, program), arguments)
        except NoExample as problem:
            raise NoExample(f"{path}: {problem}") from None


def resolve(name: str, program: ModuleType) -> Any:
    """The object of a dotted name, in the program or from an import root. Raises NoExample."""
    found = _attribute(program, name.split("."))
    if found is None:
        parts = name.split(".")
        for end in range(len(parts) - 1, 0, -1):
            module = sys.modules.get(".".join(parts[:end]))
            if module is not None and (found := _attribute(module, parts[end:])) is not None:
                break
    if found is None:
        raise NoExample(f"{name}: {program.__name__} has no such function; it has {_functions(program)}")
    return found


def _attribute(value: Any, names: list[str]) -> Any:
    for name in names:
        value = getattr(value, name, None)
    return value


def _functions(program: ModuleType) -> str:
    names = [
        name
        for name, value in vars(program).items()
        if callable(value) and not name.startswith("_") and _home(value) == program.__name__
    ]
    return ", ".join(names[:12]) or "no functions"


def _home(value: Any) -> str | None:
    return getattr(value, "__module__", None)


def _sizes(function: Callable[..., Any], name: str, dims: Dimensions) -> dict[str, int]:
    """The dimensions that a function of the file takes."""
    sizes = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.name in dims or parameter.default is parameter.empty:
            sizes[parameter.name] = dims.size(parameter.name, f"the example of {name}")
    return sizes
