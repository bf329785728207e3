"""Families of classes, rules of primitives: of many functions that a call may mean, those that are seen to be meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import facts_of

FAMILY = (
    """
    import jax

    class Handler:
        def process(self, message):
            raise NotImplementedError

"""
    + "".join(
        f"""
    class Handler{n}(Handler):
        def process(self, message):
            return message + {n}
"""
        for n in range(5)
    )
    + """
    def send(handlers, message):
        return jax.jit(lambda m: [handler.process(m) for handler in handlers])(message)
"""
)


@pytest.mark.parametrize("made_first", [True, False])
def test_of_a_large_family_those_are_called_that_are_made(tmp_path: Path, made_first: bool) -> None:
    made = "\n    handlers = [Handler1(), Handler3()]\n"
    head, tail = FAMILY.split("    def send(")
    program = f"{head}{made}    def send({tail}" if made_first else FAMILY + made
    facts = facts_of(tmp_path, program)
    claims = {n for n in range(5) if facts[f"Handler{n}.process"].staged == "yes"}
    assert claims == {1, 3}


def test_rules_of_primitives_and_closures_are_traced(tmp_path: Path) -> None:
    program = """
        import equinox as eqx
        import equinox.internal as eqxi

        @eqxi.filter_primitive_jvp
        def rule(primals, tangents):
            return primals, tangents

        @eqxi.filter_primitive_transpose(materialise_zeros=True)
        def transposed(inputs, cts_out):
            return cts_out

        def build(y):
            return eqx.filter_closure_convert(lambda x: 2 * x, y)
    """
    facts = facts_of(tmp_path, program)
    assert facts["rule"].params == {"primals": "traced", "tangents": "traced"}
    assert facts["transposed"].staged == "yes"
    assert facts["build.<locals>.<lambda>"].params == {"x": "traced"}


def test_a_tree_map_calls_with_leaves_that_are_no_arrays(tmp_path: Path) -> None:
    program = """
        import jax

        class Plain:
            def __init__(self, f):
                self.f = f

            def __call__(self, x):
                return self.f(x)

        def copied(*args):
            return jax.tree.map(lambda leaf: leaf, args)

        def double(x):
            return 2 * x

        @jax.jit
        def step(x):
            (runner,) = copied(Plain(double))
            return runner(x)
    """
    facts = facts_of(tmp_path, program)
    assert facts["double"].staged == "yes"
    assert facts["Plain.__call__"].params == {"self": "static", "x": "traced"}


def test_an_annotation_speaks_against_an_uncertain_tracer(tmp_path: Path) -> None:
    program = """
        import jax

        def pick(tree, index: int, name: str = ""):
            return tree

        @jax.jit
        def step(tree, options):
            return pick(tree, options.index, options["name"])
    """
    facts = facts_of(tmp_path, program)
    assert facts["pick"].params["tree"] == "traced"
    assert facts["pick"].params["index"] == "unknown"


def test_a_search_for_tracers_decides_which_of_two_checks_runs(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp
        import numpy as np

        def has_tracers(tree):
            return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(tree))

        def on_host(*trees):
            np.testing.assert_allclose(*trees)

        def under_trace(*trees):
            return jnp.all(trees[0] == trees[1])

        def has_layers(tree):
            return any(isinstance(leaf, jax.Array) for leaf in tree)

        def otherwise(tree):
            return tree

        def check(*args):
            if has_tracers(args):
                return under_trace(*args)
            if not has_layers(args):
                otherwise(args)
            return on_host(*args)

        @jax.jit
        def step(x):
            check(x, x + 1)
            return x if has_layers(x) else otherwise(x)

        check(np.ones(3), np.ones(3))
    """
    facts = facts_of(tmp_path, program)
    assert facts["under_trace"].staged == "yes"
    assert facts["on_host"].staged == "no"
    assert facts["otherwise"].staged == "yes"


def test_rules_of_primitives_are_staged(tmp_path: Path) -> None:
    program = """
        from functools import partial

        from jax.interpreters import ad, batching, mlir
        from somewhere import Primitive

        primitive = Primitive("doubled")

        def wrapped(rule):
            def wrapper(*args, **params):
                return rule(*args, **params)
            return wrapper

        def implementation(x, *, scale):
            return helper(x) * scale

        def jvp(primals, tangents, *, scale):
            return primals, tangents

        def batch(args, dims, *, scale):
            return args, dims

        def transpose(name, ct, x):
            return [ct]

        mlir.register_lowering(primitive, mlir.lower_fun(implementation, multiple_results=False))
        ad.primitive_jvps[primitive] = wrapped(jvp)
        batching.primitive_batchers[primitive] = batch
        ad.primitive_transposes[primitive] = partial(transpose, "doubled")

        def helper(x):
            return x + 1
    """
    facts = facts_of(tmp_path, program)
    assert facts["implementation"].params == {"x": "traced", "scale": "unknown"}
    assert facts["helper"].params == {"x": "traced"}
    assert facts["jvp"].params == {"primals": "traced", "tangents": "traced", "scale": "unknown"}
    assert facts["batch"].params["args"] == "traced"
    assert facts["batch"].params["dims"] != "traced"
    assert facts["transpose"].params["name"] == "static"
    assert facts["wrapped.<locals>.wrapper"].staged == "yes"
