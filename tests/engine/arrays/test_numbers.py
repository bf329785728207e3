"""The numbers of arrays with one element, and their derivatives, held against JAX."""

from __future__ import annotations

import ast

import jax
import jax.numpy as jnp
import pytest

from jaxlint.staging.shapes import numbers
from jaxlint.staging.shapes.numbers import Point, UnclearNumberError, identity_of
from jaxlint.staging.values import Array, Operation, Static, Value
from jaxlint.staging.values.arrays import Form

NODE = ast.Constant(0)
_IN_SCIPY = {"erf", "erfc", "expit"}
_IN_LAX = {"rsqrt", "logistic", "erf", "erfc"}
_IN_NN = {"sigmoid", "log_sigmoid", "softplus", "relu", "silu", "swish", "gelu", "softmax", "log_softmax"}


def function(name: str):
    if name in _IN_NN:
        return getattr(jax.nn, name)
    if name in ("rsqrt", "logistic"):
        return getattr(jax.lax, name)
    if name in _IN_SCIPY:
        return getattr(jax.scipy.special, name)
    if name == "norm":
        return jnp.linalg.norm
    return getattr(jnp, name)


def made(name: str, *args: Value) -> Array:
    return Array(True, dtype="float32", made=Operation(name, args, {}, NODE))


def leaf() -> Array:
    return Array(True, dtype="float32", form=Form())


_BOOLEAN = {"logical_not", "invert"}
_NO_GRADIENT = {
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "equal",
    "not_equal",
    "logical_and",
    "logical_or",
}


@pytest.mark.parametrize("name", sorted(set(numbers._OF_ONE) - _BOOLEAN))
def test_functions_of_one_number(name):
    x = leaf()
    point = Point(3)
    at = jnp.full((1,), point.at(identity_of(x)))
    of = function(name)
    assert point.value(made(name, x)) == pytest.approx(float(of(at).sum()), rel=1e-4, abs=1e-6)
    right = float(jax.grad(lambda x: of(x).sum())(at)[0])
    assert point.derivative(made(name, x), x) == pytest.approx(right, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("name", sorted(set(numbers._OF_TWO) - _NO_GRADIENT - {"dot_general"}))
def test_functions_of_two_numbers(name):
    x, y = leaf(), leaf()
    point = Point(4)
    at = [jnp.full((1, 1), point.at(identity_of(one))) for one in (x, y)]
    of = function(name)
    assert point.value(made(name, x, y)) == pytest.approx(float(of(*at).sum()), rel=1e-4)
    right = jax.grad(lambda x, y: of(x, y).sum(), argnums=(0, 1))(*at)
    for one, derivative in zip((x, y), right, strict=True):
        assert point.derivative(made(name, x, y), one) == pytest.approx(
            float(derivative.sum()), rel=1e-3, abs=1e-5
        )


@pytest.mark.parametrize("name", sorted(numbers._SAME))
def test_functions_that_keep_the_number(name):
    at = jnp.full((1, 1), 0.625)
    more = {
        "reshape": (-1,),
        "expand_dims": (0,),
        "broadcast_to": ((1, 1),),
        "swapaxes": (0, 1),
        "moveaxis": (0, 1),
        "roll": (1,),
    }.get(name, ())
    of = {"logsumexp": jax.nn.logsumexp, "flatten": jnp.ravel, "amax": jnp.max, "amin": jnp.min}.get(name)
    assert float((of or getattr(jnp, name))(at, *more).sum()) == 0.625


def test_what_is_unknown_has_no_number():
    x = leaf()
    for value in (
        made("fft", x),
        made("getitem", x, Static(3)),
        made("sum"),
        Array(True, mixed=True),
        Static(kind="int"),
    ):
        with pytest.raises(UnclearNumberError):
            Point(0).value(value)


def test_a_number_without_a_value_here():
    x = leaf()
    with pytest.raises(UnclearNumberError):
        Point(0).value(made("log", made("negative", x)))
    with pytest.raises(UnclearNumberError):
        Point(0).value(made("divide", x, made("subtract", x, x)))
