"""The standard library: `functools.singledispatch`, `inspect.signature`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import expected, facts_of, findings_in, reported

SHAPES = """
    import functools
    import jax
    import jax.numpy as jnp
    import equinox as eqx

    class Circle(eqx.Module):
        radius: jax.Array

    class Square(eqx.Module):
        side: jax.Array

    @functools.singledispatch
    def area(shape):
        raise NotImplementedError

    @area.register(Circle)
    def _circle(shape):
        return jnp.pi * shape.radius**2

    @area.register
    def _square(shape: Square):
        return shape.side**2

    @area.register(int)
    def _int(shape):
        return shape
"""


def test_the_registered_function_for_the_class_is_called(tmp_path: Path) -> None:
    program = (
        SHAPES
        + """
    @jax.jit
    def total(x):
        return area(Circle(x))

    total(1.0)
"""
    )
    facts = facts_of(tmp_path, program)
    assert facts["_circle"].staged == "yes"
    assert facts["_circle"].params == {"shape": "traced"}
    assert facts["_square"].staged == "unknown"
    assert facts["area"].staged == "unknown"


def test_an_argument_of_an_unknown_class_may_mean_any_that_is_registered(tmp_path: Path) -> None:
    program = (
        SHAPES
        + """
    @jax.jit
    def total(shape):
        return area(shape)
"""
    )
    facts = facts_of(tmp_path, program)
    assert facts["_circle"].staged == facts["_square"].staged == "yes"


HEAD = """
    from functools import partial
    import inspect
    import jax

    def bound(function, *args, **kwargs):
        arguments = inspect.signature(function).bind(*args, **kwargs)
        arguments.apply_defaults()
        return arguments

    class Solver:
        def __init__(self):
            self.update = jax.jit(self.update)

        def update(self, params, *rest):
            return params

        def free(self, scale, params):
            return self.update(params)
"""
CALLS = {
    "a bound method": "solver.update(*bound(solver.update, 1.0).args)",
    "a partial of a method": "solver.update(*bound(partial(solver.free, 2.0), 1.0).args)",
    "a name of the rest": "solver.update(*bound(solver.update, 1.0, 2.0, 3.0).args)",
}


@pytest.mark.parametrize("name", CALLS)
def test_what_the_function_holds_is_not_passed_again(name: str, tmp_path: Path) -> None:
    files = {"program.py": HEAD + f"\n    solver = Solver()\n    {CALLS[name]}\n"}
    assert reported(findings_in(tmp_path, files)) == set()
    exec(compile(_plain(files["program.py"]), "program.py", "exec"), {})  # and so it runs


@pytest.mark.parametrize(
    "call",
    [
        "solver.update(*bound(Solver.free, solver, 2.0, 1.0).args)",
        "solver.update(*bound(solver.update, solver).args)",
    ],
)
def test_an_object_that_is_passed_is(call: str, tmp_path: Path) -> None:
    files = {"program.py": HEAD + f"\n    solver = Solver()\n    {call}  # finding: missing-static\n"}
    assert reported(findings_in(tmp_path, files)) == expected(files)
    with pytest.raises(TypeError, match="Error interpreting argument"):
        exec(compile(_plain(files["program.py"]), "program.py", "exec"), {})


def test_the_names_of_the_parameters(tmp_path: Path) -> None:
    program = HEAD + (
        "\n    solver = Solver()\n"
        "    names = list(inspect.signature(partial(solver.free, 2.0)).parameters)\n"
        "    step = jax.jit(lambda x, n: x + n, static_argnames='n')\n"
        "    step(1.0, 2 if len(names) == 1 else [])\n"
    )
    assert reported(findings_in(tmp_path, {"program.py": program})) == set()
    exec(compile(_plain(program), "program.py", "exec"), {})


def _plain(program: str) -> str:
    return "\n".join(line.removeprefix("    ") for line in program.splitlines())


def test_objects_of_either_of_two_classes_are_taken_into_the_stage(tmp_path: Path) -> None:
    program = (
        SHAPES
        + """
    def scaled(self):
        return 2 * self

    def pick(flag, x):
        return Circle(x) if flag else Square(x)

    @jax.jit
    def total(shape):
        return scaled(area(shape))

    def run(flag, x):
        return total(pick(flag, x))
"""
    )
    facts = facts_of(tmp_path, program)
    assert facts["scaled"].params == {"self": "traced"}
    assert facts["_square"].params == {"shape": "traced"}
