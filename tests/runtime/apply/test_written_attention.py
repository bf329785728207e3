"""A proven `jax.nn.dot_product_attention` is written to the source, after the edited program computed the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jaxlint.source import read_source
from jaxlint_runtime.apply.written_attention import attention_fix
from jaxlint_runtime.protocol.json_records import to_plain
from tests.helpers.applying import applied
from tests.helpers.training_programs import run
from tests.helpers.worker_runs import imported, moved, project_of

PROGRAM = """import jax
import jax.numpy as jnp


def attention(q, k, v):
    scores = jnp.einsum("bhtd,bhsd->bhts", q, k) * q.shape[-1] ** -0.5
    length = scores.shape[-1]
    mask = jnp.tril(jnp.ones((length, length), bool))
    scores = jnp.where(mask, scores, -1e30)
    weights = jax.nn.softmax(scores, axis=-1)
    return jnp.einsum("bhts,bhsd->bhtd", weights, v)


@jax.jit
def step(q, k, v):
    return jax.grad(lambda q: jnp.sum(attention(q, k, v) ** 2))(q)


q, k, v = (jnp.sin(n + jnp.arange(2 * 2 * 384 * 16.0)).reshape(2, 2, 384, 16) for n in range(3))
if __name__ == "__main__":
    for _ in range(3):
        q = q - 0.1 * step(q, k, v)
    print(f"{float(jnp.sum(q)):.4f}")
"""
WRITTEN = """def attention(q, k, v):
    return jax.nn.dot_product_attention(
        q.swapaxes(1, 2), k.swapaxes(1, 2), v.swapaxes(1, 2), is_causal=True
    ).swapaxes(1, 2)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return project_of(tmp_path, PROGRAM, monkeypatch)


def proven_of(project: Path) -> dict[str, Any]:
    """The result of the transform, as if it had been found to be smaller."""
    path = project / "program.py"
    module = imported(path, "attention_program")
    step = module.step.__wrapped__
    found = run(step, module.q, module.k, module.v, transforms=("kernels",), measure=False)
    result: dict[str, Any] = to_plain(found["kernels:dot_product_attention"])
    line = PROGRAM[: PROGRAM.index("@jax.jit")].count("\n") + 1
    place = {"path": str(path), "line": line, "function": "step"}
    return {**result, **place, "status": "verified", "before": result["after"]}


@pytest.fixture(scope="module")
def proven_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("proven")
    (folder / "program.py").write_text(PROGRAM)
    return folder, proven_of(folder)


@pytest.fixture
def proven(proven_once: tuple[Path, dict[str, Any]], project: Path) -> dict[str, Any]:
    """What was proven once, of the copy of the program in `project`."""
    folder, result = proven_once
    return moved(result, folder, project)


@pytest.mark.slow
def test_the_call_is_written_where_the_edited_program_computes_the_same(
    project: Path, proven: dict[str, Any]
) -> None:
    outcome = applied(project, proven)
    assert outcome["kept"], outcome
    text = (project / "program.py").read_text()
    start = text.index("def attention")
    assert "".join(text[start : text.index("@jax.jit")].split()) == "".join(WRITTEN.split()).replace(
        "True)", "True)"
    )


@pytest.mark.slow
def test_a_call_that_computes_something_else_is_not_written(project: Path, proven: dict[str, Any]) -> None:
    proven["parameters"]["calls"][0]["scale"] = 0.5
    outcome = applied(project, proven)
    assert not outcome["kept"]
    assert "the results differ" in outcome["message"]
    assert "dot_product_attention" not in (project / "program.py").read_text()


def test_why_it_stays_advice(project: Path) -> None:
    path = project / "program.py"
    sources = {str(path): read_source(path)}
    call = {
        "places": [f"{path}:11"], "scale": 0.25, "depth": 16, "causal": True, "implementation": None, "refused": None
    }  # fmt: skip

    def said(**changes: Any) -> Any:
        return attention_fix({"parameters": {"calls": [{**call, **changes}]}}, "gpu:h100x1", sources)

    assert not isinstance(said(), str)
    assert "only on that device" in said(implementation="cudnn")
    assert said(refused="its mask is not known") == "advice only: its mask is not known"
    assert "the axes of the mask are unknown" in said(causal=False)
    assert "was not checked" in said(places=["elsewhere.py:3"])
    assert "does not hold exactly one product" in said(places=[f"{path}:10"])
