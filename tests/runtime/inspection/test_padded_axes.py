"""Whether added rows reach a result: what is said about a program holds for its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint_runtime.inspection.padded_axes import SIZES, Padding, padding
from jaxlint_runtime.inspection.padding_rules import Blocked, Fill

W = np.random.default_rng(1).normal(size=(4, 4)).astype(np.float32)
Function = Callable[..., Any]
NODES, IDS, WEIGHTS, MATRIX = ((0, (4,), "f"), (0, (), "i"), (0, (), "f"), (None, (4, 4), "f"))
OTHERS = (1, (), "i")  # indices of nodes, as many as there are edges
Spec = tuple[int | None, tuple[int, ...], str]


def _dtype(kind: str) -> Any:
    return np.int32 if kind == "i" else np.float32


def padding_of(function: Function, *specs: Spec) -> Padding:
    def traced(which: int) -> Any:
        given = [
            jax.ShapeDtypeStruct(rest if group is None else (SIZES[group][which], *rest), _dtype(kind))
            for group, rest, kind in specs
        ]
        return jax.make_jaxpr(function)(*given)

    return padding(traced(0), traced(1), [None if group is None else kind for group, _, kind in specs])


def sage(x: Any, senders: Any, receivers: Any) -> Any:
    sums = jax.ops.segment_sum(x[senders], receivers, num_segments=x.shape[0])
    counts = jax.ops.segment_sum(jnp.ones(len(senders)), receivers, num_segments=x.shape[0])
    return jax.nn.relu(x @ W + sums / jnp.maximum(counts, 1)[:, None])


def pooled(x: Any, ids: Any) -> Any:
    return jax.ops.segment_sum(jnp.tanh(x @ W + 1), ids, num_segments=3)


def looped(x: Any, weights: Any) -> Any:
    def step(carry: Any, _: Any) -> Any:
        return jnp.sin(carry @ W), carry.mean(axis=1) @ weights

    return jax.lax.scan(step, x, None, length=3)[1]


def policy(w: Any, x: Any, actions: Any, weights: Any) -> Any:
    logp = jax.nn.log_softmax(jnp.tanh(x @ w + 1))
    return -jnp.sum(jnp.take_along_axis(logp, actions[:, None], axis=1)[:, 0] * weights)


HOLDS: dict[str, tuple[Function, tuple[Spec, ...]]] = {
    "a sum of zeros": (lambda x: jnp.sum(jnp.sin(x) * 2), (NODES,)),
    "a weighted sum": (lambda x, w: jnp.sum(jnp.cos(x) * w[:, None]), (NODES, WEIGHTS)),
    "a product": (lambda x, w: (x + 1).T @ w, (NODES, WEIGHTS)),
    "a gradient of a product": (
        jax.grad(lambda m, x, w: jnp.sum((jnp.cos(x @ m) @ m).sum(1) * w)),
        (MATRIX, NODES, WEIGHTS),
    ),
    "a policy's gradient": (jax.value_and_grad(policy), (MATRIX, NODES, (0, (), "i"), WEIGHTS)),
    "segments": (pooled, (NODES, IDS)),
    "messages that reach segments": (
        lambda x, ids, s, r: pooled(sage(sage(x, s, r), s, r), ids),
        (NODES, IDS, OTHERS, OTHERS),
    ),
    "their gradient": (
        jax.grad(lambda m, x, ids, s, r: jnp.sum(pooled(sage(x @ m, s, r), ids) ** 2)),
        (MATRIX, NODES, IDS, OTHERS, OTHERS),
    ),
    "one-hot of indices": (lambda ids: jax.nn.one_hot(ids, 5).sum(axis=0), (IDS,)),
    "rows that were asked for": (lambda x: x @ W, ((None, (5, 4), "f"),)),
    "a loop": (looped, (NODES, WEIGHTS)),
    "a branch": (lambda x: jax.lax.cond(x.sum() > 0, lambda: x.sum(0), lambda: (x * 2).sum(0)), (NODES,)),
}
REFUSED: dict[str, tuple[Function, tuple[Spec, ...]]] = {
    "the rows themselves": (lambda x: x @ W, (NODES,)),
    "a length": (lambda x: jnp.sum(x) / len(x), (NODES,)),
    "a length as a number": (lambda x: jnp.sum(x) + jnp.float32(np.float32(len(x)) ** 2), (NODES,)),
    "a length in one branch": (
        lambda x: jax.lax.cond(x.sum() > 0, lambda: float(len(x)), lambda: 0.0),
        (NODES,),
    ),
    "a constant of the length": (lambda x: jnp.sum(x * np.linspace(0, 1, len(x))[:, None]), (NODES,)),
    "a product of rows": (lambda x: jnp.sum(x @ x.T + 1), (NODES,)),
    "a maximum of zeros": (lambda x: jnp.sort(x, axis=0)[-1], (NODES,)),
    "the last row": (lambda x: x[-1], (NODES,)),
    "a loop over rows": (
        lambda x: jax.lax.scan(lambda c, row: (c + row.sum() + 1, None), 0.0, x)[0],
        (NODES,),
    ),
    "unrolled rows": (lambda x: sum(jnp.sin(x[i]) for i in range(len(x))), (NODES,)),
    "noise": (lambda x: jnp.sum(x * jax.random.normal(jax.random.key(0), x.shape)), (NODES,)),
    "rows in one axis": (lambda x: jnp.sum(x.reshape(-1) + 1), (NODES,)),
    "two axes joined": (lambda x, w: jnp.concatenate([w, w]) @ jnp.ones(2 * len(w)), (NODES, WEIGHTS)),
    "reversed": (lambda w: jnp.cumsum(w[::-1])[0], (WEIGHTS,)),
    "set rows": (lambda x, ids: jnp.zeros(3).at[jnp.abs(ids) % 3].set(1.0), (NODES, IDS)),
    "zeros over zeros": (lambda x, w: jnp.sum(x / w[:, None]), (NODES, WEIGHTS)),
    "a logarithm of zeros": (lambda w: jnp.sum(w * jnp.log(w)), (WEIGHTS,)),
    "a root of zeros below": (lambda w: jnp.sum(w * jax.lax.rsqrt(w)), (WEIGHTS,)),
    "zeros to a power below zero": (lambda w: jnp.sum(w * w**-2), (WEIGHTS,)),
    "a count of steps": (lambda x: jax.lax.fori_loop(0, len(x), lambda i, c: c + 1, 0), (NODES,)),
}


@pytest.mark.parametrize("name", HOLDS)
def test_the_results_stay_the_same(name: str) -> None:
    function, specs = HOLDS[name]
    found = padding_of(function, *specs)
    assert not found.masks
    rng = np.random.default_rng(0)
    lengths = {0: 5, 1: 7}
    given, longer = [], []
    for (group, rest, kind), fill in zip(specs, found.fills, strict=True):
        shape = rest if group is None else (lengths[group], *rest)
        drawn = rng.integers(0, 3, shape) if kind == "i" else rng.normal(size=shape)
        value = np.asarray(drawn, _dtype(kind))
        given.append(value)
        if group is not None:
            number = np.iinfo(np.int32).max if fill is Fill.OUTSIDE else 0
            widths = [(0, 3 + group)] + [(0, 0)] * len(rest)
            value = np.pad(value, widths, constant_values=number)
        longer.append(value)
    # in one program, as the program runs it
    before, after = jax.jit(function)(*given), jax.jit(function)(*longer)
    jax.tree.map(
        lambda one, other: np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-5), before, after
    )


@pytest.mark.parametrize("name", REFUSED)
def test_other_results_are_refused(name: str) -> None:
    function, specs = REFUSED[name]
    with pytest.raises(Blocked):
        padding_of(function, *specs)


def test_a_mean_needs_a_mask() -> None:
    """At its call, in the gradient too; the call around it hands the mask over."""

    def inner(x: Any) -> Any:
        return jnp.mean(jnp.cos(x), axis=0)

    found = padding_of(jax.value_and_grad(lambda m, x: jnp.sum(inner(x @ m) ** 2)), MATRIX, NODES)
    ((place, mask),) = found.masks.items()
    assert place[0] == __file__
    assert (mask.group, mask.axis, mask.rank, mask.floats) == (0, 0, 2, True)
    assert [chain[0][0] for chain in mask.chains] == [__file__]


@pytest.mark.parametrize(
    "function", [lambda x: jnp.max(x, axis=0), lambda x: jnp.sum(jnp.cos(x)), lambda x: x.all()]
)
def test_other_reductions_need_a_mask(function: Function) -> None:
    assert len(padding_of(function, NODES).masks) == 1
