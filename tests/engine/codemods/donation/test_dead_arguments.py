"""What the callers of a jitted function give up: what may be donated, and look-alikes that somebody may still read."""

from __future__ import annotations

import inspect
import textwrap
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from jaxlint.codemods.donation.dead_arguments import dead_arguments
from jaxlint.codemods.source.site import Site
from jaxlint.jaxapi.functions import MAKES_NEW_ARRAYS, RANDOM_HANDS_ON
from jaxlint.source import SourceFile

STEP = """
import functools
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-3)
KEPT = []

@jax.jit
def step(params, state, x):
    return params - x, state + x, x.sum()

@jax.jit
def error(params):
    return params.sum()

def make(key):
    params = [jax.random.normal(k, (3,)) * 0.1 for k in jax.random.split(key)]
    return params, jnp.zeros(3)

def load():
    return KEPT[0]

def main(given):
"""


def site(text: str) -> Site:
    return Site(SourceFile(Path("program.py"), "program.py", text, "utf-8", False, ""))


def names(body: str, public: bool = False, before: str = STEP) -> tuple[str, ...]:
    end = "" if public else "\nif __name__ == '__main__':\n    main(jnp.ones(3))\n"
    text = before + textwrap.indent(textwrap.dedent(body), "    ") + end
    line = text[: text.index("@jax.jit")].count("\n") + 1
    found = dead_arguments(site(text), line)
    return found.names if found else ()


GIVEN_UP = {
    "made for the call": ("step(jnp.zeros(3), 2.0 * given, np.ones(3))", ("params", "state", "x")),
    "never read again": (
        "params, state = make(given)\nnew, other, _ = step(params, state, given)\nprint(new, other)",
        ("params", "state"),
    ),
    "read before": (
        "params = jnp.zeros(3)\nprint(params.shape, error(params), params - 1)\nreturn step(params, params * 2.0, given)",
        ("state",),  # `params` is read twice in the statement
    ),
    "a chain": (
        "one = jnp.zeros(3)\ntwo, _, _ = step(one, given, given)\nthree, _, _ = step(two, given, given)\nprint(three)",
        ("params",),
    ),
    "made in each iteration, the results kept": (
        """
        history = []
        for i in range(3):
            x = jnp.full(3, 2.0) + i
            history.append(step(given, given, x))
        return history
        """,
        ("x",),
    ),
    "rebound": (
        """
        params, state = jnp.zeros(3), jnp.zeros(3)
        for i in range(3):
            params, state, loss = step(params, state, given)
            print(loss, error(params))
        """,
        ("params", "state"),
    ),
    "what an optimiser makes": (
        "state = optimizer.init(given)\nnew, _, _ = step(given, state, given)",
        ("state",),
    ),
    "by name": ("step(given, given, x=jnp.zeros(3))", ("x",)),
    "one argument of several arrays": (
        "a, b = jnp.zeros(3), jnp.ones(3)\nprint(step((a, b), given, given))",
        ("params",),
    ),
    "at each of two calls": (
        "step(jnp.ones(3), jnp.ones(3), given)\nstep(given, jnp.zeros(3), given)",
        ("state",),
    ),
}


@pytest.mark.parametrize(("body", "expected"), GIVEN_UP.values(), ids=GIVEN_UP)
def test_what_nothing_reads_after_the_call_is_given_up(body: str, expected: tuple[str, ...]) -> None:
    assert names(body) == expected


KEPT = {
    "a parameter": "step(given, given, given)",
    "read after the call": "x = jnp.zeros(3)\nstep(given, given, x)\nprint(x)",
    "read in the next iteration": "x = jnp.zeros(3)\nfor _ in range(3):\n    step(given, given, x)",
    "in a list": "x = jnp.zeros(3)\nKEPT.append(x)\nstep(given, given, x)",
    "under another name": "x = jnp.zeros(3)\ny = x\nstep(given, given, x)\nprint(y)",
    "in an object": "x = jnp.zeros(3)\ngiven.x = x\nstep(given, given, x)",
    "a part of it is kept": "x = jnp.zeros(3)\ny = x[:]\nstep(given, given, x)\nprint(y)",
    "a view of the host": "x = jnp.zeros(3)\ny = np.asarray(x)\nstep(given, given, x)\nprint(y)",
    "views of the host": "x = jnp.zeros(3)\ny = jax.tree.map(np.asarray, x)\nstep(given, given, x)\nprint(y)",
    "handed to a function": "x = jnp.zeros(3)\nload(x)\nstep(given, given, x)",
    "what a function had": "x = load()\nstep(given, given, x)",
    "not converted": "x = jnp.asarray(given)\nstep(given, given, x)",
    "a sum of lists": "step([given] + [given], [given] * 2, given)",
    "a product of a list": "xs = [given]\nstep(xs * 2, given, given)",
    "read by a closure": "x = jnp.zeros(3)\nread = lambda: x\nstep(given, given, x)\nprint(read())",
    "each of a list that stays": "xs = [jnp.zeros(3)]\nfor x in xs:\n    step(given, given, x)\nprint(xs)",
    "in a comprehension": "x = jnp.zeros(3)\n[step(given, given, x) for _ in range(3)]",
    "in a test": "x = jnp.zeros(3)\nwhile step(given, given, x)[2] > 0:\n    pass",
    "the function is passed on": "step(given, given, jnp.zeros(3))\nKEPT.append(step)",
    "unpacked": "step(*given)",
    "a sum with itself": "global total\ntotal = total + given\nstep(total + given, given, given)",
    "only at one of two calls": "step(jnp.zeros(3), given, given)\nstep(given, given, jnp.zeros(3))",
}


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_what_may_be_read_again_is_not(body: str) -> None:
    assert names(body) == ()


def test_what_others_may_call_is_not() -> None:
    body = "step(jnp.zeros(3), given, given)"
    assert names(body) == ("params",)
    assert names(body, public=True) == ()


def test_the_place_of_the_donation_is_the_jit() -> None:
    text = "import jax, jax.numpy as jnp\ndef f(x):\n    return x\ng = jax.jit(f)\nprint(g(jnp.zeros(3)))\n"
    found = dead_arguments(site(text), 4)
    assert found is not None
    assert (found.span.line, found.span.column, found.positions) == (4, 5, (0,))
    assert dead_arguments(site(text), 3) is None


def test_the_variables_of_a_script_are_its_own() -> None:
    text = "import jax, jax.numpy as jnp\n_f = jax.jit(lambda x: x)\nx = jnp.zeros(3)\ny = _f(x)\n{}"
    assert dead_arguments(site(text.format("print(y)\n")), 2) is not None
    assert dead_arguments(site(text.format("")), 2) is None


@pytest.mark.parametrize("name", sorted(MAKES_NEW_ARRAYS))
def test_what_makes_new_arrays_shares_no_buffer(name: str) -> None:
    function = getattr(jnp, name.rpartition(".")[2])
    x = jnp.ones((2, 2))
    for arguments in ((x > 0, x, x), (x,), (x, x), (2,), (0, 3), ((2, 2), 1.0), (x, 1.0)):
        try:
            made = function(*arguments)
        except (TypeError, ValueError, NotImplementedError):
            continue
        assert made.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
        break
    else:
        raise AssertionError(f"{name} was not called")


def test_all_other_functions_of_jax_random_draw() -> None:
    key = jax.random.PRNGKey(0)
    called = set()
    for name, function in inspect.getmembers(jax.random, inspect.isfunction):
        try:
            made = function(key)
        except (TypeError, ValueError):
            continue
        if isinstance(made, jax.Array) and f"jax.random.{name}" not in RANDOM_HANDS_ON:
            data = jax.random.key_data(made) if jnp.issubdtype(made.dtype, jax.dtypes.prng_key) else made
            assert data.unsafe_buffer_pointer() != key.unsafe_buffer_pointer(), name
            called.add(name)
    assert {"normal", "split", "uniform"} <= called


@pytest.mark.parametrize(
    ("optimizer", "given"),
    [
        ("optax.chain(optax.clip(1.0), optax.adam(1e-3))", True),
        ("optax.contrib.prodigy(1e-3)", False),
        ("optax.chain(optax.clip(1.0), optax.contrib.prodigy(1e-3))", False),
        ("optax.GradientTransformation(lambda params: params, apply)", False),
        ("optax.chain(ours(), optax.adam(1e-3))", False),
    ],
)
def test_the_state_of_an_optimiser_may_hold_the_parameters(optimizer: str, given: bool) -> None:
    body = f"""
    optimizer = {optimizer}
    start = given * 2
    state = optimizer.init(start)
    params, state, loss = step(given - 1, state, given)
    print(start, loss)
    """
    assert ("state" in names(body)) is given
