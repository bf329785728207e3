"""Dtype promotion and the dtypes that array functions give, held against the installed JAX."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint.jaxapi.dtypes import KINDS, MAKERS, promote
from jaxlint.staging.tracking.operations import numpy_dtype, result_dtype
from jaxlint.staging.values import Array, External, ListValue, NumpyArray, Static, Value
from jaxlint.staging.values.dtypes import dtype_of

STRONG = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "bfloat16", "float16", "float32")
NUMBERS: dict[str, object] = {"int*": 2, "float*": 2.0, "complex*": 2j}


def spelled(value: jax.Array | jax.ShapeDtypeStruct) -> str:
    """The dtype as the engine spells it."""
    name = str(value.dtype)
    weak = {"int32": "int*", "float32": "float*", "complex64": "complex*"}
    return weak.get(name, name) if value.weak_type else name


def staged(call: Callable[[], Any]) -> Any:
    """The shapes and dtypes that `call` returns, traced alone where its shapes do not depend on values: that needs no compiler."""
    try:
        return jax.eval_shape(call)
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError):
        return call()


def sample(dtype: str) -> object:
    return NUMBERS.get(dtype) or jnp.ones((2, 2), dtype)


def model(dtype: str) -> Value:
    return Static(NUMBERS[dtype]) if dtype in NUMBERS else Array(False, dtype=dtype)


@pytest.mark.parametrize(("left", "right"), list(itertools.combinations([*STRONG, *NUMBERS], 2)))
def test_promotion(left: str, right: str) -> None:
    assert promote(left, right) == spelled(jnp.add(sample(left), sample(right)))


def resolve(name: str) -> object:
    for owner in (jnp, jax.nn, jax.scipy.special, jax.lax):
        if hasattr(owner, name):
            return getattr(owner, name)
    pytest.skip(f"{name} is not in this JAX")


@pytest.mark.parametrize("dtype", ["int32", "bfloat16", "float32", "float16", "float*"])
@pytest.mark.parametrize("name", sorted(KINDS))
def test_functions(name: str, dtype: str) -> None:
    function = resolve(name)
    assert callable(function)
    x = jnp.full((2, 2), 1.0) if dtype == "float*" else jnp.ones((2, 2), dtype)
    kind = KINDS[name]
    extra: dict[str, list[object]] = {
        "broadcast_to": [(2, 2)],
        "reshape": [(4,)],
        "expand_dims": [0],
        "moveaxis": [0, 1],
        "swapaxes": [0, 1],
        "repeat": [2],
        "roll": [1],
        "tile": [2],
        "pad": [1],
        "take": [jnp.array([0])],
        "clip": [0, 1],
        "searchsorted": [x[0]],
        "tensordot": [x],
        "count_nonzero": [],
        "isin": [x],
    }
    several = kind in ("promote", "promote all", "count", "inexact all", "inexact promote") or name in (
        [
            "isclose",
            "allclose",
            "equal",
            "not_equal",
            "less",
            "less_equal",
            "greater",
            "greater_equal",
            "logical_and",
            "logical_or",
            "logical_xor",
        ]
    )
    flat = ("vdot", "inner", "outer", "searchsorted", "bincount", "convolve", "correlate")
    first = x[0] if name in flat else x
    given = [x, x] if kind == "elements" else first
    args = [given, *extra.get(name, [first] if several else [])]
    try:
        result = staged(lambda: function(*args))
    except TypeError:
        pytest.skip("not for this dtype")
    array = Array(False, dtype=dtype)
    values = (ListValue([array] * 2),) if kind == "elements" else (array,)
    others = tuple(array for _ in args[1:]) if several else tuple(Static() for _ in args[1:])
    if name == "clip":
        others = (Static(0), Static(1))
    predicted = result_dtype(name, (*values, *others), {})
    found = result[0] if isinstance(result, tuple) else result
    assert predicted in ("", spelled(found))


@pytest.mark.parametrize("name", sorted(MAKERS.keys() - {"logspace", "tri"}))
def test_makers(name: str) -> None:
    args: dict[str, list[object]] = {
        "full": [2, 0.5],
        "array": [2.0],
        "asarray": [3],
        "arange": [4],
        "linspace": [0, 1],
        "one_hot": [1, 3],
        "zeros_like": [jnp.ones(2, jnp.bfloat16)],
        "ones_like": [jnp.ones(2, jnp.bfloat16)],
        "empty_like": [jnp.ones(2, jnp.bfloat16)],
        "full_like": [jnp.ones(2, jnp.bfloat16), 0.5],
    }
    given = args.get(name, [2])
    values = tuple(Array(False, dtype="bfloat16") if isinstance(v, jax.Array) else Static(v) for v in given)
    function = resolve(name)
    assert callable(function)
    assert result_dtype(name, values, {}) == spelled(function(*given))
    if name != "one_hot":
        wanted = {"dtype": External("jax.numpy.float16")}
        assert result_dtype(name, values, wanted) == spelled(function(*given, dtype=jnp.float16))


def test_arrays_of_lists_are_not_weak() -> None:
    items = ListValue([Static(1.0), Static(2.0)])
    assert result_dtype("array", (items,), {}) == spelled(jnp.array([1.0, 2.0])) == "float32"


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("numpy.float32", [Static(2.0)], np.float32(2.0)),
        ("numpy.float64", [Static(2.0)], np.float64(2.0)),
        ("numpy.sqrt", [Static(2.0)], np.sqrt(2.0)),
        ("numpy.sqrt", [NumpyArray(dtype="float32")], np.sqrt(np.float32(2.0))),
        ("numpy.arange", [Static(3)], np.arange(3)),
        ("numpy.arange", [Static(3.0)], np.arange(3.0)),
        ("numpy.zeros", [Static(3)], np.zeros(3)),
        ("numpy.zeros", [Static(3), External("builtins.float")], np.zeros(3, float)),
        ("numpy.array", [ListValue([Static(1.0), Static(2)])], np.array([1.0, 2])),
        ("numpy.array", [Static(2.0), External("numpy.float32")], np.array(2.0, np.float32)),
    ],
)
def test_numpy(name: str, args: list[Value], expected: np.ndarray) -> None:
    assert numpy_dtype(name, args, {}) == str(expected.dtype)


def test_numpy_arguments_by_name() -> None:
    one, half, some = Static(1), Static(0.5), Static()
    assert numpy_dtype("numpy.arange", [], {"start": one, "stop": Static(4)}) == str(np.arange(1, 4).dtype)
    assert numpy_dtype("numpy.arange", [one], {"step": half}) == str(np.arange(1, step=0.5).dtype)
    assert numpy_dtype("numpy.arange", [], {"start": one, "stop": some}) == ""
    assert numpy_dtype("numpy.full", [Static(3)], {"fill_value": one}) == str(np.full(3, fill_value=1).dtype)


def test_operands() -> None:
    assert dtype_of(Static(2.0)) == "float*"
    assert dtype_of(Static(True)) == "bool"
    assert dtype_of(NumpyArray(dtype="float64")) == "float64"
    assert dtype_of(Static("text")) == ""
