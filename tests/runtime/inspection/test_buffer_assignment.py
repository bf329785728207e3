"""The compiler's own account of memory: all of it is there, by what holds it and by line."""

from __future__ import annotations

import inspect

import jax
import jax.numpy as jnp
import pytest

from jaxlint_runtime.inspection.buffer_assignment import Assigned, assigned
from jaxlint_runtime.inspection.hlo import parse
from jaxlint_runtime.inspection.memory import memory
from jaxlint_runtime.inspection.protobuf import fields, numbers, parts

W, X = jnp.ones((128, 128)), jnp.ones((1024, 128))


def deep(weights, x):
    for w in weights:
        x = x + jnp.tanh(x @ w)
    return (x**2).mean()


def step(weights, x):
    return jax.tree.map(lambda w, g: w - g, weights, jax.grad(deep)(weights, x))


def looped(w, x):
    def loss(w):
        return (jax.lax.scan(lambda carry, _: (jnp.tanh(carry @ w), None), x, None, length=6)[0] ** 2).sum()

    return jax.grad(loss)(w)


def compiled(function, *arguments) -> tuple[Assigned, int]:
    made = jax.jit(function).lower(*arguments).compile()
    found = assigned(made, parse(made.as_text()))
    assert found is not None
    return found, memory(made, "cpu").total


@pytest.mark.parametrize(("function", "arguments"), [(step, ([W] * 4, X)), (looped, (W, X))])
def test_what_is_alive_at_the_peak_is_nearly_all_that_the_compiler_planned(function, arguments):
    found, total = compiled(function, *arguments)
    assert found.peak == pytest.approx(total, rel=0.001)
    alive = sum(one.nbytes for one in found.alive)
    assert 0.9 * total < alive <= found.peak
    standing = {one.operation: one for one in found.alive if one.place is None}
    assert standing["argument"].nbytes >= sum(leaf.nbytes for leaf in jax.tree.leaves(arguments))
    assert standing["output"].nbytes >= sum(leaf.nbytes for leaf in jax.tree.leaves(arguments[0]))


def test_the_largest_are_what_the_backward_pass_keeps_with_their_line():
    found, _ = compiled(step, [W] * 4, X)
    largest = found.alive[0]
    lines, first = inspect.getsourcelines(deep)
    assert largest.place is not None
    assert largest.place[0] == __file__
    assert "tanh" in lines[largest.place[1] - first]
    assert largest.shape == "f32[1024,128]"
    assert largest.count >= 4
    stacked, _ = compiled(looped, W, X)
    assert stacked.alive[0].operation == "while"
    assert stacked.alive[0].shape == "f32[6,1024,128]"


def test_without_temporaries_and_without_a_plan_there_is_nothing_to_tell():
    made = jax.jit(lambda x: x + 1).lower(X).compile()
    assert assigned(made, parse(made.as_text())) is None
    assert assigned(object(), parse(made.as_text())) is None


def test_the_wire_format():
    data = bytes([0x08, 0x96, 0x01, 0x1A, 0x02, 0x08, 0x05, 0x25, 1, 0, 0, 0, 0x10, 0x00])
    assert list(fields(data)) == [(1, 150), (3, b"\x08\x05"), (4, b"\x01\x00\x00\x00"), (2, 0)]
    assert numbers(data) == {1: 150, 2: 0}
    assert [numbers(one) for one in parts(data, 3)] == [{1: 5}]
    with pytest.raises(IndexError):
        list(fields(bytes([0x08, 0x96])))
