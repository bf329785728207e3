"""Functions that objects carry into a stage, and objects that are checked, mapped and renewed on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import facts_of

WRAPPERS = """
    from collections.abc import Callable

    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Inner(eqx.Module):
        fn: Callable

        def __call__(self, x):
            return self.fn(x), None

    class Outer(eqx.Module):
        fn: Callable

        def __call__(self, x):
            y, aux = self.fn(x)
            return y

    def run(inputs):
        fn, x = inputs
        return fn(x)

    @eqx.filter_jit
    def solve(fn, x):
        return run((Outer(Inner(fn)), x))
"""


def test_each_function_is_followed_that_objects_carry(tmp_path: Path) -> None:
    program = (
        WRAPPERS
        + """
    def first(x):
        return x

    def second(x):
        return -x

    def third(x):
        return 2 * x

    solve(first, jnp.ones(3))
    solve(second, jnp.ones(3))
    run((Outer(Inner(third)), jnp.ones(3)))
"""
    )
    facts = facts_of(tmp_path, program)
    assert facts["first"].staged == facts["second"].staged == "yes"
    assert facts["third"].staged == "no"


def test_a_wrapper_of_very_many_functions_calls_each(tmp_path: Path) -> None:
    names = [f"f{number}" for number in range(130)]
    functions = "".join(f"\n    def {name}(x):\n        return x\n" for name in names)
    calls = "".join(f"\n    solve({name}, jnp.ones(3))" for name in names)
    facts = facts_of(tmp_path, WRAPPERS + functions + calls + "\n")
    assert [name for name in names if facts[name].staged != "yes"] == []


def test_what_a_decorator_has_wrapped_is_the_function(tmp_path: Path) -> None:
    program = """
        import jax

        def body(x):
            return helper(x)

        def helper(x):
            return x

        if body.__globals__["__name__"].startswith("typechecked"):
            body = body.__wrapped__

        @jax.jit
        def step(x):
            return body(x)
    """
    assert facts_of(tmp_path, program)["helper"].staged == "yes"


@pytest.mark.parametrize(("leaf", "staged"), [("Term", True), ("list", False)])
def test_objects_that_are_leaves_of_a_tree_map(
    tmp_path: Path, leaf: str, staged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jaxlint.staging.inspection.assume_calls", lambda *_: None)  # of what is seen alone
    program = f"""
        import equinox as eqx
        import jax

        class Term(eqx.Module):
            scale: jax.Array

            def apply(self, x):
                return self.scale * x

        class Turned(eqx.Module):
            term: Term

            def apply(self, x):
                return turned(self.term, x)

        def turned(term, x):
            return -term.apply(x)

        @jax.jit
        def step(term, x):
            terms = jax.tree.map(lambda t: Turned(t), (term, term), is_leaf=lambda t: isinstance(t, {leaf}))
            return terms[0].apply(x)

        step(Term(jax.numpy.ones(3)), jax.numpy.ones(3))
        turned(Term(jax.numpy.ones(3)), jax.numpy.ones(3))  # so that a stage has to be seen
    """
    assert (facts_of(tmp_path, program)["turned"].staged == "yes") == staged


@pytest.mark.parametrize(("name", "staged"), [("self", True), ("other", False)])
def test_an_object_under_its_own_name_stays_one_of_its_class(
    tmp_path: Path, name: str, staged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jaxlint.staging.inspection.assume_calls", lambda *_: None)  # of what is seen alone
    program = f"""
        import equinox as eqx
        import jax
        from wrappers import unwrap

        class Model(eqx.Module):
            weight: jax.Array

            def loss(self, x):
                {name} = unwrap(self)
                return {name}.apply(x)

            def apply(self, x):
                return inner(self.weight, x)

        def inner(weight, x):
            return weight @ x

        @jax.jit
        def step(model, x):
            return model.loss(x)

        step(Model(jax.numpy.ones(3)), jax.numpy.ones(3))
        inner(jax.numpy.ones(3), jax.numpy.ones(3))  # so that a stage has to be seen
    """
    assert (facts_of(tmp_path, program)["inner"].staged == "yes") == staged


@pytest.mark.parametrize(("made", "answer"), [("Turned(term)", "traced"), ("Label(3)", "unknown")])
def test_a_tree_of_objects_that_hold_tracers_holds_them(tmp_path: Path, made: str, answer: str) -> None:
    program = f"""
        import equinox as eqx
        import jax

        class Term(eqx.Module):
            scale: jax.Array

        class Turned(eqx.Module):
            term: Term

        class Label(eqx.Module):
            name: int = eqx.field(static=True)

        def first(terms):
            return jax.tree.leaves(terms)[0]

        @jax.jit
        def step(terms):
            turned = jax.tree.map(lambda term: {made}, terms, is_leaf=lambda term: isinstance(term, Term))
            return first(turned)
    """
    assert facts_of(tmp_path, program)["first"].params == {"terms": answer}


def test_the_first_of_several_trees_has_leaves_where_the_others_have_tracers(tmp_path: Path) -> None:
    program = """
        import jax
        from elsewhere import load

        @jax.jit
        def step(params):
            return jax.tree.map(lambda first, second: first, load(), params), jax.tree.map(moved, params, load())

        def moved(param, setting):
            return param
    """
    facts = facts_of(tmp_path, program)
    assert facts["step.<locals>.<lambda>"].params == {"first": "traced", "second": "traced"}
    assert facts["moved"].params == {"param": "traced", "setting": "unknown"}


def test_a_class_that_another_gets_as_an_attribute_is_made_by_that_name(tmp_path: Path) -> None:
    program = """
        import equinox as eqx
        import jax

        class Info(eqx.Module):
            pass

        class WithValue(Info):
            value: jax.Array

            def doubled(self):
                return 2 * self.value

        Info.WithValue = WithValue

        @jax.jit
        def step(x):
            return Info.WithValue(x).doubled()
    """
    assert facts_of(tmp_path, program)["WithValue.doubled"].params == {"self": "traced"}


def test_a_decorator_may_give_a_record_of_functions(tmp_path: Path) -> None:
    program = """
        from typing import Callable, NamedTuple
        import jax

        class Transformation(NamedTuple):
            init: Callable
            update: Callable

        def stateless(function):
            def update(updates, state):
                return function(updates), state
            return Transformation(lambda params: (), update)

        @stateless
        def halve(updates):
            return jax.tree.map(lambda leaf: leaf / 2, updates)

        step = jax.jit(halve.update)
    """
    facts = facts_of(tmp_path, program)
    assert facts["stateless.<locals>.update"].staged == "yes"
    assert facts["halve"].params == {"updates": "traced"}
