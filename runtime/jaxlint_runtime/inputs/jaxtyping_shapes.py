"""The shapes of a function's arguments, read from its jaxtyping annotations."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime.inputs.dimensions import Dimensions, NoExample

_DEFAULTS = ("float32", "int32", "uint32", "complex64", "bool")


def is_annotated(function: Callable[..., Any]) -> bool:
    """Whether an argument of the function has a shape in its annotation."""
    return any(_has_shape(hint) for hint in _hints(function).values())


def arguments(function: Callable[..., Any], dims: Dimensions) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments for a function: `jax.ShapeDtypeStruct` for each annotated array. Raises NoExample.

    Arguments with a default and no shape keep their default.
    """
    hints = _hints(function)
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints.get(name)
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is not parameter.empty and not _has_shape(hint):
            continue
        if hint is None:
            raise NoExample(
                f"the argument {name} has no annotation; write arguments into a file for --inputs"
            )
        value = _value(hint, name, dims)
        if parameter.kind is parameter.KEYWORD_ONLY:
            kwargs[name] = value
        else:
            args.append(value)
    return tuple(args), kwargs


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Resolved annotations of the arguments; empty if they cannot be resolved."""
    try:
        hints = typing.get_type_hints(inspect.unwrap(function), include_extras=True)
    except Exception:  # names that exist for type checkers only
        return {}
    hints.pop("return", None)
    return hints


def _parts(hint: Any) -> tuple[Any, ...]:
    """The members of a union, without None; the hint itself if it is not a union."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return tuple(part for part in typing.get_args(hint) if part is not type(None))
    if typing.get_origin(hint) is typing.Annotated:
        return typing.get_args(hint)[:1]
    return (hint,)


def _is_array(hint: Any) -> bool:
    return isinstance(getattr(hint, "dim_str", None), str)


def _fields(hint: Any) -> dict[str, Any]:
    """The annotated fields of a named tuple or a dataclass."""
    if not isinstance(hint, type):
        return {}
    if issubclass(hint, tuple) and hasattr(hint, "_fields"):
        names: list[str] = list(hint._fields)
    elif dataclasses.is_dataclass(hint):
        names = [entry.name for entry in dataclasses.fields(hint) if entry.init]
    else:
        return {}
    try:
        hints = typing.get_type_hints(hint, include_extras=True)
    except Exception:
        return {}
    return {name: hints.get(name) for name in names}


def _has_shape(hint: Any) -> bool:
    if any(_is_array(part) for part in _parts(hint)):
        return True
    inner = typing.get_args(hint) if typing.get_origin(hint) is tuple else tuple(_fields(hint).values())
    return any(map(_has_shape, inner))


def _value(hint: Any, name: str, dims: Dimensions) -> Any:
    for part in _parts(hint):
        if _is_array(part):
            return _array(part, name, dims)
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)
        if Ellipsis not in inner:
            return tuple(_value(part, f"{name}[{n}]", dims) for n, part in enumerate(inner))
    fields = _fields(hint)
    if fields and isinstance(hint, type):
        return hint(**{field: _value(part, f"{name}.{field}", dims) for field, part in fields.items()})
    shown = getattr(hint, "__name__", None) or str(hint)
    raise NoExample(
        f"the annotation of {name} ({shown}) has no shape; write arguments into a file for --inputs"
    )


def _array(hint: Any, name: str, dims: Dimensions) -> jax.ShapeDtypeStruct:
    shape = dims.shape(hint.dim_str, name)
    allowed = hint.dtypes if isinstance(hint.dtypes, tuple | list) else ("float32",)
    if "prng_key" in allowed:
        return jax.eval_shape(
            lambda: jax.random.split(jax.random.key(0), shape) if shape else jax.random.key(0)
        )
    named = [str(dtype) for dtype in allowed]
    chosen = next((dtype for dtype in _DEFAULTS if dtype in named), named[0])
    if chosen == "bool_":
        chosen = "bool"
    return jax.ShapeDtypeStruct(shape, jnp.dtype(chosen))
