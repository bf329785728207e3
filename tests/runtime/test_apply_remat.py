"""A proven rematerialisation of scan bodies is written to the source, after the edited program was compiled again."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from models import run

from jaxlint.engine import CheckResult
from jaxlint.source import read_source
from jaxlint_runtime import apply
from jaxlint_runtime.protocol import to_plain
from jaxlint_runtime.verify import Listener, Request, Verification

PROGRAM = """import jax
import jax.numpy as jnp


def forward(params, x):
    def layer(h, w):
        return h + jnp.tanh(jnp.sin(h @ w) @ w), None

    h, _ = jax.lax.scan(layer, x, params)
    return jnp.mean(h**2)


@jax.jit
def step(params, x):
    return params - 0.1 * jax.grad(forward)(params, x)


params, x = 0.1 * jnp.ones((8, 64, 64)), jnp.ones((2048, 64))
if __name__ == "__main__":
    for _ in range(3):
        params = step(params, x)
"""
EDITED = PROGRAM.replace("scan(layer,", "scan(jax.checkpoint(layer, prevent_cse=False),")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    return tmp_path.resolve()


@pytest.fixture
def proven(project: Path) -> dict[str, Any]:
    """The result of the optimiser, as if it had been timed as just as fast."""
    path = project / "program.py"
    spec = importlib.util.spec_from_file_location("scanned_program", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    step = module.step.__wrapped__
    found = run(step, module.params, module.x, transforms=("remat",), measure=False)
    result: dict[str, Any] = to_plain(found["remat:nothing_saveable"])
    line = PROGRAM[: PROGRAM.index("@jax.jit")].count("\n") + 1
    speedup = {"median": 1.0, "low": 0.97, "high": 1.02, "level": 0.95}
    return {
        **result,
        "path": str(path),
        "line": line,
        "function": "step",
        "status": "verified",
        "speedup": speedup,
    }


def applied(project: Path, result: dict[str, Any]) -> dict[str, Any]:
    path = str(project / "program.py")
    found = Verification(Request("script", path), Listener())
    found.document.targets = ["cpu"]
    found.document.functions = [
        {"function": "step", "path": path, "line": result["line"], "end_line": result["line"] + 2}
    ]
    found.document.results = [("cpu", result)]
    found.check = CheckResult(findings=[], sources={path: read_source(Path(path), path)})
    apply.apply_proven(found, allow_dirty=True)
    (entry,) = found.document.applied
    return entry


def test_the_body_of_the_scan_is_wrapped_and_the_memory_seen_again(
    project: Path, proven: dict[str, Any]
) -> None:
    assert proven["codemod"] == "checkpoint-scan-body"
    entry = applied(project, proven)
    assert entry["kept"], entry
    before, after = (proven[side]["peak_bytes"] / 2**20 for side in ("before", "after"))
    assert after < 0.5 * before
    assert f"memory {before:.1f} MiB to {after:.1f} MiB" in entry["message"]
    assert (project / "program.py").read_text() == EDITED


def test_a_gain_that_is_not_seen_again_changes_nothing(project: Path, proven: dict[str, Any]) -> None:
    peak = proven["after"]["peak_bytes"]
    promised = {"before": {**proven["before"], "peak_bytes": peak + 2**20}, "after": {"peak_bytes": 2**20}}
    entry = applied(project, {**proven, **promised})
    assert not entry["kept"]
    assert "the gain was not seen again" in entry["message"]
    assert (project / "program.py").read_text() == PROGRAM


def test_what_is_not_worth_it_or_not_known_stays_advice(project: Path, proven: dict[str, Any]) -> None:
    speedup = {"median": 0.8, "low": 0.7, "high": 0.9, "level": 0.95}
    assert "trades time for memory" in applied(project, {**proven, "speedup": speedup})["message"]
    assert "trades time for memory" in applied(project, {**proven, "speedup": None})["message"]
    after = {**proven["after"], "peak_bytes": proven["before"]["peak_bytes"] - 1000}
    assert "less than 1 MiB" in applied(project, {**proven, "after": after})["message"]
    path = project / "program.py"
    for sites, reason in (
        ([f"{path}:1"], "no single call"),
        ([str(project / "other.py") + ":3"], "was not examined"),
    ):
        parameters = {**proven["parameters"], "sites": sites}
        assert reason in applied(project, {**proven, "parameters": parameters})["message"]
    assert path.read_text() == PROGRAM
