"""What `inspect` says of single parameters: objects that hold tracers, arguments that are collected, calls that differ."""

from __future__ import annotations

from pathlib import Path

from programs import write_project

from jaxlint.source.read import read_source
from jaxlint.staging.inspection import FunctionFacts, inspect_files


def facts_of(folder: Path, program: str) -> dict[str, FunctionFacts]:
    (path,) = write_project(folder, {"program.py": program})
    found, analysis = inspect_files([read_source(path, path.name)])
    assert analysis.errors == []
    return {fact.qualname: fact for fact in found}


def test_a_module_that_crossed_into_a_stage_is_traced(tmp_path: Path) -> None:
    program = """
        import jax
        from flax import nnx

        class Block(nnx.Module):
            def __init__(self, rngs):
                self.scale = nnx.Param(jax.random.normal(rngs.params(), (3,)))

            def __call__(self, x):
                return x * self.scale

        @nnx.jit
        def step(model, x):
            return model(x)

        step(Block(nnx.Rngs(0)), jax.numpy.ones(3))
    """
    facts = facts_of(tmp_path, program)
    assert facts["step"].params == {"model": "traced", "x": "traced"}
    assert facts["Block.__call__"].params == {"self": "traced", "x": "traced"}


def test_collected_arguments_are_traced(tmp_path: Path) -> None:
    program = """
        import jax

        def call(fn, *args, **kwargs):
            return fn(*args, **kwargs)

        @jax.jit
        def step(*xs):
            return call(sum, *xs, **{})
    """
    facts = facts_of(tmp_path, program)
    assert facts["call"].params == {"fn": "static", "args": "traced", "kwargs": "static"}


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
