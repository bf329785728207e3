"""Asks the installed JAX: what a call gives, or fails with, while JAX traces it."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import jax

from jaxlint.jaxapi.history import lookup
from jaxlint.jaxapi.versions import parse_version

INSTALLED = parse_version(jax.__version__)
MISSING = object()
GONE = {"haiku.jit"}  # of libraries whose history is not in the tables
NEWER = {"jax.numpy.top_k": "0.11", "jax.numpy.minmax": "0.11"}


@functools.cache
def resolve(name: str) -> Any:
    """The object that a dotted name stands for, MISSING where the installed libraries have none."""
    parts = name.split(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for length in range(len(parts), 0, -1):
            try:
                found = importlib.import_module(".".join(parts[:length]))
            except ImportError:
                continue
            for part in parts[length:]:
                found = getattr(found, part, MISSING)
            return found
    return MISSING


def installed(name: str) -> bool:
    return importlib.util.find_spec(name.partition(".")[0]) is not None


def present(names: Any) -> list[str]:
    """The names of libraries that are installed, without those that went in an earlier JAX."""
    kept = []
    for name in sorted(names):
        change = lookup(name)
        gone = change is not None and change.removed_in and parse_version(change.removed_in) <= INSTALLED
        gone = gone or parse_version(NEWER.get(name, "0")) > INSTALLED
        if installed(name) and not gone and name not in GONE:
            kept.append(name)
    return kept


def is_tracer(value: object) -> bool:
    return isinstance(value, jax.core.Tracer)


def holds_tracer(value: object) -> bool:
    return any(map(is_tracer, jax.tree.leaves(value)))


def inside_jit(function: Callable[..., Any], *arguments: Any) -> Any:
    """What `function` gives while JAX traces it with these arguments."""
    seen: list[Any] = []
    jax.eval_shape(lambda *tracers: seen.append(function(*tracers)), *arguments)
    return seen[0]


def fails(function: Callable[..., Any], *arguments: Any) -> bool:
    """Whether the call fails as calls do that need the value of a tracer."""
    try:
        function(*arguments)
    except (jax.errors.JAXTypeError, TypeError):
        return True
    return False


def raises_inside_jit(function: Callable[..., Any], *arguments: Any) -> bool:
    """Whether `function` fails on tracers, and only on them."""
    return inside_jit(functools.partial(fails, function), *arguments) and not fails(function, *arguments)
