"""What is certain of a dtype where operands are not known, held against the promotion of the installed JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from jaxlint.staging.tracking.dtype_bounds import SOME_FLOAT, SOME_NUMBER, changes_dtype, meeting

FLOATS = ("bfloat16", "float16", "float32", "complex64")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
WEAK: dict[str, object] = {"int*": 2, "float*": 2.0, "complex*": 2j}
MEMBERS = {SOME_FLOAT: FLOATS, SOME_NUMBER: (*FLOATS, *INTEGERS), "": ("bool", *FLOATS, *INTEGERS, *WEAK)}
ALL = ("bool", *FLOATS, *INTEGERS, *WEAK, SOME_FLOAT, SOME_NUMBER, "")


def is_of(result: jax.Array, bound: str) -> bool:
    """Whether an array is what a bound says."""
    if bound in (SOME_FLOAT, SOME_NUMBER):
        return not result.weak_type and str(result.dtype) in MEMBERS[bound]
    weak = {"int*": "int32", "float*": "float32", "complex*": "complex64"}
    return str(result.dtype) == weak.get(bound, bound) and result.weak_type == (bound in weak)


@pytest.mark.parametrize("left", ALL)
def test_a_sum_is_what_is_said_of_it(left: str) -> None:
    for right in ALL:
        bound = meeting(left, right)
        for one in MEMBERS.get(left, (left,)):
            for two in MEMBERS.get(right, (right,)):
                given = [WEAK[d] if d in WEAK else jnp.ones((), d) for d in (one, two)]
                assert not bound or is_of(jnp.add(*given), bound), (one, two, bound)


def compiles(start: object, later: object) -> int:
    step = jax.jit(lambda x: x)
    traced = []

    @jax.jit
    def seen(x: jax.Array) -> jax.Array:
        traced.append(1)
        return step(x)

    seen(start)
    seen(later)
    return len(traced)


@pytest.mark.parametrize("first", ["bool", "int*", "float*", "int32", "float32", "bfloat16"])
def test_what_changes_compiles_again(first: str) -> None:
    for later in (*FLOATS, *INTEGERS, SOME_FLOAT, SOME_NUMBER):
        if changes_dtype(first, later):
            for dtype in MEMBERS.get(later, (later,)):
                start = WEAK[first] if first in WEAK else jnp.ones((), first)
                assert compiles(start, jnp.ones((), dtype)) == 2, (first, dtype)
