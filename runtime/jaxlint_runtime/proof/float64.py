"""The captured program in float64: its results almost without rounding.

Its jaxpr is evaluated with every floating value widened. Integers, random keys and random draws do not change: a
plain rerun under x64 would draw other numbers, and leave modules that request float32 in that dtype.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint_runtime import compat
from jaxlint_runtime.lowering.jaxpr_interpreter import Environment, is_plain_call, while_loop

_NARROW = frozenset({"float16", "bfloat16", "float32"})
_DTYPES = ("new_dtype", "preferred_element_type", "dtype")
_CUSTOM = frozenset({"custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"})
_REMATERIALISED = frozenset({"remat", "remat2", "checkpoint"})
# These read the bits of a value, or deliberately round it to a width that is part of the program.
_EXACT = frozenset({"bitcast_convert_type", "nextafter"})

Rule = Callable[[Any, list[Any]], Sequence[Any]]


def widened(jaxpr: Any, values: Sequence[Any]) -> list[np.ndarray]:
    """The outputs of a program on flat host `values`, with the floating ones in float64.

    Raises any error of an operation that cannot be evaluated here.
    """
    dtypes = [var.aval.dtype for var in compat.open_jaxpr(jaxpr).invars]
    return in_double(compat.jit(evaluation(jaxpr)), values, dtypes)


def evaluation(jaxpr: Any) -> Callable[..., list[Any]]:
    """A function of the flat inputs of a program, with the floating ones widened. To be traced under x64."""
    return lambda *args: _evaluate(jaxpr, list(args))


def shapes(avals: Sequence[Any]) -> list[jax.ShapeDtypeStruct]:
    """The input shapes of `evaluation` for inputs of these shapes and dtypes."""
    wide = dict.fromkeys(_NARROW, jnp.float64) | {"complex64": jnp.complex128}
    return [jax.ShapeDtypeStruct(aval.shape, wide.get(str(aval.dtype), aval.dtype)) for aval in avals]


def in_double(run: Callable[..., Any], values: Sequence[Any], dtypes: Sequence[Any]) -> list[np.ndarray]:
    """Calls a jitted `evaluation` on host values that the program receives in `dtypes`."""
    with jax.enable_x64(True):  # type: ignore[attr-defined]
        wide = [
            _wide(jnp.asarray(value, dtype) if _is_array(value) else value)
            for dtype, value in zip(dtypes, values, strict=True)
        ]
        return [_host(out) for out in jax.block_until_ready(run(*wide))]


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic | float | int | complex | bool)


def _host(out: Any) -> np.ndarray:
    if jnp.issubdtype(out.dtype, jax.dtypes.prng_key):
        out = jax.random.key_data(out)
    return np.asarray(out)


def _wide(value: Any) -> Any:
    """A floating value in double precision; anything else unchanged."""
    dtype = str(getattr(value, "dtype", ""))
    if dtype in _NARROW:
        return jax.lax.convert_element_type(value, jnp.float64)
    return jax.lax.convert_element_type(value, jnp.complex128) if dtype == "complex64" else value


def _narrow(value: Any, aval: Any) -> Any:
    """A value in the program's own dtype."""
    if getattr(value, "dtype", None) != getattr(aval, "dtype", None) and str(aval.dtype) in (
        *_NARROW,
        "complex64",
    ):
        return jax.lax.convert_element_type(value, aval.dtype)
    return value


def _evaluate(jaxpr: Any, args: Sequence[Any]) -> list[Any]:
    parts = compat.open_jaxpr(jaxpr)
    environment = Environment(jaxpr, [_wide(const) for const in parts.consts], args)
    for eqn in parts.eqns:
        operands = [_wide(value) for value in environment.read(eqn.invars)]
        environment.write(eqn.outvars, [_wide(out) for out in _equation(eqn, operands)])
    return [_wide(value) for value in environment.read(parts.outvars)]


def _equation(eqn: Any, values: list[Any]) -> Sequence[Any]:
    name = eqn.primitive.name
    bodies = [body for _, body in compat.inner_jaxprs(eqn)]
    if name in _EXACT:
        return _as_it_is(eqn, values)
    if bodies and (is_plain_call(eqn) or name in _CUSTOM or name in _REMATERIALISED):
        return _evaluate(bodies[0], values)
    if name == "scan":
        return _scan(eqn, values, bodies[0])
    if name == "while":
        return _while(eqn, values)
    if name == "cond":
        branches = [functools.partial(_branch, body) for body in bodies]
        return jax.lax.switch(values[0], branches, *values[1:])
    if bodies or not any(_floats(value) for value in values):
        # Random bits, counters, kernels: equations without floating operands are computed unchanged.
        out = _wide_conversion(eqn)
        return compat.bind(eqn, values, out) if out is not None else _as_it_is(eqn, values)
    try:
        return compat.bind(eqn, values, _wide_params(eqn))
    except Exception:  # not available for float64
        return _as_it_is(eqn, values)


def _as_it_is(eqn: Any, values: Sequence[Any]) -> Sequence[Any]:
    return compat.bind(eqn, [_narrow(value, var.aval) for value, var in zip(values, eqn.invars, strict=True)])


def _wide_params(eqn: Any) -> dict[str, Any]:
    params = dict(eqn.params)
    for name in _DTYPES:
        value = params.get(name)
        if value is not None and str(np.dtype(value) if not hasattr(value, "name") else value) in _NARROW:
            params[name] = jnp.dtype(jnp.float64)
        elif value is not None and str(value) == "complex64":
            params[name] = jnp.dtype(jnp.complex128)
    return params


def _wide_conversion(eqn: Any) -> dict[str, Any] | None:
    """Integers become floats without loss."""
    return _wide_params(eqn) if eqn.primitive.name == "convert_element_type" else None


def _floats(value: Any) -> bool:
    return hasattr(value, "dtype") and bool(jnp.issubdtype(value.dtype, jnp.inexact))


def _branch(body: Any, *values: Any) -> list[Any]:
    return _evaluate(body, values)


def _scan(eqn: Any, values: list[Any], body: Any) -> list[Any]:
    first, carries = compat.scan_counts(eqn)
    consts, init, stacked = values[:first], values[first : first + carries], values[first + carries :]

    def turn(carry: Any, x: Any) -> Any:
        outs = _evaluate(body, [*consts, *carry, *x])
        return list(outs[:carries]), list(outs[carries:])

    final, results = jax.lax.scan(
        turn, list(init), list(stacked), length=eqn.params["length"], reverse=eqn.params["reverse"]
    )
    return [*final, *results]


def _while(eqn: Any, values: list[Any]) -> Sequence[Any]:
    bodies = dict(compat.inner_jaxprs(eqn))
    return while_loop(
        eqn,
        values,
        lambda *operands: _evaluate(bodies["cond_jaxpr"], operands),
        lambda *operands: _evaluate(bodies["body_jaxpr"], operands),
    )
