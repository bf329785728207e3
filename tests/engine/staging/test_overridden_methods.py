"""Methods that a class leaves to those that derive from it: a staged call of one runs theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.source.read import read_source
from jaxlint.staging.inspection import inspect_files
from tests.helpers.projects import facts_of, findings_in, write_project

ENVIRONMENT = """
    from abc import abstractmethod
    from functools import partial

    import equinox as eqx
    import jax

    class Environment:
        {decorator}
        def step(self, key, state):
            return self.step_env(key, state)

        {abstract}
        def step_env(self, key, state):
            {body}

    class Pendulum(Environment):
        def step_env(self, key, state):
            return moved(state)

    def moved(state):
        return state + 1
"""
JITTED = '@partial(jax.jit, static_argnames=("self",))'
OPEN = {
    "it raises": ("", "raise NotImplementedError"),
    "it says why it raises": ("", '"""One step."""; raise NotImplementedError(f"{self} has none")'),
    "it is abstract": ("@abstractmethod", "..."),
}


@pytest.mark.parametrize(("abstract", "body"), OPEN.values(), ids=OPEN)
def test_what_derives_is_staged_where_its_base_is(tmp_path: Path, abstract: str, body: str) -> None:
    program = ENVIRONMENT.format(decorator=JITTED, abstract=abstract, body=body)
    facts = facts_of(tmp_path, program)
    assert facts["Pendulum.step_env"].staged == "yes"
    assert facts["Pendulum.step_env"].params == {"self": "static", "key": "traced", "state": "traced"}
    assert facts["moved"].staged == "yes"


@pytest.mark.parametrize(
    ("decorator", "body"),
    [("", "raise NotImplementedError"), (JITTED, "return state"), (JITTED, "raise ValueError(state)")],
    ids=["nothing stages the base", "the base has a body", "the base refuses"],
)
def test_what_derives_is_not_staged_otherwise(tmp_path: Path, decorator: str, body: str) -> None:
    facts = facts_of(tmp_path, ENVIRONMENT.format(decorator=decorator, abstract="", body=body))
    assert facts["Pendulum.step_env"].staged == "unknown"
    assert facts["moved"].staged == "unknown"


def test_a_class_in_a_file_that_is_read_later(tmp_path: Path) -> None:
    first, second = write_project(
        tmp_path,
        {
            "a_base.py": """
                import jax

                class Rule:
                    def update(self, grads):
                        raise NotImplementedError

                @jax.jit
                def train(rule: Rule, grads):
                    return Rule().update(grads)
            """,
            "b_rules.py": """
                import jax.numpy as jnp
                from a_base import Rule

                class Clip(Rule):
                    def update(self, grads):
                        return jnp.clip(grads, -1, 1)
            """,
        },
    )
    found, _ = inspect_files([read_source(first, first.name), read_source(second, second.name)])
    assert {fact.qualname: fact.staged for fact in found}["Clip.update"] == "yes"


def test_nothing_is_reported_of_what_may_run(tmp_path: Path) -> None:
    program = ENVIRONMENT.format(decorator=JITTED, abstract="", body="raise NotImplementedError")
    program = program.replace("return state + 1", "return state if state > 0 else -state")
    assert findings_in(tmp_path, {"program.py": program}) == []


@pytest.mark.parametrize(("first", "reports"), [("settings", 0), ("factors", 1)])
def test_an_object_of_the_program_may_have_a_method_that_arrays_have(
    tmp_path: Path, first: str, reports: int
) -> None:
    program = f"""
        import jax
        import jax.numpy as jnp

        class Term:
            def prod(self, factor):
                return factor

        settings = ["drift", "diffusion"]

        @jax.vmap
        def step(terms, factors):
            return jax.tree.map(lambda _, term, factor: term.prod(factor), {first}, terms, factors)

        step(jnp.ones((2, 3)), jnp.ones((2, 3)))
    """
    found = [f for f in findings_in(tmp_path, {"program.py": program}) if f.name == "dynamic-shape"]
    assert len(found) == reports
