"""Arrays that a function first receives weakly typed."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint_runtime.capture.described_arguments import describe
from jaxlint_runtime.capture.signature import read_signature
from jaxlint_runtime.capture.weak_starts import weak_arguments, weak_starts
from jaxlint_runtime.lowering.jit_options import Parameters, read_options


def move(self: Any, key: Any, state: Any) -> Any: ...


def step(state: Any, batch: Any) -> Any: ...


WEAK, STRONG = jnp.array(1.0), jnp.ones(())


@pytest.mark.parametrize(
    ("first", "then", "found"),
    [
        (WEAK, STRONG, [("state", 0, None, "float32")]),
        ({"a": WEAK, "b": STRONG}, {"a": STRONG, "b": STRONG}, [("state", 0, "a", "float32")]),
        ({"a": [WEAK]}, {"a": [STRONG]}, [("state", 0, "a", "float32")]),
        (
            (WEAK, jnp.array(1)),
            (STRONG, jnp.zeros((), int)),
            [("state", 0, None, "float32"), ("state", 0, None, "int32")],
        ),
        (WEAK, WEAK, []),
        (STRONG, WEAK, []),
        (1.0, STRONG, []),  # a number of Python
        (WEAK, jnp.ones((), jnp.bfloat16), []),
        (np.ones(()), STRONG, []),
    ],
)
def test_what_begins_weakly_typed(first: Any, then: Any, found: list[tuple[Any, ...]]) -> None:
    parameters = Parameters.of(step, read_options({}))
    signatures = [read_signature(parameters, (one, STRONG), {}) for one in (first, then)]
    starts = weak_starts(signatures)
    assert [(one.name, one.argument, one.key, one.dtype) for one in starts] == found
    described = [[describe("state", one), describe("batch", STRONG)] for one in (first, then)]
    starts = weak_arguments(*described)
    assert [(one.name, one.argument, one.key, one.dtype) for one in starts] == found


def test_the_object_of_a_method_is_not_written_in_its_calls() -> None:
    parameters = Parameters.of(move, read_options({"static_argnums": 0}))
    signatures = [read_signature(parameters, (move, STRONG, one), {}) for one in (WEAK, STRONG)]
    assert [(one.name, one.argument) for one in weak_starts(signatures)] == [("state", 1)]


def test_nothing_was_described() -> None:
    assert weak_arguments(None, None) == weak_starts([]) == []
