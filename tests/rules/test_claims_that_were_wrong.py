"""Programs of which a rule said what is not so."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint.staging.module import Module
from jaxlint_rules.api.uncalled_layer import UncalledLayer
from jaxlint_rules.api.unknown_argument import UnknownArgument
from jaxlint_rules.purity.stale_static_self import StaleStaticSelf
from jaxlint_rules.recompilation.eager_update import EagerUpdate
from jaxlint_rules.tracing.shape_mismatch import ShapeMismatch

_CHECKPOINTS = """
import functools
import jax
from jax.experimental import io_callback

class Agent:
    def __init__(self):
        self.steps_before = 0

    @functools.partial(jax.jit, static_argnums=0)
    def save(self, state, step):
        SAVE

    def write(self, state, step):
        store(state, step + self.steps_before)

    def train(self, state):
        for step in range(100):
            self.save(state, step)
        self.steps_before += 100
"""
_DECORATED = """
import jax, optax

optimizer = optax.adam(1e-3)

def main(params, batches, loss_fn):
    state = optimizer.init(params)

    DECORATOR
    def step(params, state, batch):
        grads = jax.grad(loss_fn)(params, batch)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    for batch in batches:
        params, state = step(params, state, batch)
    return params

main(load(), batches(), loss)
"""

_GRID = """
import jax
import jax.numpy as jnp
import numpy as np

def points(*sides):
    grid = np.meshgrid(GIVEN)
    return jnp.array(np.array([one.reshape((-1,)) for one in grid[::-1]]).T)

def add(point):
    x, y = point
    return x + y

side = np.linspace(-1, 1, 16)
print(jax.vmap(add)(points(side, side)))
"""


_DEFAULTS = """
import flax.linen as nn
import jax
import jax.numpy as jnp

class Norm(nn.Module):
    mean_initFIELD = lambda shape: jnp.zeros(shape, jnp.float32)

    @nn.compact
    def __call__(self, x):
        mean = self.variable("batch_stats", "mean", self.mean_init, (3,))
        return x - mean.value

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Norm(name="a")(x, use=True)

def features(params, x):
    net = Net()
    return jax.jit(lambda p, x: net.apply(p, x))(params, x)
"""

_OF_ANY_ARRAY = """
import jax.numpy as jnp

def score(field, weighted):
    weights = 1
    if weighted:
        weights = jnp.cos(jnp.deg2rad(field.lat))
        weights = WEIGHTS
    return (field["t"] * field["t"] * weights).mean(dim=["lon", "lat"])
"""


def _count(text: str, rule: Rule) -> int:
    source = source_from_bytes(text.encode(), Path("program.py"), "program.py")
    return len(analyze([source], [rule]).findings)


@pytest.mark.parametrize(
    ("save", "count"),
    [
        ("io_callback(self.write, None, state, step)", 0),  # the host reads the attribute each time
        ("self.write(state, step)", 1),
    ],
)
def test_what_a_callback_runs_reads_its_object_each_time(save: str, count: int) -> None:
    assert _count(_CHECKPOINTS.replace("SAVE", save), StaleStaticSelf()) == count


@pytest.mark.parametrize(("decorator", "count"), [("", 1), ("@eqx.filter_jit", 0), ("@optax.inject", 1)])
def test_an_undefined_decorator_may_compile(decorator: str, count: int) -> None:
    assert _count(_DECORATED.replace("DECORATOR", decorator), EagerUpdate()) == count


@pytest.mark.parametrize(("name", "expected"), [("tests.py", True), ("latest.py", False)])
def test_a_file_named_tests_holds_tests(name: str, expected: bool) -> None:
    source = source_from_bytes(b"import jax\n", Path(name), name)
    assert Module(source, name.removesuffix(".py"), "", False).is_test is expected


@pytest.mark.parametrize("given", ["*sides", "*(side for side in sides)", "sides[0], sides[1]"])
def test_a_grid_has_an_array_for_each_side(given: str) -> None:
    assert _count(_GRID.replace("GIVEN", given), ShapeMismatch()) == 0


@pytest.mark.parametrize("field", [": object", ": Callable[[tuple], jax.Array]"])
def test_a_function_that_a_field_holds_gets_no_object(field: str) -> None:
    assert _count(_DEFAULTS.replace("FIELD", field), UncalledLayer()) == 0


@pytest.mark.parametrize(
    ("weights", "findings"),
    [
        (
            "field.lat * 0 + weights",
            0,
        ),  # what an array computes with an unknown object may be an object like that
        ("jnp.ones(3)", 0),
    ],
)
def test_what_any_object_computes_takes_other_keywords(weights: str, findings: int) -> None:
    assert _count(_OF_ANY_ARRAY.replace("WEIGHTS", weights), UnknownArgument()) == findings


def test_what_jax_computes_alone_takes_no_other_keywords() -> None:
    text = "import jax.numpy as jnp\nprint((jnp.ones(3) * 2).mean(dim=0))\n"
    assert _count(text, UnknownArgument()) == 1
