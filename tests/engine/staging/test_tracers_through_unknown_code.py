"""Tracers that go through what the analysis knows little of: operators of objects, leaves that are called, trees of results."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.projects import facts_of


def test_an_object_that_computes_as_arrays_do_holds_tracers(tmp_path: Path) -> None:
    program = """
        import jax
        from elsewhere import wrapped

        def total(tree):
            return tree

        def length(number):
            return number

        @jax.jit
        def step(x):
            return total((x ** wrapped + 1).unwrapped) + length(x.ndim)
    """
    facts = facts_of(tmp_path, program)
    assert facts["total"].params == {"tree": "traced"}
    assert facts["length"].params == {"number": "static"}


def test_a_leaf_that_is_called_gives_tracers(tmp_path: Path) -> None:
    program = """
        import jax

        def total(tree):
            return tree

        def shown(text):
            return text

        @jax.jit
        def step(layer, x):
            shown("step")
            return total(layer(x))

        def host(layer, x):
            return shown(layer(x))
    """
    facts = facts_of(tmp_path, program)
    assert facts["total"].params == {"tree": "traced"}
    assert facts["shown"].params == {"text": "static"}


def test_what_is_differentiated_with_something_beside_it(tmp_path: Path) -> None:
    program = """
        import jax

        def total(value, settings):
            return value

        def aside(extra):
            return extra

        @jax.jit
        def step(x):
            value, pull, extra = jax.vjp(lambda y: (y * 2, y + 1), x, has_aux=True)
            aside(extra)
            first, slope = jax.jvp(lambda y: (y, y), (x,), (x,))
            return total(value, 3) + total(slope, 3)
    """
    facts = facts_of(tmp_path, program)
    assert facts["total"].params == {"value": "traced", "settings": "static"}
    assert facts["aside"].params == {"extra": "traced"}


def test_trees_of_what_a_function_gives(tmp_path: Path) -> None:
    program = """
        import equinox as eqx
        import jax

        def pairs(tree):
            return tree

        def names(tree):
            return tree

        def replaced(tree):
            return tree

        @jax.jit
        def step(tree):
            names(jax.tree.map(lambda x: "leaf", tree))
            replaced(eqx.tree_at(lambda pair: pair[1], (tree, 1.0), 2.0))
            return pairs(jax.tree.map(lambda x: (x, 1), tree))
    """
    facts = facts_of(tmp_path, program)
    assert facts["pairs"].params == {"tree": "traced"}
    assert facts["names"].params == {"tree": "unknown"}
    assert facts["replaced"].params == {"tree": "traced"}


def test_what_is_no_tree_is_a_leaf_that_the_function_of_a_map_is_given_as_it_is(tmp_path: Path) -> None:
    program = """
        import enum
        from dataclasses import dataclass
        from typing import Callable
        import jax

        class Kind(enum.Enum):
            MEAN = 1
            SUM = 2

        @dataclass
        class Accumulator:
            update: Callable

        def mean(carry, value):
            return (carry + value) / 2

        def total(carry, value):
            return carry + value

        def other(carry, value):
            return carry

        def choose(kind):
            if isinstance(kind, Accumulator):
                return kind
            match kind:
                case Kind.MEAN:
                    return Accumulator(mean)
                case Kind.SUM:
                    return Accumulator(total)
            raise ValueError(kind)

        def run(kind, xs):
            chosen = jax.tree.map(choose, kind)

            @jax.jit
            def step(carry, value):
                return jax.tree.map(lambda acc, c, v: acc.update(c, v), chosen, carry, value)

            return step(xs[0], xs[1])

        def main(setting, xs):
            run(Kind.SUM, xs)
            Accumulator(other)
    """
    facts = facts_of(tmp_path, program)
    traced = {"carry": "traced", "value": "traced"}
    assert facts["mean"].params == facts["total"].params == traced
    assert facts["other"].staged != "yes"


def test_what_is_put_into_each_of_several_lists_in_turn_is_in_them(tmp_path: Path) -> None:
    program = """
        import jax

        def total(first, second):
            return sum(first) + sum(second)

        def length(third):
            return len(third)

        @jax.jit
        def step(x, y):
            first, second, third = [], [], []
            for values, value in ((first, x), (second, y)):
                values.append(value)
            return total(tuple(first), tuple(second)) + length(third)

        @jax.jit
        def longer(x, y):
            pairs = (([], x), ([], y))
            for values, value in pairs:
                values.extend([value, value])
            return total(pairs[0][0], pairs[1][0])
    """
    facts = facts_of(tmp_path, program)
    assert facts["total"].params == {"first": "traced", "second": "traced"}
    assert facts["length"].params == {"third": "static"}


def test_a_function_is_differentiated_at_as_many_values_as_it_takes(tmp_path: Path) -> None:
    program = """
        import functools
        import equinox as eqx
        import jax

        def product(x, y):
            return x * y

        def ratio(x, y):
            return x / y

        @jax.jit
        def step(values):
            return jax.jvp(product, values, values)

        def eager(values):
            return jax.jvp(ratio, values, values)

        def sum_of(x, y):
            return x + y

        def filled(mode, x):
            primals = []
            if "x" in mode:
                primals.append(x)
            if "y" in mode:
                primals.append(x)
            return tuple(primals)

        def call(mode, x):
            primals = filled(mode, x)
            return eqx.filter_jit(functools.partial(eqx.filter_jvp, sum_of))(primals, primals)
    """
    facts = facts_of(tmp_path, program)
    assert facts["product"].params == {"x": "traced", "y": "traced"}
    assert facts["sum_of"].params == {"x": "traced", "y": "traced"}
    assert facts["ratio"].staged != "yes"


def test_each_function_that_branches_bind_to_one_name_may_be_staged(tmp_path: Path) -> None:
    names = [f"power_{number}" for number in range(12)]
    lines = ["import jax", ""]
    for number, name in enumerate(names):
        lines += [f"def {name}(x, scale):", f"    return scale * x**{number}", ""]
    lines += ["def step(mode, x):"]
    for number, name in enumerate(names):
        lines += [f"    {'elif' if number else 'if'} mode == {number}:", f"        apply = {name}"]
    lines += ["    else:", "        raise ValueError(mode)"]
    lines += ["    return jax.jit(apply)(x, 2.0)", ""]
    facts = facts_of(tmp_path, "\n".join(lines))
    assert {facts[name].staged for name in names} == {"yes"}
    assert facts["step"].staged != "yes"


def test_solvers_trace_every_function_that_they_are_given(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp
        from jax.scipy.sparse.linalg import cg

        def product(x):
            return 2 * x

        def conditioner(x):
            return x / 2

        def unused(x):
            return x

        def residual(x):
            return x - 1

        def solution(f, x):
            return x - f(x)

        def tangent(f, y):
            return y / f(1.0)

        def low(x):
            return -x

        def solve(matvec, b, **options):
            return cg(matvec, b, **options)

        @jax.jit
        def step(b):
            root = jax.lax.custom_root(residual, solve=solution, tangent_solve=tangent, initial_guess=b)
            return solve(product, b, M=conditioner, maxiter=10), root, jnp.piecewise(b, [b < 0], [low, 1.0])
    """
    facts = facts_of(tmp_path, program)
    for name in ("product", "conditioner", "residual", "low"):
        assert facts[name].params == {"x": "traced"}
    assert facts["solution"].params == {"f": "static", "x": "traced"}
    assert facts["tangent"].params == {"f": "static", "y": "traced"}
    assert facts["unused"].staged == "unknown"
