"""Methods of what is not known, and functions whose calls do not say whether they run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import facts_of

SOLVERS = """
    import jax
    import jax.numpy as jnp

    class Solver:
        def advance(self, state, force):
            raise NotImplementedError

    class Euler(Solver):
        def advance(self, state, force):
            return self.scaled(state) + force

        def scaled(self, force):
            return 0.1 * force

    class Heun(Solver):
        def advance(self, state, force):
            return state + 0.5 * force

    class Logger:
        def advance(self, line):
            print(line)

        def append(self, line):
            print(line)
"""


def test_a_method_of_something_unknown_is_that_of_the_classes_that_have_it(tmp_path: Path) -> None:
    program = (
        SOLVERS
        + """
    def integrate(solver, state, force):
        return jax.jit(lambda s: solver.advance(s, force))(state)

    integrate(load(), jnp.ones(3), jnp.ones(3))
"""
    )
    facts = facts_of(tmp_path, program)
    assert facts["Euler.advance"].staged == facts["Heun.advance"].staged == "yes"
    assert facts["Euler.advance"].params["state"] == "traced"
    assert facts["Euler.scaled"].staged == "yes"  # and what it calls
    assert facts["Logger.advance"].staged == "unknown"  # it takes one argument


def test_an_annotation_says_which_of_the_classes_are_meant(tmp_path: Path) -> None:
    program = (
        SOLVERS
        + """
    class Walker:
        def advance(self, state, force):
            return state

    @jax.jit
    def step(solver: Solver, state):
        return update(solver.name, state)

    def update(solver: "Solver", state):
        return solver.advance(state, state)
"""
    )
    facts = facts_of(tmp_path, program)
    assert facts["Euler.advance"].staged == "yes"
    assert facts["Walker.advance"].staged == "unknown"


def test_what_lists_and_arrays_have_too_is_not_guessed(tmp_path: Path) -> None:
    program = (
        SOLVERS
        + """
    def record(log, state):
        return jax.jit(lambda s: log.append(s))(state)

    record(load(), jnp.ones(3))
"""
    )
    assert facts_of(tmp_path, program)["Logger.append"].staged == "unknown"


def test_a_guess_does_not_stand_for_the_function_itself(tmp_path: Path) -> None:
    """What a guess alone reached is evaluated without a caller all the same, for what it stages."""
    program = """
        import jax

        class Runner:
            def launch(self, state):
                def body(carry, x):
                    return carry, x
                return jax.lax.scan(body, self.start, None, 3)

        def go(runner, state):
            return jax.jit(lambda s: runner.launch(s))(state)
    """
    facts = facts_of(tmp_path, program)
    assert facts["Runner.launch.<locals>.body"].staged == "yes"
    assert facts["Runner.launch"].staged == "yes"


def test_what_a_stage_is_likely_to_hand_tracers_is_staged_whoever_else_runs_it(tmp_path: Path) -> None:
    program = """
        import jax

        def scale(x):
            return 2 * x

        def unused(x):
            return scale(x)

        class Layer:
            def apply_to(self, x):
                return scale(x)

        def train(layer, x):
            return jax.jit(lambda x: layer.apply_to(x))(x)
    """
    facts = facts_of(tmp_path, program)
    assert facts["scale"].staged == "yes"
    in_test = program.replace("def unused(x)", "def test_scale(x=3)")
    assert facts_of(tmp_path, {"test_program.py": in_test})["scale"].staged == "yes"
    host_alone = in_test.replace("layer.apply_to(x)", "layer(x)")
    assert facts_of(tmp_path, {"test_program.py": host_alone})["scale"].staged != "yes"


def test_leaves_with_their_paths_are_traced(tmp_path: Path) -> None:
    program = """
        import jax

        def keep(path, leaf):
            return leaf

        def is_box(node):
            return isinstance(node, tuple)

        @jax.jit
        def step(params):
            leaves, treedef = jax.tree_util.tree_flatten_with_path(params, is_leaf=is_box)
            return [keep(path, leaf) for path, leaf in leaves]
    """
    facts = facts_of(tmp_path, program)
    assert facts["keep"].params == {"path": "static", "leaf": "traced"}
    assert facts["is_box"].staged == "yes"


def test_a_constant_of_a_class_that_is_set_elsewhere_is_not_known(tmp_path: Path) -> None:
    program = """
        import jax

        class Model:
            checks = False

            def __call__(self, x):
                return self.checked(x) if self.checks else x

            def checked(self, x):
                return x

        def enable(value):
            Model.checks = value

        jax.jit(Model())(1.0)
    """
    assert facts_of(tmp_path, program)["Model.checked"].staged == "yes"
    never_set = program.replace("Model.checks = value", "return value")
    assert facts_of(tmp_path, never_set)["Model.checked"].staged != "yes"


LAYERS = """
    import jax
    import equinox as eqx

    class Layer(eqx.Module):
        def __call__(self, x):
            raise NotImplementedError

    class Scale(Layer):
        factor: jax.Array

        def __call__(self, x):
            return grown(x * self.factor)

    class Activation:
        def __call__(self, x):
            return x

    def grown(x):
        return x + 1
"""
CALLS = {
    "of the items of a field": """
    class Chain(eqx.Module):
        layers: list[Layer]

        def __call__(self, x):
            for layer in self.layers:
                x = layer(x)
            return x
""",
    "of a field": """
    class Chain(eqx.Module):
        inner: "Layer | None"

        def __call__(self, x):
            return self.inner(x)
""",
    "of a parameter": """
    class Chain(eqx.Module):
        def __call__(self, x):
            return applied(load(), x)

    def applied(layer: Layer, x):
        return layer(x)
""",
}
RUN = """
    @eqx.filter_jit
    def predict(chain: Chain, x):
        return chain(x + jax.numpy.ones(3))
"""


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_object_that_is_called_is_of_the_class_that_an_annotation_names(tmp_path: Path, call: str) -> None:
    facts = facts_of(tmp_path, LAYERS + call + RUN)
    assert facts["Scale.__call__"].basis == facts["grown"].basis == "visible"
    assert facts["grown"].params == {"x": "traced"}
    assert facts["Activation.__call__"].staged == "unknown"  # which is another class


def test_what_is_called_without_an_annotation_may_be_anything(tmp_path: Path) -> None:
    call = CALLS["of the items of a field"].replace("list[Layer]", "list")
    assert facts_of(tmp_path, LAYERS + call + RUN)["Scale.__call__"].basis != "visible"
