"""Where the analysis cannot be sure which value it has, nothing is reported; what is certain beside it is told.

The programs of doubt lie in `tests/engine/specimens/unsure`, by what is not known:

- `questions_about_kinds`: code that asks what it has: a tracer, an array of the host, the type of another library;
- `settings_and_versions`: branches that settings, switches, the environment or versions decide;
- `shapes_and_numbers`: axes, sizes and numbers;
- `classes_and_fields`: what an object has, and which object it is;
- `arguments_and_calls`: which parameter gets what, and whether a call is made;
- `random_keys`, `donation`: which key was used, which buffer is gone.

`SURE` changes one thing in a program of doubt, and the doubt with it.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from jaxlint.source.read import source_from_bytes
from jaxlint.staging.events import ConvertEvent
from jaxlint.staging.module import Module
from jaxlint.staging.values import Array, Scope
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import HOST, Stage
from tests.helpers.projects import expected, findings_in, reported, specimens_below

UNSURE = specimens_below("unsure")
# Told with certainty, and marked.
TOLD = specimens_below("sure")
# What to change in a program of doubt, and what is reported then.
SURE: dict[str, tuple[list[tuple[str, str]], set[tuple[int, str]]]] = {
    "lists that stand beside what is not known in one list": (
        [("given.append(params[name][0])", "given.append([params[name][0]])")],
        {(11, "list-argument")},
    ),
    "a constant that a function is given beside ever more numbers": (
        [("6, jnp.inf", "6, 2")],
        {(8, "tracer-branch")},
    ),
    "two runners and two carries that one setting chooses": (
        [("if not on_policy", "if on_policy")],
        {(9, "carry-mismatch"), (17, "carry-mismatch")},
    ),
    "many fields that a helper makes static by the type of their default": (
        [("* self.settings.rate", "* np.ceil(self.settings.rate)")],
        {(31, "tracer-to-numpy")},
    ),
    "static arguments where chex puts vmap in the place of pmap": (
        [("chex.fake_pmap_and_jit()", "jax.disable_jit()")],
        {(15, "unhashable-static-argument")},
    ),
    "branches that only a variable of the environment opens": (
        [('os.getenv("USE_SCAN", "0")', 'os.getenv("USE_SCAN", "1")')],
        {(14, "tracer-branch")},
    ),
    "loops over arrays that are given without rows": (
        [
            ("jnp.ones((3, 3)), np.zeros((0, 2)", "jnp.ones((3, 3)), np.zeros((1, 2)"),
            ("np.zeros((0, 2))", "np.zeros((1, 2))"),
        ],
        {(10, "tracer-to-numpy")},
    ),
    "the differences of one number": (
        [("(2,), 6", "(2, 4), 6")],
        {(6, "tracer-concretization"), (14, "tracer-concretization")},
    ),
    "a jitted function that a call in a stage makes and does not run": (
        [("lambda x: make_loss(x, targets)", "lambda x: make_loss(x, targets)(x, x)")],
        {(6, "dynamic-shape")},
    ),
    "a call on the spot that leaves a switch at its default": (
        [
            ("(jnp.ones(3))", "(jnp.ones(3), True)"),
            (", with_fields: bool = False", ", flag"),
            ("with_fields=with_fields", "with_fields=True"),
        ],
        {(6, "tracer-concretization")},
    ),
    "a call on the spot that gives a jitted function less than it takes": (
        [("(make_train(config))(key)", "(make_train(config))(key, 0, {}, 1)")],
        {(5, "tracer-index"), (6, "tracer-branch")},
    ),
    "a helper that asks for NumPy arrays and scalars": (
        [("isinstance(given, np.ndarray)", "isinstance(given, jax.Array)")],
        {(10, "tracer-to-numpy")},
    ),
    "types of arrays that a table holds": (
        [("    return x\n", "    return np.asarray(x)\n")],
        {(15, "tracer-to-numpy")},
    ),
    "a donated array that a helper asks whether it is gone": (
        [
            ("isinstance(value, jax.Array) and not value.is_deleted()", "isinstance(value, jax.Array)"),
            ("value.delete()", "print(value)"),
        ],
        {(12, "use-after-donation")},
    ),
    "a call that lacks an argument, which raises before anything runs": (
        [("(Model(), history,", "(Model(), history, history,")],
        {(5, "missing-static")},
    ),
    "a switch that a map on the spot leaves as it is given": (
        [("(rows, n, True)", "(rows, n, False)")],
        {(6, "tracer-branch")},
    ),
    "a function that one of two objects would jit": (
        [("return Plain()", "return Jitted()")],
        {(18, "tracer-to-numpy")},
    ),
    "functions of a table, told apart by their names": (
        [('if "parallel" in name', "if True"), ('if "parallel" not in name', "if True")],
        # What is wrong at the calls makes a number of what the functions take a part of.
        {
            (8, "shape-mismatch"),
            (12, "shape-mismatch"),
            (21, "unhashable-static-argument"),
            (23, "unhashable-static-argument"),
        },
    ),
    "a cached property of an object that a trace finds": (
        [("cached_property", "property"), ("from functools import property", "")],
        {(7, "tracer-branch")},
    ),
    "keys of a call that is lowered alone": ([(".lower", ""), (".compile()", "")], {(12, "key-reuse")}),
    "a setting that a function switches": ([("    global SIZE\n", "")], {(16, "dynamic-shape")}),
    "sizes of an equinox module that a step returns": (
        [("eqx.filter_jit", "jax.jit")],
        {(10, "dynamic-shape")},
    ),
    "a tracer makes the body of a try raise": (
        [("except ERRORS", "except KeyError")],
        {
            (11, "tracer-concretization"),
            (13, "tracer-concretization"),
            (14, "tracer-concretization"),
            (22, "tracer-leak"),
        },
    ),
    "what holds no array is not donated with all the others": (
        [
            ("model, opt, state = make()", "model, opt, state = make(); first = model"),
            ("return model", "return first"),
        ],
        {(13, "use-after-donation")},
    ),
    "an object whose call is a static method": (
        [("@staticmethod", ""), ("__call__(x)", "__call__(self, x)")],
        {(9, "missing-static")},
    ),
    "a branch for lists, of which nothing is known": (
        [(" if isinstance(a, list) else a[chosen]", "")],
        {(12, "tracer-to-numpy")},
    ),
    "two states of training whose modules give different things": (
        [("critic.apply_fn(critic.params, x)", "actor.apply_fn(actor.params, x, rng)")],
        {(23, "list-argument")},
    ),
    "the sizes of one of several modules that are rematerialised": (
        [("(self, x)", "(self, x, size)"), ("self.size", "size"), ("self.layer(x)", "self.layer(x, 8)")],
        {(10, "dynamic-shape"), (18, "dynamic-shape")},
    ),
    "settings that are given, and others by default": ([('"plain"', '"replay"')], {(16, "tracer-leak")}),
    "rows of arrays that are mapped where they have two axes": (
        [
            ("if rewards.ndim == 1:\n", "if not program:\n"),
            ("def both(", "def both(program, "),
            ("both(jnp.ones(4)", "both(object(), jnp.ones(4)"),
        ],
        {(10, "vmap-sizes")},
    ),
    "a switch of the module that nobody turns while tracing": (
        [("EAGER = False", "EAGER = True"), ("bool = True", "bool = False")],
        {(21, "tracer-branch")},
    ),
}


@pytest.mark.parametrize("name", UNSURE)
def test_nothing_is_said_of_what_may_be_another_value(name: str, tmp_path: Path) -> None:
    assert [finding.message for finding in findings_in(tmp_path, {"program.py": UNSURE[name]})] == []


@pytest.mark.parametrize("name", SURE)
def test_what_is_certain_beside_a_doubt_is_told(name: str, tmp_path: Path) -> None:
    changes, told = SURE[name]
    program = UNSURE[name]
    for old, new in changes:
        assert old in program
        program = program.replace(old, new)
    found = findings_in(tmp_path, {"program.py": program})
    assert {(finding.span.line, finding.name) for finding in found} == told


@pytest.mark.parametrize("name", TOLD)
def test_what_is_certain_is_told_where_it_is(name: str, tmp_path: Path) -> None:
    files = {"program.py": TOLD[name]}
    assert reported(findings_in(tmp_path, files)) == expected(files)


def test_a_static_array_is_told_where_the_field_is_declared(tmp_path: Path) -> None:
    files = {
        "base.py": """
            import equinox as eqx

            class Base(eqx.Module):
                mask: object = eqx.field(static=True)  # finding: unhashable-static-argument
        """,
        "program.py": """
            import jax
            import jax.numpy as jnp
            from base import Base

            class Model(Base):
                weight: jax.Array

            @jax.jit
            def run(model):
                return model.weight

            run(Model(jnp.ones(3), jnp.ones(3)))
        """,
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)


@pytest.mark.parametrize(("stage", "quiet"), [(HOST, True), (Stage("jit", abstract=True), False)])
def test_a_tracer_that_left_its_trace_is_told_where_it_leaves_alone(stage: Stage, quiet: bool) -> None:
    """Libraries write their states under a trace, and restore them after it."""
    node = ast.parse("float(x)", mode="eval").body
    module = Module(source_from_bytes(b"float(x)", Path("m.py"), "m.py"), "m", "", False)
    frame = Frame(None, module, Scope(None, is_module=True), stage)
    assert ConvertEvent(node, frame, Array(True), "float").is_guarded() is quiet


def notebook(*cells: str) -> str:
    """A notebook of these cells of code."""
    made = [
        {"cell_type": "code", "metadata": {}, "source": cell, "outputs": [], "execution_count": None}
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_a_cell_shows_its_last_value_and_calls_what_is_defined_so_far(tmp_path: Path) -> None:
    first = """import jax
import jax.numpy as jnp

class World:
    def step(self, i, x):
        return x + i

def run(x):
    return jax.lax.fori_loop(0, 10, World().step, x)

print(jax.jit(run)(1.0))
"""
    second = "class World:\n    def step(self, x):\n        return x\n\nx = jnp.zeros(3)\nx.at[0].set(1.0)\n# x is as it was\n"
    third = "x.at[1].set(1.0)\nx + 1"
    found = findings_in(tmp_path, {"program.ipynb": notebook(first, second, third)})
    assert [(finding.name, finding.message.split()[0]) for finding in found] == [
        ("discarded-update", "`.at[...].set`")
    ]


def test_a_keyword_that_a_function_does_not_have_is_not_called_a_parameter_of_it(tmp_path: Path) -> None:
    program = """
        from functools import partial

        import jax

        @partial(jax.jit, static_argnames="mode")
        def scaled(x, mode="max", how=None):
            return x

        def main(x):
            return scaled(x, mod="sum"), scaled(x, how="sum")
    """
    wrong, plain = findings_in(tmp_path, {"program.py": program})
    assert wrong.message == (
        "jit cannot trace a string ('sum'), and `scaled` has no parameter `mod`; did you mean `mode`?"
    )
    assert (
        plain.message
        == "jit traces `how` of `scaled`, but a string ('sum') raises TypeError; declare it static"
    )
