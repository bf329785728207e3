"""Which state `missing-donation` asks to donate: what the program owns, and whose second copy matters. The rest is advice."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.finding import Severity
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_rules.memory.missing_donation import MissingDonation

_STEP = """
import dataclasses, jax, typing, jax.numpy as jnp, optax

opt = optax.adam(1e-3)

def update(params, opt_state, batch):
    grads = jax.grad(lambda p: jnp.mean((batch @ p) ** 2))(params)
    updates, opt_state = opt.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state

"""
_FIT = """
step = jax.jit(update)

def fit(params, batches):
    opt_state = opt.init(params)
    for batch in batches:
        params, opt_state = step(params, opt_state, batch)
    return params
"""
_KEPT = _FIT + "\nfirst = jnp.ones((4, 2))\nlast = fit(first, [jnp.ones((3, 4))])\nprint(first - last)\n"
_GIVEN_UP = _FIT + "\nparams = jnp.ones((4, 2))\nparams = fit(params, [jnp.ones((3, 4))])\nprint(params)\n"
_TUPLE = """
@jax.jit
def step(carry, batch):
    return update(*carry, batch)

def fit(params, batches):
    carry = (params, opt.init(params))
    for batch in batches:
        carry = step(carry, batch)
    return carry

first = jnp.ones((4, 2))
"""
_TUPLE_KEPT = _TUPLE + "last = fit(first, [jnp.ones((3, 4))])\nprint(first, last)\n"
_TUPLE_GIVEN_UP = _TUPLE + "print(fit(first, [jnp.ones((3, 4))]))\n"
_HANDED_BACK = """
step = jax.jit(update)

def ready(params, wider):
    if not wider:
        return params
    return jnp.concatenate([params, params])

def fit(params, opt_state, batches):
    params = ready(params, False)
    for batch in batches:
        params, opt_state = step(params, opt_state, batch)
    return params
"""
_PARTS_KEPT = """
@jax.jit
def step(state, batch):
    params, opt_state = update(state.params, state.opt_state, batch)
    return State(params, opt_state)

def fit(params, batches):
    state, seen = State(params, opt.init(params)), []
    for batch in batches:
        state = step(state, batch)
        seen.append(state.params)
    return seen

class State(typing.NamedTuple):
    params: jax.Array
    opt_state: object

print(fit(jnp.ones((4, 2)), [jnp.ones((3, 4))]))
"""
_HANDED_BACK_KEPT = (
    _HANDED_BACK + "\nfirst = jnp.ones((4, 2))\nprint(fit(first, opt.init(first), [first.T]) - first)\n"
)
_COPIED_KEPT = _HANDED_BACK_KEPT.replace(
    "return params\n    return jnp", "return jnp.copy(params)\n    return jnp"
)
_METHOD = """
class Agent:
    def __init__(self, params):
        self.params = params
        self.opt_state = opt.init(params)
        self.step = jax.jit(update)

    def learn(self, batch):
        self.params, self.opt_state = self.step(self.params, self.opt_state, batch)
"""
_SHOWN = _METHOD + "\n    def snapshot(self):\n        return {'params': self.params, 'count': 1}\n"
_INLINED = """
class Agent:
    def __init__(self, params):
        self.update = jax.jit(update)
        self.both = jax.jit(self.run)

    def run(self, params, opt_state, batch):
        params, opt_state = self.update(params, opt_state, batch)
        return self.update(params, opt_state, batch)[0].sum()
"""
_BEST = """
step = jax.jit(update)

def fit(batches):
    params = jnp.ones((4, 2))
    opt_state = opt.init(params)
    best = params
    for batch in batches:
        params, opt_state = step(params, opt_state, batch)
        if batch.sum() > 0:
            best = params
    return best
"""
_FILTER = """
@jax.jit
def step(state, z):
    mean, cov = state
    return mean + cov @ (z - mean), 0.9 * cov

def run(measurements):
    state = (jnp.zeros(SIZE), jnp.eye(SIZE))
    for z in measurements:
        state = step(state, z)
    return state
"""
_PLAN = """
@dataclasses.dataclass
class Plan:
    knots: jax.Array
    key: jax.Array

jax.tree_util.register_dataclass(Plan, ["knots", "key"], [])

@jax.jit
def step(params, world):
    key, sub = jax.random.split(params.key)
    knots = params.knots + 0.1 * jax.random.normal(sub, params.knots.shape)
    return dataclasses.replace(params, knots=knots, key=key)

def control(worlds):
    params = Plan(jnp.zeros((4, 7)), jax.random.key(0))
    for world in worlds:
        params = step(params, world)
    return params
"""


def _told(program: str) -> list[tuple[object, Severity]]:
    source = source_from_bytes((_STEP + program).encode(), Path("program.py"), "program.py")
    return [(one.data["argnums"], one.severity) for one in analyze([source], [MissingDonation()]).findings]


@pytest.mark.parametrize(
    ("program", "argnums"),
    [
        pytest.param(_KEPT, [1], id="a parameter that the caller reads again"),
        pytest.param(_GIVEN_UP, [0, 1], id="one that the caller rebinds"),
        pytest.param(_TUPLE_GIVEN_UP, [0], id="a tuple of one that nobody reads again"),
        pytest.param(_HANDED_BACK_KEPT, [1], id="what a function may hand back"),
        pytest.param(_COPIED_KEPT, [0, 1], id="a copy"),
        pytest.param(_METHOD, [0, 1], id="attributes that a method rebinds"),
        pytest.param(_SHOWN, [1], id="an attribute that another method gives away"),
        pytest.param(_BEST, [1], id="state that the loop stores"),
        pytest.param(_FILTER.replace("SIZE", "400"), [0], id="a large state without a gradient"),
    ],
)
def test_owned_state_is_to_be_donated(program: str, argnums: list[int]) -> None:
    assert _told(program) == [(argnums, Severity.WARNING)]


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(_TUPLE_KEPT, id="a tuple of a parameter that the caller reads again"),
        pytest.param(_FILTER.replace("SIZE", "3"), id="a small state without a gradient"),
        pytest.param(_PARTS_KEPT, id="an object of which a list keeps parts"),
        pytest.param(_PLAN, id="an object whose small fields are known"),
    ],
)
def test_other_state_is_advice(program: str) -> None:
    assert [severity for _, severity in _told(program)] == [Severity.INFO]


def test_a_step_inside_of_a_compiled_one_donates_nothing() -> None:
    assert _told(_INLINED) == []
