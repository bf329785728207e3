"""Parameters that a tracer reaches on some paths or in few calls are left open, and their look-alikes are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import params_of

A_MATRIX_OR_ITS_ROW = """
    import jax
    import jax.numpy as jnp

    weights = jnp.ones((3, 3))

    def at(matrix, time):
        return matrix[time] if matrix.ndim == 3 else matrix

    def advance(matrix, state):
        return matrix @ state

    def run(state):
        def step(state, time):
            return advance(at(weights, time), state), state

        return jax.lax.scan(step, state, jnp.arange(4))

    run(jnp.ones(3))
"""


def test_an_array_of_the_host_on_one_path_and_a_tracer_on_the_other_is_left_open(tmp_path: Path) -> None:
    assert params_of(tmp_path, A_MATRIX_OR_ITS_ROW)["advance"] == {"matrix": "unknown", "state": "traced"}


def test_a_tracer_on_both_paths_is_one(tmp_path: Path) -> None:
    both = A_MATRIX_OR_ITS_ROW.replace("else matrix", "else matrix * time")
    assert params_of(tmp_path, both)["advance"] == {"matrix": "traced", "state": "traced"}


A_NUMBER_AS_A_RULE = """
    import jax
    import jax.numpy as jnp

    def smooth(x, width):
        return x * width

    def several(x):
        return smooth(x, 0.1), smooth(x, 0.2), smooth(x, 0.3), smooth(x, 0.4), smooth(x, 0.5)

    jax.jit(lambda x: several(x))(jnp.ones(3))
    jax.jit(lambda x: several((x, x)))(jnp.ones(3))
    jax.jit(lambda x: several((x, x, x)))(jnp.ones(3))
    jax.jit(lambda x, width: smooth(x, width))(jnp.ones(3), jnp.ones(()))
"""


def test_a_tracer_in_one_call_of_many_that_give_numbers_is_left_open(tmp_path: Path) -> None:
    assert params_of(tmp_path, A_NUMBER_AS_A_RULE)["smooth"] == {"x": "traced", "width": "unknown"}


def test_a_tracer_in_half_of_the_calls_is_one(tmp_path: Path) -> None:
    half = A_NUMBER_AS_A_RULE.replace("smooth(x, 0.2), smooth(x, 0.3), smooth(x, 0.4), smooth(x, 0.5)", "x")
    assert params_of(tmp_path, half)["smooth"] == {"x": "traced", "width": "traced"}


def test_a_tracer_in_one_call_of_many_that_give_arrays_is_one(tmp_path: Path) -> None:
    arrays = A_NUMBER_AS_A_RULE.replace("(x, 0.", "(x, jnp.ones(3) * 0.")
    assert params_of(tmp_path, arrays)["smooth"] == {"x": "traced", "width": "traced"}


WHAT_MAY_BE_LEFT_OUT = """
    import jax
    import jax.numpy as jnp

    def likelihood(x, inputs=None):
        return x.sum(), jax.tree.map(jnp.sin, inputs)

    def alone(x):
        return likelihood(x)

    def of(x, inputs):
        return likelihood(x, inputs)

    jax.jit(alone)(jnp.ones(3))
    jax.vmap(of)(load("x"), load("inputs"))
"""


def test_a_tree_that_calls_leave_out_may_be_none(tmp_path: Path) -> None:
    assert params_of(tmp_path, WHAT_MAY_BE_LEFT_OUT)["likelihood"] == {"x": "traced", "inputs": "unknown"}


def test_an_array_that_other_calls_leave_out_is_one(tmp_path: Path) -> None:
    known = WHAT_MAY_BE_LEFT_OUT.replace('load("inputs")', "jnp.ones(3)")
    assert params_of(tmp_path, known)["likelihood"] == {"x": "traced", "inputs": "traced"}


def test_a_tree_without_a_default_is_not_left_out(tmp_path: Path) -> None:
    required = WHAT_MAY_BE_LEFT_OUT.replace("inputs=None", "inputs").replace(
        "likelihood(x)", "likelihood(x, None)"
    )
    assert params_of(tmp_path, required)["likelihood"] == {"x": "traced", "inputs": "traced"}


SORTED_BY_TYPE = """
    import jax
    import jax.numpy as jnp

    @jax.tree_util.register_pytree_node_class
    class Split:
        def __init__(self, at, offset):
            self.at = at
            self.offset = offset

        def tree_flatten(self):
            values = list(vars(self).values())
            arrays = [value if isinstance(value, jax.Array) else None for value in values]
            return arrays, [None if isinstance(value, jax.Array) else value for value in values]

        @classmethod
        def tree_unflatten(cls, kept, arrays):
            return cls(*[k if a is None else a for k, a in zip(kept, arrays)])

        def first(self, x):
            return x + self.offset

    @jax.jit
    def run(split, x):
        return split.first(x)

    run(Split(1, 2.0), jnp.ones(3))
"""


def test_a_number_may_be_kept_beside_the_leaves_where_the_flattening_does_not_say(tmp_path: Path) -> None:
    params = params_of(tmp_path, SORTED_BY_TYPE)["Split.first"]
    assert params == {"self": "unknown", "x": "traced"}


def test_an_array_is_a_leaf_where_the_flattening_does_not_say(tmp_path: Path) -> None:
    array = SORTED_BY_TYPE.replace("Split(1, 2.0)", "Split(1, jnp.zeros(3))")
    assert params_of(tmp_path, array)["Split.first"] == {"self": "traced", "x": "traced"}


@pytest.mark.parametrize("result", ["(self.offset,), self.at", "list(vars(self).values()), None"])
def test_a_number_is_a_leaf_where_the_flattening_says_so(result: str, tmp_path: Path) -> None:
    start = SORTED_BY_TYPE.index("            values = ")
    end = SORTED_BY_TYPE.index("        @classmethod")
    said = f"{SORTED_BY_TYPE[:start]}            return {result}\n\n{SORTED_BY_TYPE[end:]}"
    assert params_of(tmp_path, said)["Split.first"] == {"self": "traced", "x": "traced"}


def test_numbers_are_leaves_where_something_unseen_registers_the_class(tmp_path: Path) -> None:
    unseen = SORTED_BY_TYPE.replace("@jax.tree_util.register_pytree_node_class", "@library.struct")
    start = unseen.index("        def tree_flatten")
    end = unseen.index("        def first")
    assert params_of(tmp_path, unseen[:start] + unseen[end:])["Split.first"]["self"] == "traced"
