"""A proven rematerialisation of scan bodies is written to the source, after the edited program was compiled again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jaxlint.engine import CheckResult
from jaxlint.finding import FixRequest
from jaxlint.source import read_source
from jaxlint_runtime.apply import apply_proven
from jaxlint_runtime.apply.written_remat import remat_fix
from jaxlint_runtime.protocol.json_records import to_plain
from jaxlint_runtime.request import Request
from jaxlint_runtime.run import Listener
from jaxlint_runtime.targets import parse
from jaxlint_runtime.transforms.remat import keeps_recomputation
from jaxlint_runtime.verify import Verification
from tests.helpers.training_programs import run
from tests.helpers.worker_runs import imported, moved, project_of

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
    return project_of(tmp_path, PROGRAM, monkeypatch)


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


def proven_of(project: Path) -> dict[str, Any]:
    """The result of the optimiser, as if it had been timed as just as fast."""
    path = project / "program.py"
    module = imported(path, "scanned_program")
    step = module.step.__wrapped__
    found = run(step, module.params, module.x, transforms=("remat",), measure=False)
    result: dict[str, Any] = to_plain(found["remat:nothing_saveable"])
    text = path.read_text()
    line = text[: text.index("@jax.jit")].count("\n") + 1
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
    apply_proven.apply_proven(found, allow_dirty=True)
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


BLOCKS = """import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(64)(jnp.sin(jnp.tanh(nn.Dense(64)(x))))


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(6):
            x = Block()(x)
        return x


@jax.jit
def step(params, x):
    grads = jax.grad(lambda params: jnp.mean(Net().apply(params, x) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


x = jnp.ones((4096, 64))
params = Net().init(jax.random.key(0), x[:1])
if __name__ == "__main__":
    for _ in range(3):
        params = step(params, x)
"""


RECURRENT = """import haiku as hk
import jax
import jax.numpy as jnp


def network(x):
    linear = hk.Linear(64)

    def turn(h, row):
        return h + jnp.tanh(jnp.sin(linear(h)) * row), None

    h, _ = hk.scan(turn, jnp.zeros_like(x[0]), x)
    return jnp.mean(h**2)


model = hk.without_apply_rng(hk.transform(network))


@jax.jit
def step(params, x):
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(model.apply)(params, x))


x = jnp.ones((32, 256, 64))
params = model.init(jax.random.key(0), x)
if __name__ == "__main__":
    for _ in range(3):
        params = step(params, x)
"""


def test_the_body_of_a_scan_of_haiku_is_wrapped_by_its_remat(project: Path) -> None:
    (project / "program.py").write_text(RECURRENT)
    result = proven_of(project)
    assert result["codemod"] == "checkpoint-scan-body"
    entry = applied(project, result)
    assert entry["kept"], entry
    edited = RECURRENT.replace("scan(turn,", "scan(hk.remat(turn, prevent_cse=False),")
    assert (project / "program.py").read_text() == edited


def test_the_call_of_the_block_is_found_and_wrapped(project: Path) -> None:
    (project / "program.py").write_text(BLOCKS)
    result = proven_of(project)
    assert result["codemod"] == "remat-call"
    assert result["parameters"]["blocks"] == 6
    if not keeps_recomputation(parse("cpu")):  # jax 0.10 on CPU: as if the compiler had kept it
        costs = {"before": {"peak_bytes": 21 * 2**20}, "after": {"peak_bytes": 2**20}}
        entry = applied(project, {**result, **costs})
        assert "less than half of the gain" in entry["message"]
        assert (project / "program.py").read_text() == BLOCKS
        return
    entry = applied(project, result)
    assert entry["kept"], entry
    assert "x = nn.remat(lambda block, x: block(x))(Block(), x)" in (project / "program.py").read_text()


def test_time_is_traded_where_the_function_fits_only_so(project: Path, proven: dict[str, Any]) -> None:
    sources = {str(project / "program.py"): read_source(project / "program.py", str(project / "program.py"))}
    slow = {**proven, "speedup": {"median": 0.8, "low": 0.7, "high": 0.9, "level": 0.95}}
    peaks = [proven[side]["peak_bytes"] for side in ("before", "after")]
    assert isinstance(remat_fix(slow, sources, sum(peaks) // 2), FixRequest)
    for limit in (None, peaks[0] + 1, peaks[1] - 1):
        assert "costs time" in str(remat_fix(slow, sources, limit))


def test_a_gain_that_is_not_seen_again_changes_nothing(project: Path, proven: dict[str, Any]) -> None:
    peak = proven["after"]["peak_bytes"]
    promised = {"before": {**proven["before"], "peak_bytes": peak + 2**20}, "after": {"peak_bytes": 2**20}}
    entry = applied(project, {**proven, **promised})
    assert not entry["kept"]
    assert "less than half of the gain" in entry["message"]
    assert (project / "program.py").read_text() == PROGRAM


def test_what_is_not_worth_it_or_not_known_stays_advice(project: Path, proven: dict[str, Any]) -> None:
    speedup = {"median": 0.8, "low": 0.7, "high": 0.9, "level": 0.95}
    assert "costs time" in applied(project, {**proven, "speedup": speedup})["message"]
    assert "costs time" in applied(project, {**proven, "speedup": None})["message"]
    after = {**proven["after"], "peak_bytes": proven["before"]["peak_bytes"] - 1000}
    assert "less than 1 MiB" in applied(project, {**proven, "after": after})["message"]
    path = project / "program.py"
    for sites, reason in (
        ([f"{path}:1"], "does not hold exactly one"),
        ([str(project / "other.py") + ":3"], "was not checked"),
    ):
        parameters = {**proven["parameters"], "sites": sites}
        assert reason in applied(project, {**proven, "parameters": parameters})["message"]
    assert path.read_text() == PROGRAM
