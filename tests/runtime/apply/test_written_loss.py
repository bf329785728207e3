"""A proven cross-entropy by blocks is written to the source, after the edited program computed the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jaxlint.codemods import apply_edits, resolve
from jaxlint.finding import Fix, FixRequest
from jaxlint.source import read_source
from jaxlint_runtime.apply.written_loss import loss_fix
from jaxlint_runtime.protocol.json_records import to_plain
from tests.helpers.applying import applied
from tests.helpers.training_programs import run
from tests.helpers.worker_runs import imported, project_of, results_of, verify_source

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
    @jax.checkpoint
    def losses(part):
        x, labels = part
        logits = x @ head
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels)

    return jax.lax.map(losses, (x, labels), batch_size=4).mean()


"""
# The same loss by hand: what is run of it, and what the codemod is asked to write it from.
BY_HAND = {
    "one-hot": """    log_probabilities = jax.nn.log_softmax(logits)
    picked = jax.nn.one_hot(labels, 4096) * log_probabilities
    return -jnp.mean(jnp.sum(picked, axis=-1))
""",
    "picked": """    log_probabilities = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(log_probabilities, labels[:, :, None], axis=2).mean()
""",
    "next token": """    losses = optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], labels[:, 1:])
    return losses.mean()
""",
    "logsumexp": """    picked = jnp.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    return (jax.nn.logsumexp(logits, axis=-1) - picked).mean()
""",
}
BY_OPTAX = "    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()\n"
LAYERS = {
    "nnx": """import jax
import jax.numpy as jnp
import optax
from flax import nnx

model = nnx.Linear(8, 4096, rngs=nnx.Rngs(0))


@nnx.jit
def step(model, x, labels):
    def loss(model):
        logits = model(x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    return nnx.grad(loss)(model)


labels = jnp.arange(2048) % 4096
print(float(sum(jnp.abs(leaf).sum() for leaf in jax.tree.leaves(step(model, jnp.ones((2048, 8)), labels)))))
""",
    "equinox": """import equinox as eqx
import jax
import jax.numpy as jnp

model = eqx.nn.Linear(8, 4096, key=jax.random.key(0))


@eqx.filter_jit
def step(model, x, labels):
    def loss(model):
        logits = jax.vmap(model)(x)
        return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(2048), labels])

    return eqx.filter_grad(loss)(model)


labels = jnp.arange(2048) % 4096
print(float(sum(jnp.abs(leaf).sum() for leaf in jax.tree.leaves(step(model, jnp.ones((2048, 8)), labels)))))
""",
    "linen": """import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

model = nn.Dense(4096)
x, labels = jnp.ones((2048, 8)), jnp.arange(2048) % 4096
params = model.init(jax.random.key(0), x)


@jax.jit
def step(params, x, labels):
    def loss(params):
        logits = model.apply(params, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    return jax.grad(loss)(params)


print(float(sum(jnp.abs(leaf).sum() for leaf in jax.tree.leaves(step(params, x, labels)))))
""",
}


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


@pytest.mark.parametrize("spelling", BY_HAND.values(), ids=BY_HAND)
def test_one_by_hand_is_found_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelling: str
) -> None:
    project = project_of(tmp_path, PROGRAM.replace(BY_OPTAX, spelling), monkeypatch)
    path = project / "program.py"
    module = imported(path, f"loss_{len(spelling)}")
    given = (module.head, module.x, module.labels)
    result = to_plain(
        run(module.step.__wrapped__, *given, transforms=("cross_entropy",), measure=False)[
            "cross_entropy:blocks"
        ]
    )
    sources = {str(path): read_source(path)}
    fix = loss_fix(result, sources)
    assert isinstance(fix, FixRequest), fix
    edited = resolve(fix, sources)
    assert isinstance(edited, Fix), edited
    path.write_text(apply_edits(path.read_text(), edited.edits))
    assert "batch_size=4" in path.read_text()
    again = imported(path, f"parts_{len(spelling)}")
    np.testing.assert_allclose(again.step(*given), module.step(*given), rtol=1e-5, atol=1e-6)
    needed = [
        one.step.lower(*given).compile().memory_analysis().temp_size_in_bytes for one in (module, again)
    ]
    assert needed[1] < 0.5 * needed[0]


@pytest.mark.slow
@pytest.mark.parametrize("framework", LAYERS)
def test_the_scores_of_a_layer(tmp_path: Path, framework: str) -> None:
    """A linear layer of nnx or equinox may be called for a part; one of linen makes parameters, and stays advice."""
    found = results_of(verify_source(tmp_path, LAYERS[framework], transforms=("cross_entropy",)))
    path = tmp_path / "program.py"
    fix = loss_fix(found["cross_entropy:blocks"], {str(path): read_source(path)})
    if framework == "linen":
        assert isinstance(fix, str), fix
        return
    assert isinstance(fix, FixRequest), fix
    edited = resolve(fix, {str(path): read_source(path)})
    assert isinstance(edited, Fix), edited
    printed = []
    for source in (path.read_text(), apply_edits(path.read_text(), edited.edits)):
        path.write_text(source)
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
        printed.append(float(done.stdout))
    assert "batch_size" in path.read_text()
    assert printed[1] == pytest.approx(printed[0], rel=1e-5)


def test_why_it_stays_advice(project: Path) -> None:
    path = project / "program.py"
    sources = {str(path): read_source(path)}

    def said(*places: str) -> Any:
        call = {"places": list(places), "examples": 4, "rank": 2, "layer": False}
        return loss_fix({"parameters": {"calls": [call]}}, sources)

    assert not isinstance(said("linear.py:3", f"{path}:7"), str)
    assert "was not checked" in said("linear.py:3")
    assert "does not hold exactly one cross-entropy" in said(f"{path}:8")


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
