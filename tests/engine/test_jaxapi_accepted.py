"""What functions accept, held against the installed JAX and optax: they raise for other kinds, and for no kind that fits."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxlint.jaxapi.accepted import (
    ACCEPTED,
    BITS,
    FLOATS,
    INTEGERS,
    KEY,
    ONE_DTYPE,
    OPERATORS,
    WITH_VALUE_ERROR,
)
from tests.helpers.jax_probe import MISSING, resolve

pytestmark = pytest.mark.usefixtures("compiled_quickly")

FLOAT, INTEGER, TRUTH = jnp.ones(3), jnp.arange(3), jnp.array([True, False, True])
SQUARE = jnp.ones((3, 3))
RANDOM_KEY = jax.random.key(0)
# What fits: for most functions an array of the kind that each argument needs.
FITTING: dict[str, tuple[Any, ...]] = {
    "jax.numpy.take": (FLOAT, INTEGER),
    "jax.numpy.take_along_axis": (FLOAT, INTEGER, 0),
    "jax.numpy.bincount": (INTEGER,),
    "jax.lax.switch": (1, [lambda: 1, lambda: 2]),
    "jax.lax.select": (TRUTH, FLOAT, FLOAT),
    "jax.lax.dynamic_index_in_dim": (FLOAT, 1),
    "jax.lax.dynamic_slice_in_dim": (FLOAT, 1, 1),
    "jax.lax.dynamic_update_slice_in_dim": (FLOAT, FLOAT[:1], 1, 0),
    "jax.lax.dynamic_update_index_in_dim": (FLOAT, FLOAT[0], 1, 0),
    "jax.ops.segment": (FLOAT, INTEGER, 3),
    "optax.softmax_cross_entropy_with_integer_labels": (SQUARE, INTEGER),
    "jax.random.categorical": (RANDOM_KEY, FLOAT),
    "jax.random.bernoulli": (RANDOM_KEY, 0.5),
    "jax.lax.dynamic_update_slice": (FLOAT, FLOAT, (0,)),
    "jax.lax.clamp": (FLOAT, FLOAT, FLOAT),
    "jax.lax.pad": (FLOAT, jnp.float32(0), [(1, 1, 0)]),
}
ROWS = [(name, *row) for name, rows in ACCEPTED.items() for row in rows]


def fitting(name: str) -> tuple[Any, ...]:
    if name.startswith("jax.ops."):
        return FITTING["jax.ops.segment"]
    if name in FITTING:
        return FITTING[name]
    if name.startswith("optax."):
        return (FLOAT, FLOAT)
    if name in ONE_DTYPE:
        return tuple(FLOAT for _ in ONE_DTYPE[name])
    return tuple(FLOAT if kind == FLOATS else INTEGER for _, _, kind in ACCEPTED[name])


def raises(call: Callable[[], Any]) -> str:
    try:
        call()
    except (TypeError, ValueError, IndexError) as error:
        return type(error).__name__
    return ""


@pytest.mark.parametrize(("name", "position", "keyword", "kind"), [row for row in ROWS if row[3] != KEY])
def test_other_dtypes_raise(name: str, position: int, keyword: str, kind: str) -> None:
    if resolve(name) is MISSING:
        pytest.skip("not in the installed release")
    function, args = resolve(name), fitting(name)
    assert raises(lambda: function(*args)) == ""
    others = {INTEGERS: [FLOAT], BITS: [FLOAT], FLOATS: [INTEGER, TRUTH]}[kind]
    if name in ("jax.lax.switch", "jax.lax.dynamic_index_in_dim"):
        others = [1.5, jnp.float32(1)]
    for other in others:
        error = raises(lambda: function(*args[:position], other, *args[position + 1 :]))  # noqa: B023
        assert error == ("ValueError" if name in WITH_VALUE_ERROR else "TypeError"), (keyword, other)


@pytest.mark.parametrize("name", sorted({row[0] for row in ROWS if row[3] == KEY}))
@pytest.mark.parametrize("other", [(3,), [3], 0, 1.5, None, FLOAT, operator.add], ids=repr)
def test_only_keys_are_keys(name: str, other: Any) -> None:
    if resolve(name) is MISSING:
        pytest.skip("not in the installed release")
    function = resolve(name)
    for more in ((), (1,), (FLOAT,), ((3,), 0, 5), (1.0, 1.0), (FLOAT, SQUARE), (1.0,), (1.0, 2.0, 3.0)):
        assert raises(lambda: function(other, *more))  # noqa: B023
    assert any(
        not raises(lambda: function(RANDOM_KEY, *more))  # noqa: B023
        for more in (
            (),
            (3,),
            (FLOAT,),
            ((3,), 0, 5),
            (1.0, 1.0),
            (FLOAT, SQUARE),
            (1.0,),
            (0.5,),
            (0.0, 0.5, 1.0),
            (4, 0.5),
        )
    )


@pytest.mark.parametrize("name", sorted(ONE_DTYPE))
def test_two_kinds_of_dtype_raise(name: str) -> None:
    if resolve(name) is MISSING:
        pytest.skip("not in the installed release")
    function, args = resolve(name), fitting(name)
    assert raises(lambda: function(*args)) == ""
    for position in ONE_DTYPE[name]:
        other = args[position].astype(jnp.int32)
        assert raises(lambda: function(*args[:position], other, *args[position + 1 :])) == "TypeError"  # noqa: B023


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_operators_of_floats_raise(name: str) -> None:
    functions = {"bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor", "left_shift": "lshift"}
    function = getattr(operator, functions.get(name, name.replace("right_shift", "rshift")))
    count = 1 if name == "invert" else 2
    assert raises(lambda: function(*[INTEGER] * count)) == ""
    assert raises(lambda: function(*[FLOAT] * count)) == "TypeError"


def test_indices_of_floats_raise() -> None:
    assert raises(lambda: FLOAT[FLOAT]) == "TypeError"
    assert raises(lambda: FLOAT[TRUTH]) == ""
