"""flax.nnx: modules that are split and merged, filters, its own sources."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest

from tests.helpers.projects import facts_of

BLOCK = """
    import jax
    from flax import nnx

    class Block(nnx.Module):
        def __init__(self, rngs):
            self.scale = nnx.Param(jax.random.normal(rngs.params(), (3,)))

        def __call__(self, x):
            return x * self.scale

    model = Block(nnx.Rngs(0))
"""


FILTERS = """
    def in_stage(path, leaf):
        return "scale" in path and leaf.ndim > 0

    def on_host(path, leaf):
        return "scale" in path

    @nnx.jit
    def forward(model, x):
        definition, scales, rest = nnx.split(model, in_stage, ...)
        return model(x)

    forward(model, jax.numpy.ones(3))
    nnx.state(model, on_host)
"""


def test_filters_are_called_with_what_they_choose_from(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, BLOCK + FILTERS)
    assert facts["in_stage"].staged == "yes"
    assert facts["in_stage"].params == {"path": "static", "leaf": "traced"}
    assert facts["on_host"].staged == "no"


OWN_LIBRARY = {
    "flax/__init__.py": "",
    "flax/nnx/__init__.py": "from flax.nnx.module import Module as Module\n",
    "flax/nnx/pytreelib.py": """
        class Pytree:
            def __setattr__(self, name, value):
                self._setattr(name, value)

            def _setattr(self, name, value):
                object.__setattr__(self, name, self._checked(value))

            def _checked(self, value):
                return value
    """,
    "flax/nnx/module.py": """
        from flax.nnx.pytreelib import Pytree

        class Module(Pytree):
            pass
    """,
    "model.py": """
        import jax
        from flax import nnx

        class Converted:
            def __setattr__(self, name, value):
                object.__setattr__(self, name, self.convert(value))

            def convert(self, value):
                return lambda x: x

        class Block(nnx.Module):
            def __init__(self, scale):
                self.scale = scale

            def __call__(self, x):
                return x

        class Part:
            def run(self, x):
                return x

        class Model(nnx.Module):
            def __init__(self):
                self.block = Block(2.0)

            def __call__(self, x):
                return self.block(x)

        class Other(Converted):
            def __init__(self):
                self.part = Part()

            def __call__(self, x):
                return self.part.run(x)

        @jax.jit
        def step(x):
            return Model()(x) + Other()(x)
    """,
}


def test_a_framework_keeps_the_modules_that_it_is_given_whatever_its_hooks_do(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, OWN_LIBRARY)
    assert facts["Block.__call__"].basis == "visible"
    assert facts["Part.run"].staged == "unknown"  # what another hook keeps is not known


PUT_TOGETHER = {
    "merged in a jit of its state": """
    graphdef, state = nnx.split(model)

    @jax.jit
    def step(state, x):
        return nnx.merge(graphdef, state)(x)

    step(state, jax.numpy.ones(3))
    """,
    "the structure is passed, the state filtered": """
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)

    @jax.jit
    def step(graphdef, params, rest, x):
        def loss(params):
            return nnx.merge(graphdef, params, rest)(x).sum()
        return jax.grad(loss)(params)

    step(graphdef, params, rest, jax.numpy.ones(3))
    """,
    "a view of it": """
    evaluated = nnx.view(model, deterministic=True)

    @nnx.jit
    def step(model, x):
        return model(x)

    step(evaluated, jax.numpy.ones(3))
    """,
    "captured intermediates": """
    @nnx.jit
    def step(model, x):
        y, noted = nnx.capture(model, nnx.Intermediate)(x)
        return y, noted

    step(model, jax.numpy.ones(3))
    """,
    "a table of its parts": """    print(nnx.tabulate(model, jax.numpy.ones(3)))""",
}


@pytest.mark.parametrize("case", PUT_TOGETHER)
def test_the_methods_of_what_is_put_together_are_staged(tmp_path: Path, case: str) -> None:
    facts = facts_of(tmp_path, BLOCK + PUT_TOGETHER[case])
    call = facts["Block.__call__"]
    assert (call.staged, call.basis) == ("yes", "visible"), call
    assert call.params == {"self": "traced", "x": "traced"}
    if "step" in facts and "graphdef" in facts["step"].params:
        assert facts["step"].params["graphdef"] == "static"


def test_the_model_of_metrics_is_that_of_flax() -> None:
    from flax import nnx

    metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), accuracy=nnx.metrics.Accuracy())
    assert set(metrics.compute()) == {"loss", "accuracy"}
    assert {value.dtype for value in metrics.compute().values()} == {jax.numpy.float32.dtype}
    assert metrics.update(loss=1.0, logits=jax.numpy.ones((1, 2)), labels=jax.numpy.ones(1, int)) is None
    assert nnx.metrics.MultiMetric is nnx.MultiMetric
