"""`inspect.signature(f).bind(...)`: what `f` holds already is no argument of a call."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import expected, findings_in, reported

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
