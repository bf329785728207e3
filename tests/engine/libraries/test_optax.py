"""optax: what its solvers call."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.projects import facts_of


def test_line_searches_trace_the_loss(tmp_path: Path) -> None:
    program = """
        import jax
        import optax

        solver = optax.lbfgs()

        def loss(params):
            return (params ** 2).sum()

        def step(params, state):
            value, grad = jax.value_and_grad(loss)(params)
            return solver.update(grad, state, params, value=value, grad=grad, value_fn=lambda p: loss(p))

        params = jax.numpy.ones(3)
        step(params, solver.init(params))
    """
    facts = facts_of(tmp_path, program)
    assert (facts["step.<locals>.<lambda>"].staged, facts["loss"].params) == ("yes", {"params": "traced"})
