"""A framework's module as a function: its forward pass, with variables from its initialiser.

For flax.linen and haiku only the inputs are needed. Their variables come from `init`, which is first evaluated with
`jax.eval_shape`, so that mismatches are found before anything is allocated.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

import jax

from jaxlint_runtime.inputs.dimensions import NoExample
from jaxlint_runtime.inputs.drawn_values import drawn
from jaxlint_runtime.lowering.function_versions import first_line


def forward(
    value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """A function and its arguments for a module given with its inputs; None if `value` is not such a module.

    Raises NoExample if the module cannot be initialised with them.
    """
    linen = sys.modules.get("flax.linen")
    if linen is not None and isinstance(value, type) and issubclass(value, linen.Module):
        try:
            value = value()
        except TypeError as error:
            raise NoExample(f"the module needs constructor arguments ({error}); name an instance") from None
    if linen is not None and isinstance(value, linen.Module):
        return _linen(value, args, kwargs)
    if {"init", "apply"} <= set(getattr(type(value), "_fields", ())) and callable(value.apply):
        return _haiku(value, args, kwargs)
    return None


def _linen(
    module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    names = ("params", "dropout")
    keys = dict(zip(names, jax.random.split(jax.random.key(0), len(names)), strict=True))
    arrays, flags = _split(kwargs)
    variables = _initialised(functools.partial(module.init, **flags), keys, args, arrays, keys["params"])

    @functools.wraps(type(module).__call__)
    def apply(variables: Any, keys: Any, named: dict[str, Any], *inputs: Any) -> Any:
        changed = [name for name in variables if name != "params"]
        return module.apply(variables, *inputs, rngs=keys, mutable=changed or False, **named, **flags)

    return apply, (variables, {"dropout": keys["dropout"]}, arrays, *args)


def _haiku(
    transformed: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    key = jax.random.key(0)
    arrays, flags = _split(kwargs)
    found = _initialised(functools.partial(transformed.init, **flags), key, args, arrays)
    stateful = "State" in type(transformed).__name__

    @functools.wraps(transformed.apply)
    def apply(named: dict[str, Any], *arguments: Any) -> Any:
        return transformed.apply(*arguments, **named, **flags)

    # haiku keeps the user's function in its own closures
    apply.__wrapped__ = _enclosed(transformed.apply) or transformed.apply  # type: ignore[attr-defined]
    keys = (key,) if "rng" in inspect.signature(transformed.apply).parameters else ()
    return apply, (arrays, *(found if stateful else (found,)), *keys, *args)


def _split(kwargs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keyword arguments that consist of arrays or shapes, and the others, which are static."""

    def is_data(value: Any) -> bool:
        leaves = jax.tree.leaves(value)
        return bool(leaves) and all(hasattr(leaf, "dtype") and hasattr(leaf, "shape") for leaf in leaves)

    arrays = {name: value for name, value in kwargs.items() if is_data(value)}
    return arrays, {name: value for name, value in kwargs.items() if name not in arrays}


def _enclosed(function: Any) -> Any:
    """The first function in haiku's closures that is not haiku's."""
    waiting: list[Any] = [function]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, tuple):  # `hk.Transformed`
            waiting += one
        elif isinstance(one, types.FunctionType):
            if not one.__module__.startswith(("haiku.", "jax.")):
                return one
            waiting += [cell.cell_contents for cell in one.__closure__ or () if cell != types.CellType()]
            waiting.append(getattr(one, "__wrapped__", None))
    return None


def _initialised(
    init: Callable[..., Any], keys: Any, args: tuple[Any, ...], named: dict[str, Any], alone: Any = None
) -> Any:
    """The variables from `init`. If the module's own initialiser only takes a key, those from `alone`."""

    def whole(keys: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return init(keys, *args, **named)

    try:
        jax.eval_shape(whole, keys, args, named)
        return jax.jit(whole)(keys, *drawn((args, named), seed=1))
    except Exception as error:
        own = init.func if isinstance(init, functools.partial) else init
        if alone is not None and len(inspect.signature(own).parameters) == 1:
            return jax.jit(own)(alone)
        raise NoExample(f"the module cannot be initialised: {first_line(error)}") from error
