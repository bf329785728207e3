"""equinox: modules that are taken apart and put together, fields, checks, transformations of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import expected, facts_of, findings_in, reported

DENSE = """
    import equinox as eqx
    import jax

    class Dense(eqx.Module):
        weight: jax.Array
        activation: object = eqx.field(static=True)

        def __call__(self, x):
            return self.activation(self.weight * x)

    model = Dense(jax.numpy.ones(3), jax.nn.relu)
"""


def test_modules_without_arrays_stay_what_they_are(tmp_path: Path) -> None:
    program = (
        DENSE
        + """
    params, static = eqx.partition(model, eqx.is_array)

    def name_of(static):
        return str(static.activation)

    @jax.jit
    def step(params):
        return params, name_of(static)
    """
    )
    facts = facts_of(tmp_path, program)
    assert facts["name_of"].staged == "unknown"
    assert facts["Dense.__call__"].basis == "convention"


def test_rules_of_custom_derivatives_of_equinox_are_staged(tmp_path: Path) -> None:
    program = """
        import equinox as eqx
        import jax

        @eqx.filter_custom_vjp
        def scaled(x, factor):
            return x * factor

        @scaled.def_fwd
        def forward(perturbed, x, factor):
            return scaled(x, factor), (x, factor)

        @scaled.def_bwd
        def backward(residuals, grad, perturbed, x, factor):
            return grad * residuals[1]

        @jax.jit
        def step(x):
            return scaled(x, 2.0)
    """
    facts = facts_of(tmp_path, program)
    assert (facts["forward"].staged, facts["forward"].params["x"]) == ("yes", "traced")
    assert facts["forward"].params["perturbed"] != "traced"
    assert facts["backward"].params["residuals"] == facts["backward"].params["grad"] == "traced"


def test_a_library_uses_its_own_transformations(tmp_path: Path) -> None:
    project = {
        "equinox/__init__.py": "from ._vmap_pmap import filter_vmap as filter_vmap\n",
        "equinox/_vmap_pmap.py": "def filter_vmap(fun, **options):\n    return fun\n",
        "equinox/nn/__init__.py": "from ._mlp import called as called\n",
        "equinox/nn/_mlp.py": """
            import jax
            from .._vmap_pmap import filter_vmap

            def called(a, b):
                return a(b)

            mapped = filter_vmap(called)
        """,
    }
    facts = facts_of(tmp_path, project)
    assert (facts["called"].staged, facts["called"].basis) == ("yes", "visible")


def test_a_partial_of_equinox_calls_its_function(tmp_path: Path) -> None:
    program = """
        import equinox as eqx
        import jax

        def scaled(x, by):
            return by * x

        def apart(x):
            return x

        @jax.jit
        def step(x):
            eqx.Partial(apart, x)
            return eqx.Partial(scaled, x)(x)
    """
    facts = facts_of(tmp_path, program)
    assert facts["scaled"].params == {"x": "traced", "by": "traced"}
    assert facts["apart"].staged == "unknown"


@pytest.mark.parametrize(("base", "staged"), [("eqx.Module", "yes"), ("object", "unknown")])
def test_equinox_checks_what_is_made(tmp_path: Path, base: str, staged: str) -> None:
    program = f"""
        import equinox as eqx
        import jax

        class Shifted({base}):
            by: jax.Array

            def __init__(self, by):
                self.by = by

            def __check_init__(self):
                shape_of(self.by)

        class Special(Shifted):
            pass

        def shape_of(by):
            return by.shape

        @jax.jit
        def step(x):
            return Special(x).by
    """
    assert facts_of(tmp_path, program)["shape_of"].staged == staged


@pytest.mark.parametrize(("transform", "answer"), [("eqx.filter_jit", "unknown"), ("jax.jit", "traced")])
def test_what_keeps_python_is_given_settings_as_well(tmp_path: Path, transform: str, answer: str) -> None:
    program = f"""
        import equinox as eqx
        import jax
        from settings import load

        @{transform}
        def step(x, setting):
            return x

        step(jax.numpy.ones(3), load())
    """
    assert facts_of(tmp_path, program)["step"].params == {"x": "traced", "setting": answer}


def test_checks_and_marks_give_back_what_they_are_given(tmp_path: Path) -> None:
    program = """
        import equinox as eqx
        import equinox.internal as eqxi
        import jax

        def checked(x):
            return x

        def marked(x):
            return x

        def turned(x):
            return x

        @jax.jit
        def step(x, tree):
            checked(eqx.error_if(x, x < 0, "negative"))
            marked(eqxi.nondifferentiable(x))
            return turned(jax.tree.transpose(jax.tree.structure([0]), jax.tree.structure((0,)), tree))
    """
    facts = facts_of(tmp_path, program)
    assert [facts[name].params["x"] for name in ("checked", "marked", "turned")] == ["traced"] * 3


@pytest.mark.parametrize(("base", "answer"), [("eqx.Enumeration", "traced"), ("Choices", "unknown")])
def test_an_item_of_an_enumeration_that_a_tracer_chooses_holds_one(
    tmp_path: Path, base: str, answer: str
) -> None:
    program = f"""
        import equinox as eqx
        import jax
        from elsewhere import Choices

        class Results({base}):
            good = "it went well"
            bad = "it did not"

        class More(Results):
            worse = "it broke"

        def told(result):
            return result

        @jax.jit
        def step(x):
            return told(More.promote(Results.where(x > 0, Results.good, Results.bad)))
    """
    assert facts_of(tmp_path, program)["told"].params == {"result": answer}


CONVERTED = """
    import equinox as eqx
    import jax.numpy as jnp

    def as_list(value):
        return [value]

    class Goal(eqx.Module):
        target: list = {declared}

    def distance():
        return jnp.sum(Goal([1.0, 2.0]).target){mark}

    distance()
"""


@pytest.mark.parametrize(
    ("declared", "mark"),
    [
        ("eqx.field(converter=jnp.asarray)", ""),
        ("eqx.field(converter=as_list)", "  # finding: list-argument"),
        ("eqx.field()", "  # finding: list-argument"),
    ],
)
def test_a_field_keeps_what_its_converter_makes(tmp_path: Path, declared: str, mark: str) -> None:
    files = {"goals.py": CONVERTED.format(declared=declared, mark=mark)}
    assert reported(findings_in(tmp_path, files)) == expected(files)


@pytest.mark.parametrize(
    ("promise", "mark"),
    [("state: eqx.AbstractVar[jax.Array]", ""), ("state: jax.Array", "  # finding: tracer-to-numpy")],
)
def test_what_a_class_asks_of_its_heirs_is_no_argument_of_theirs(
    tmp_path: Path, promise: str, mark: str
) -> None:
    files = {
        "systems.py": f"""
            import equinox as eqx
            import jax
            import numpy as np

            def as_numpy(x):
                return np.asarray(x){mark}

            class System(eqx.Module):
                {promise}

            class Linear(System):
                matrix: jax.Array
                state: np.ndarray = eqx.field(converter=as_numpy, default=3.0)

            @jax.jit
            def scaled(matrix):
                return Linear(matrix).matrix
        """
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)


@pytest.mark.parametrize(("options", "mark"), [("init=False, ", ""), ("", "  # finding: tracer-to-numpy")])
def test_fields_that_the_constructor_does_not_take_are_passed_over(
    tmp_path: Path, options: str, mark: str
) -> None:
    files = {
        "systems.py": f"""
            import equinox as eqx
            import jax
            import numpy as np

            def as_numpy(x):
                return np.asarray(x){mark}

            class Linear(eqx.Module):
                state: np.ndarray = eqx.field({options}converter=as_numpy, default=3.0)
                matrix: jax.Array = None

            @jax.jit
            def scaled(matrix):
                return Linear(matrix).matrix
        """
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)


def test_a_promise_of_equinox_that_the_class_itself_keeps_is_no_leaf(tmp_path: Path) -> None:
    program = """
        from typing import ClassVar

        import equinox as eqx
        import jax

        class Bijection(eqx.Module):
            shape: eqx.AbstractVar[tuple[int, ...]]
            condition: eqx.AbstractVar[object]

        class Squash(Bijection):
            bound: float
            shape: tuple[int, ...] = ()
            condition: ClassVar[None] = None

            def transform(self, x):
                return jax.numpy.tanh(x) * self.bound

        class Conditional(Bijection):
            condition: jax.Array
            shape: tuple[int, ...] = ()

            def transform(self, x):
                return x + self.condition

        @eqx.filter_jit
        def run(squash: Squash, conditional: Conditional, x):
            return conditional.transform(squash.transform(x))
    """
    facts = facts_of(tmp_path, program)
    assert facts["Squash.transform"].params["self"] == "unknown"
    assert facts["Conditional.transform"].params["self"] == "traced"


PUT_TOGETHER = {
    "partitioned and combined": """
    params, static = eqx.partition(model, eqx.is_array)

    @jax.jit
    def step(params, x):
        return eqx.combine(params, static)(x)

    step(params, jax.numpy.ones(3))
    """,
    "combined with what an optimiser gives": """
    params, static = eqx.partition(model, eqx.is_inexact_array)

    @jax.jit
    def step(params, x):
        def loss(params):
            return eqx.combine(params, static)(x).sum()
        new = jax.tree.map(lambda p, g: p - g, params, jax.grad(loss)(params))
        return eqx.combine(new, static)(x)

    step(params, jax.numpy.ones(3))
    """,
    "updated": """
    @eqx.filter_jit
    def step(model, updates, x):
        return eqx.tree_at(lambda m: m.weight, eqx.apply_updates(model, updates), x)(x)

    step(model, model, jax.numpy.ones(3))
    """,
}


@pytest.mark.parametrize("case", PUT_TOGETHER)
def test_the_methods_of_what_is_put_together_are_staged(tmp_path: Path, case: str) -> None:
    facts = facts_of(tmp_path, DENSE + PUT_TOGETHER[case])
    call = facts["Dense.__call__"]
    assert (call.staged, call.basis) == ("yes", "visible"), call
    assert call.params == {"self": "traced", "x": "traced"}
