"""What `inspect` says of single parameters: objects that hold tracers, arguments that are collected, calls that differ."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.projects import facts_of


def test_what_one_call_gives_as_a_setting_is_not_said_to_be_traced(tmp_path: Path) -> None:
    program = """
        import jax
        import settings

        @jax.jit
        def step(x):
            return scaled(x, settings.read(x)) + scaled(x, ("a", "b"))

        def scaled(x, axes):
            return x
    """
    facts = facts_of(tmp_path, program)
    assert facts["scaled"].params == {"x": "traced", "axes": "unknown"}


def test_a_switch_at_every_call_seen_is_no_tracer_by_convention(tmp_path: Path) -> None:
    program = """
        import haiku as hk
        import jax.numpy as jnp

        class Quantizer(hk.Module):
            def __call__(self, inputs, is_training):
                return inputs

        class Scaled(hk.Module):
            def __call__(self, inputs, factor):
                return inputs * factor

        def forward(x):
            return Quantizer()(x, is_training=False), Scaled()(x, 2.0)
    """
    facts = facts_of(tmp_path, program)
    assert facts["Quantizer.__call__"].params["inputs"] == "traced"
    assert facts["Quantizer.__call__"].params["is_training"] == "unknown"
    assert facts["Scaled.__call__"].params["factor"] == "traced"


def test_an_annotation_of_a_container_of_names_says_that_it_holds_no_tracer(tmp_path: Path) -> None:
    program = """
        from collections.abc import Sequence

        import jax

        def check(x, messages: Sequence[str], scales: Sequence[float], axis: "tuple[int, ...] | None"):
            return x

        @jax.jit
        def outer(x, options):
            return check(x, options.messages, options.scales, options.axis)
    """
    params = facts_of(tmp_path, program)["check"].params
    assert params == {"x": "traced", "messages": "unknown", "scales": "traced", "axis": "unknown"}


def test_the_leaf_of_a_tree_inside_a_stage_is_a_tracer(tmp_path: Path) -> None:
    program = """
        import jax

        def scaled(tree):
            return jax.tree.map(lambda leaf: 2 * leaf, tree)

        @jax.jit
        def step(x):
            return x, scaled(load())
    """
    facts = facts_of(tmp_path, program)
    assert facts["scaled.<locals>.<lambda>"].params == {"leaf": "traced"}


def test_what_python_is_asked_for_the_truth_of_is_hardly_a_tracer(tmp_path: Path) -> None:
    program = """
        import jax

        def kept(x, mask, scale):
            return x * scale if not mask else None

        @jax.jit
        def step(x, settings):
            return kept(x, settings.mask, settings.scale)
    """
    assert facts_of(tmp_path, program)["kept"].params == {"x": "traced", "mask": "unknown", "scale": "traced"}


def test_what_is_called_or_compared_is_hardly_a_tracer(tmp_path: Path) -> None:
    program = """
        import jax

        def solved(x, kernel, order, rate, table):
            assert order == 2
            rate = rate(x) if callable(rate) else rate
            return kernel(x * rate) if order > 1 else x

        @jax.jit
        def step(x, settings):
            return solved(x, settings.kernel, settings.order, settings.rate, settings.table)
    """
    assert facts_of(tmp_path, program)["solved"].params == {
        "x": "traced",
        "kernel": "unknown",
        "order": "unknown",
        "rate": "traced",
        "table": "traced",
    }


def test_what_calls_hand_over_says_more_than_the_signature_that_is_lifted(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp
        from flax import linen as nn

        class Inner(nn.Module):
            def __call__(self, x):
                return x

        class Outer(nn.Module):
            @nn.jit
            def through(self, inner, x, extra):
                return inner(x)

            @nn.compact
            def __call__(self, x):
                return self.through(Inner(), x, ())

        Outer().apply({}, jnp.ones(3))
    """
    found = facts_of(tmp_path, program)["Outer.through"].params
    assert found["inner"] == found["extra"] == "static"
    assert found["x"] == "traced"


def test_static_positions_that_come_first_are_known_where_the_rest_is_not(tmp_path: Path) -> None:
    program = """
        import functools
        import jax

        def lift(fn, static_argnums):
            @functools.partial(jax.jit, static_argnums=(0,) + tuple(i + 2 for i in static_argnums if i > 0))
            @functools.wraps(fn)
            def jitted(fingerprint, x, y):
                return fn(fingerprint, x, y)

            return jitted

        def inner(key, x, y):
            return x

        def main(positions):
            return lift(inner, positions)("a", jax.numpy.ones(3), 2.0)
    """
    facts = facts_of(tmp_path, program)
    assert facts["lift.<locals>.jitted"].params == {"fingerprint": "static", "x": "traced", "y": "traced"}
    assert facts["inner"].params["key"] != "traced"


def test_what_may_be_a_setting_is_an_array_where_the_function_computes_with_it(tmp_path: Path) -> None:
    program = """
        import equinox as eqx
        import jax
        from elsewhere import load

        @eqx.filter_jit
        def step(x, key: jax.Array, mode, scale):
            return 2 * x, jax.random.split(key), choose(mode), scale * 2

        def choose(mode):
            return mode

        step(load("x"), load("key"), load("mode"), scale=load("scale"))
        step(load("x"), load("key"), load("mode"), scale=None)
    """
    facts = facts_of(tmp_path, program)
    assert facts["step"].params == {"x": "traced", "key": "traced", "mode": "unknown", "scale": "unknown"}


def test_whether_an_argument_is_perturbed_is_no_tracer(tmp_path: Path) -> None:
    program = """
        import jax

        def weighted(x, asked, of):
            return x * of

        @jax.jit
        def step(x):
            return jax.tree.map(lambda leaf: weighted(x, leaf.perturbed, leaf.value), x)
    """
    facts = facts_of(tmp_path, program)
    assert facts["weighted"].params["asked"] == "static"
    assert facts["weighted"].params["of"] == "traced"


def test_what_describes_an_array_by_its_name_is_not_said_to_be_traced(tmp_path: Path) -> None:
    program = """
        import jax
        from elsewhere import tree, specs

        @jax.jit
        def step(x):
            return jax.tree.map(lambda axis, leaf: axis + leaf, tree(x), x) + moved(tree(x), tree(x))

        def moved(leaf, axis):
            return leaf + axis

        @jax.jit
        def rolled(x):
            return turned(x)

        def turned(axis):
            return axis + 1
    """
    facts = facts_of(tmp_path, program)
    assert facts["turned"].params == {"axis": "traced"}  # by what is certain
    assert facts["moved"].params["axis"] != "traced"


def test_a_tracer_in_one_context_of_many_does_not_speak_against_an_annotation(tmp_path: Path) -> None:
    program = """
        import jax

        def layer(size: int, x):
            return x * size

        @jax.jit
        def step(n, x):
            return layer(n, x) + layer(1, x) + layer(2.0, x) + layer(True, x)

        def scaled(size: int, x):
            return x * size

        @jax.jit
        def other(n, x):
            return scaled(n, x) + scaled(1, x)
    """
    facts = facts_of(tmp_path, program)
    assert facts["layer"].params == {"size": "unknown", "x": "traced"}
    assert facts["scaled"].params == {"size": "traced", "x": "traced"}


def test_the_one_operand_of_a_transposition_is_no_tracer(tmp_path: Path) -> None:
    program = """
        from jax.extend.core import Primitive
        from jax.interpreters import ad

        doubled = Primitive("doubled")
        scaled = Primitive("scaled")

        def transposed(ct, x):
            return [2 * ct]

        def of_two(ct, x, scale):
            return [scale * ct, None]

        ad.primitive_transposes[doubled] = transposed
        ad.primitive_transposes[scaled] = of_two
    """
    facts = facts_of(tmp_path, program)
    assert facts["transposed"].params == {"ct": "traced", "x": "unknown"}
    assert facts["of_two"].params == {"ct": "traced", "x": "traced", "scale": "traced"}


def test_what_a_layer_can_do_without_is_not_said_to_be_traced_by_habit(tmp_path: Path) -> None:
    program = """
        import haiku as hk
        import jax

        class Scale(hk.Module):
            def __call__(self, x, by: jax.Array | None = None):
                return x if by is None else x * by

        class Shift(hk.Module):
            def __call__(self, x, by: jax.Array):
                return x + by
    """
    facts = facts_of(tmp_path, program)
    assert facts["Scale.__call__"].params == {"self": "static", "x": "traced", "by": "unknown"}
    assert facts["Shift.__call__"].params == {"self": "static", "x": "traced", "by": "traced"}


def test_a_function_that_captures_tracers_in_a_stage_is_staged_whoever_runs_it_last(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp
        import numpy as np

        def norm(x):
            def squared():
                return jnp.sum(x * x)

            return jnp.sqrt(squared())

        norm(1.0)

        def test_step():
            @jax.jit
            def step(x):
                return norm(x)

            step(jnp.ones(3))

        def test_norm():
            assert norm(np.ones(3)) > 0
    """
    assert facts_of(tmp_path, program)["norm.<locals>.squared"].staged == "yes"
    others = program.replace("return norm(x)", "return x * norm(np.ones(4))")
    assert facts_of(tmp_path, others)["norm.<locals>.squared"].staged != "yes"
