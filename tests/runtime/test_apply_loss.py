"""A proven cross-entropy by blocks is written to the source, after the edited program computed the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from applying import applied
from harness import imported, project_of
from models import run

from jaxlint.source import read_source
from jaxlint_runtime.protocol import to_plain
from jaxlint_runtime.written_loss import loss_fix

PROGRAM = """import jax
import jax.numpy as jnp
import optax


def loss(head, x, labels):
    logits = x @ head
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


@jax.jit
def step(head, x, labels):
    return head - 0.1 * jax.grad(loss)(head, x, labels)


head = jnp.sin(jnp.arange(8 * 4096.0)).reshape(8, 4096)
x = jnp.cos(jnp.arange(16 * 128 * 8.0)).reshape(16, 128, 8)
labels = jnp.arange(16 * 128).reshape(16, 128)
if __name__ == "__main__":
    for _ in range(3):
        head = step(head, x, labels)
    print(f"{float(jnp.abs(head).sum()):.4f}")
"""
WRITTEN = """def loss(head, x, labels):
    return jax.lax.map(jax.checkpoint(lambda part: optax.softmax_cross_entropy_with_integer_labels(part[0] @ head, part[1])), (x, labels), batch_size=4).mean()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return project_of(tmp_path, PROGRAM, monkeypatch)


def proven_of(project: Path) -> dict[str, Any]:
    """The result of the transform on a CPU."""
    path = project / "program.py"
    module = imported(path, "loss_program")
    step = module.step.__wrapped__
    found = run(step, module.head, module.x, module.labels, transforms=("cross_entropy",), measure=False)
    result: dict[str, Any] = to_plain(found["cross_entropy:blocks"])
    assert result["after"]["peak_bytes"] < 0.6 * result["before"]["peak_bytes"]
    line = PROGRAM[: PROGRAM.index("@jax.jit")].count("\n") + 1
    return {**result, "path": str(path), "line": line, "function": "step", "status": "verified"}


@pytest.mark.slow
def test_it_is_written_where_the_edited_program_computes_the_same_in_less(project: Path) -> None:
    outcome = applied(project, proven_of(project))
    assert outcome["kept"], outcome
    text = (project / "program.py").read_text()
    start = text.index("def loss")
    assert "".join(text[start : text.index("@jax.jit")].split()) == "".join(WRITTEN.split())


def test_why_it_stays_advice(project: Path) -> None:
    path = project / "program.py"
    sources = {str(path): read_source(path)}

    def said(*places: str) -> Any:
        return loss_fix({"parameters": {"calls": [{"places": list(places), "examples": 4}]}}, sources)

    assert not isinstance(said("linear.py:3", f"{path}:7"), str)
    assert "was not examined" in said("linear.py:3")
    assert "there is no single call of optax" in said(f"{path}:8")


def test_a_kernel_that_nothing_calls_says_why_it_is_not_written(project: Path) -> None:
    place = {"path": str(project / "program.py"), "line": 11, "function": "step"}
    outcome = applied(
        project,
        {
            **place, "candidate": "kernels:chunked", "status": "verified", "codemod": None, "parameters": {"unwritten": "no call"}
        },
    )  # fmt: skip
    assert not outcome["kept"]
    assert outcome["message"] == "kernels:chunked is advice only: no call"
