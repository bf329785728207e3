"""A short training run side by side: what trains alike passes, what stands still or breaks on the way does not."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxlint_runtime.lowering.function_versions import Version, capture
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.proof.training import SideBySide, side_by_side
from jaxlint_runtime.transforms import TRANSFORMS
from tests.helpers.training_programs import mlp_arguments, mlp_step, run


def train(w: Any, x: Any, y: Any) -> Any:
    loss, grad = jax.value_and_grad(lambda w: jnp.mean((jnp.tanh(x @ w) - y) ** 2))(w)
    return w - 0.5 * grad, loss


def program() -> Reference:
    x = jax.random.normal(jax.random.key(0), (32, 8))
    call = capture(train, jnp.zeros((8, 4)), x, jnp.tanh(x @ jnp.ones((8, 4))))
    return Reference(call, Settings(magnitudes=(), transforms=("bf16",)))


def test_the_bf16_policy_trains_as_the_original_does() -> None:
    p = program()
    (candidate,) = TRANSFORMS["bf16"].propose(p)
    version = TRANSFORMS["bf16"].emulate(p, candidate, p.version)
    assert version is not None
    found = side_by_side(p, p.original, p.runnable(version))
    assert found is not None
    assert found.problem is None
    assert len(found.original) == 20
    assert found.original[-1] < 0.5 * found.original[0]
    assert found.original != found.candidate
    assert "20 training steps side by side: loss" in str(found)


def test_steps_that_are_right_alone_and_lead_nowhere_are_seen() -> None:
    p = program()

    def stands_still(w: Any, x: Any, y: Any) -> Any:
        new, loss = train(w, x, y)
        return jnp.where(jnp.abs(w).max() > 0.3, w, new), loss  # updates that are lost in rounding

    found = side_by_side(p, p.original, p.runnable(Version(stands_still, p.version.options)))
    assert found is not None
    assert "a training run of 20 steps goes from" in str(found.problem)


@pytest.mark.parametrize(
    ("candidate", "problem"),
    [
        ((4.0, 3.0, 2.0, 1.01, 0.51), None),
        ((4.0, 3.0, 2.0, 1.5, 1.4), "goes from 4 to 1.4, the original's to 0.5"),
        ((4.0, 3.0, float("nan"), 1.0, 0.5), "step 3 in a short training run is nan"),
    ],
)
def test_what_counts_as_training_alike(candidate: tuple[float, ...], problem: str | None) -> None:
    found = SideBySide((4.0, 3.0, 2.0, 1.0, 0.5), candidate).problem
    assert found is None if problem is None else problem in str(found)


def test_a_function_without_state_or_loss_has_no_run() -> None:
    for function in (lambda x: jnp.sum(jnp.tanh(x)), lambda x: x + 1.0):
        p = Reference(capture(function, jnp.ones((4, 4))), Settings(magnitudes=()))
        assert side_by_side(p, p.original, p.original) is None


def test_the_result_of_the_policy_tells_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(TRANSFORMS["bf16"]), "shown", lambda *_: None)
    result = run(mlp_step, *mlp_arguments(), transforms=("bf16",), measure=False)["bf16"]
    assert "training steps side by side" in result.evidence
