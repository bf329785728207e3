"""Functions of unusual kinds: each candidate is handled or refused with a reason, and none fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

from jaxlint_runtime.model import Status
from tests.helpers.training_programs import run
from tests.helpers.worker_runs import results_of, verify_source

SQUARE = jnp.ones((64, 64)) / 64


def int8_product(state, x, w):
    product = jax.lax.dot(x, w, preferred_element_type=jnp.int32)
    return jnp.maximum(state, product.astype(jnp.int8)), product.sum()


def complex_state(state, z):
    return state + 0.1 * (jnp.fft.fft(z) - state), jnp.abs(z).sum()


def complex_gradient(w, z):
    return w - 0.1 * jax.grad(lambda w: jnp.abs(jnp.tanh(z @ w)).sum())(w)


def printing(w, x):
    jax.debug.print("", ordered=True)
    return w + 0.1 * (x - w)


def calling(w, x):
    io_callback(lambda value: None, None, x.sum(), ordered=True)
    return w + 0.1 * (x - w)


def asking(w, x):
    y = jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    return w + 0.1 * (y - w)


def dropping(w, x, key):
    def loss(w):
        h = x
        for i in range(3):
            h = jnp.tanh(h @ w)
            h = h * jax.random.bernoulli(jax.random.fold_in(key, i), 0.5, h.shape)
        return (h**2).mean()

    return w - 0.1 * jax.grad(loss)(w)


def nothing_finite(w, x):
    return w + jnp.log(-jnp.abs(x)), x.sum()


def branching(w, x, flag):
    return jax.lax.cond(flag, lambda: w + x, lambda: w - x), jax.lax.while_loop(
        lambda i: i < 3, lambda i: i + 1, 0
    )


class Moments(NamedTuple):
    mean: Any
    spread: Any


@jax.tree_util.register_pytree_node_class
class Pair:
    """A container that nobody has registered for export."""

    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = left, right

    def tree_flatten(self) -> tuple[tuple[Any, Any], None]:
        return (self.left, self.right), None

    @classmethod
    def tree_unflatten(cls, _: None, leaves: Any) -> Pair:
        return cls(*leaves)


def many_kinds(state, x):
    mean = state["all"].left.mean + x.mean(0)
    return (
        {"all": Pair(Moments(mean, None), [state["all"].right[0] * 0.9 + x])},
        ((), x > 0, {"n": jnp.int32(3), "parts": Pair(x[:2], None)}),
    )


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (many_kinds, ({"all": Pair(Moments(SQUARE[0], None), [SQUARE])}, SQUARE)),
        (int8_product, (jnp.zeros((64, 64), jnp.int8),) * 3),
        (complex_state, (jnp.ones(4096, jnp.complex64), jnp.arange(4096) * (1 + 1j))),
        (complex_gradient, (SQUARE * (1 + 1j), SQUARE)),
        (printing, (SQUARE, SQUARE)),
        (calling, (SQUARE, SQUARE)),
        (asking, (SQUARE, SQUARE)),
        (dropping, (SQUARE, SQUARE, jax.random.key(0))),
        (nothing_finite, (SQUARE, SQUARE)),
        (branching, (SQUARE, SQUARE, True)),
    ],
)
def test_every_candidate_is_decided_with_a_reason(function: Any, arguments: tuple[Any, ...]) -> None:
    results = run(function, *arguments, seconds=0.1, measure=False)
    assert {name.partition(":")[0] for name in results} >= {"donation", "remat", "bf16", "kernels"}
    for name, result in results.items():
        assert result.status != Status.FAILED, f"{name}: {result.reason}"
        assert result.reason
        if result.numerics is not None:
            assert result.numerics.passed, f"{name}: {result.reason}"
    if function in (printing, calling):
        assert results["donation"].status == Status.COMPILED
        assert "callbacks ran in each" in results["donation"].evidence


SHARDED = """
import jax, jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import numpy as np

mesh = Mesh(np.array(jax.devices()), ("data",))
rows = NamedSharding(mesh, P("data"))

@jax.jit
def track(average, sample):
    return average + 0.1 * (sample - average), sample.mean()

average = jax.device_put(jnp.zeros((512, 256)), rows)
sample = jax.device_put(jnp.ones((512, 256)), rows)
for _ in range(5):
    average, mean = track(average, sample)
assert average.sharding.is_equivalent_to(rows, 2)
"""


@pytest.mark.flaky(reruns=2)  # rests on times, which other processes disturb
def test_sharded_inputs_keep_their_sharding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
    verification = verify_source(tmp_path, SHARDED, transforms=("donation",))
    assert verification.document.notes == ["the program finished with exit status 0"]
    (result,) = results_of(verification).values()
    assert result["status"] in ("verified", "compiled"), result["reason"]
    # of each device: a quarter of the average is given up
    saved = result["before"]["peak_bytes"] - result["after"]["peak_bytes"]
    assert saved == pytest.approx(512 * 256 * 4 / 4, rel=0.05)


FORKS = """
import multiprocessing, os
import numpy as np, jax, jax.numpy as jnp

@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(lambda w: ((x @ w) ** 2).mean())(w)

def load(seed):
    step.__wrapped__  # a child has the proxies, too
    return np.random.default_rng(seed).normal(size=(32, 64)).astype(np.float32), os.getpid()

if __name__ == "__main__":
    w, workers = jnp.ones((64, 64)), set()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for x, worker in pool.imap(load, range(12)):
            w, workers = step(w, x), workers | {worker}
    assert os.getpid() not in workers
"""


@pytest.mark.filterwarnings("ignore:os.fork")
def test_batches_that_forked_processes_prepare(tmp_path: Path) -> None:
    verification = verify_source(tmp_path, FORKS, transforms=("donation",))
    assert verification.document.notes == ["the program finished with exit status 0"]
    (function,) = verification.document.functions
    assert (function["function"], function["calls"]) == ("step", 12)
    (result,) = results_of(verification).values()
    assert result["status"] in ("verified", "compiled", "rejected"), result["reason"]
    assert "the same bits" in result["evidence"]
