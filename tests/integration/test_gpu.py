"""verify on a GPU that is there: `make gpu` runs these, and nothing else does.

What only a device can show: that processes share its memory, that times and memory are its own, that TF32 products and sums
in another order are not called differences, and that a compiler without a device plans what the device then needs.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command_line import jaxlint

pytestmark = [pytest.mark.gpu, pytest.mark.slow]
ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "benchmarks" / "optimise" / "programs"
GIB = 2**30

# 256 MiB of parameters and 512 MiB of moments: the update moves memory and computes nothing
OPTIMIZER = """
import jax
import jax.numpy as jnp
import optax

optimizer = optax.adam(1e-3)


def loss_fn(params, batch):
    return jnp.mean((batch @ params["embedding"] - 1.0) ** 2)


@jax.jit
def train_step(params, state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


def main():
    params = {"embedding": jax.random.normal(jax.random.key(0), (2**13, 2**13))}
    state = optimizer.init(params)
    batch = jax.random.normal(jax.random.key(1), (16, 2**13))
    for step in range(30):
        params, state, loss = train_step(params, state, batch)
        print(f"step {step} loss {float(loss):.3f}")


main()
"""

# products in float32 that tensor cores compute in TF32, and a sum whose order is not fixed
UNORDERED = """
import jax
import jax.numpy as jnp


@jax.jit
def step(table, rows, values):
    moved = table.at[rows].add(values @ values.T @ values)
    return 0.9 * moved, jnp.sum(moved)


def main():
    keys = jax.random.split(jax.random.key(0), 2)
    table = jnp.zeros((512, 256))
    rows = jax.random.randint(keys[0], (8192,), 0, 512)
    values = jax.random.normal(keys[1], (8192, 256)) / 16
    for _ in range(30):
        table, total = step(table, rows, values)
    print(f"{float(total):.1f}")


main()
"""


# wide products in float32, and activations that are larger than the parameters
DEEP = """
import jax
import jax.numpy as jnp


def layer(weights, x):
    return x + jnp.tanh(jax.nn.gelu(x @ weights) + 1.0)


def loss_fn(params, x):
    for weights in params:
        x = layer(weights, x)
    return jnp.mean(x**2)


@jax.jit
def train_step(params, x):
    loss, grads = jax.value_and_grad(loss_fn)(params, x)
    return [p - 1e-3 * g for p, g in zip(params, grads)], loss


def main():
    keys = jax.random.split(jax.random.key(0), 7)
    params = [jax.random.normal(key, (2048, 2048)) / 64 for key in keys[1:]]
    x = jax.random.normal(keys[0], (16384, 2048))
    for _ in range(25):
        params, loss = train_step(params, x)
    print(f"{float(loss):.3f}")


main()
"""


def report_of(folder: Path, *arguments: str, timeout: float = 300) -> dict[str, Any]:
    """The report of `jaxlint verify` on the GPU."""
    done = jaxlint("verify", "-q", "--output-format", "json", *arguments, cwd=folder, timeout=timeout)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def result(report: dict[str, Any], candidate: str) -> dict[str, Any]:
    """The one result of a candidate."""
    (found,) = [one for run in report["runs"] for one in run["results"] if one["candidate"] == candidate]
    return found


def test_targets_name_the_gpu(tmp_path: Path) -> None:
    done = jaxlint("targets", "--output-format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (gpu,) = [row for row in json.loads(done.stdout)["targets"] if row["name"] == "gpu"]
    assert gpu["available"]
    assert "NVIDIA" in gpu["detail"]


def test_donation_is_proven_on_the_gpu_and_written(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OPTIMIZER)
    report = report_of(tmp_path, "--transform", "donation", "--timing", "0.5", "--apply", "train.py")
    (run,) = report["runs"]
    assert run["target"] == "gpu"
    assert "NVIDIA" in run["device"]
    donated = result(report, "donation")
    assert donated["status"] == "verified", donated["reason"]
    saved = donated["before"]["peak_bytes"] - donated["after"]["peak_bytes"]
    assert saved > 0.45 * GIB, donated["reason"]
    assert "donate_argnums=(0, 1)" in (tmp_path / "train.py").read_text(), report["applied"]


def test_tf32_and_sums_without_an_order_are_not_differences(tmp_path: Path) -> None:
    (tmp_path / "scatter.py").write_text(UNORDERED)
    report = report_of(tmp_path, "--transform", "donation", "--timing", "0.3", "scatter.py")
    donated = result(report, "donation")
    assert donated["numerics"]["passed"], donated["reason"]


def test_bfloat16_products_gain_time_and_rematerialisation_memory(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(DEEP)
    report = report_of(
        tmp_path,
        "--transform",
        "bf16",
        "--transform",
        "remat",
        "--timing",
        "0.5",
        "--budget",
        "120s",
        "train.py",
    )
    bf16 = result(report, "bf16")
    assert bf16["status"] == "verified", bf16["reason"]
    assert bf16["speedup"]["low"] > 1.0
    nothing = result(report, "remat:nothing_saveable")
    assert nothing["numerics"]["passed"], nothing["reason"]
    assert nothing["after"]["peak_bytes"] < 0.7 * nothing["before"]["peak_bytes"]


@pytest.mark.parametrize("name", ["cudnn", "mha", "dot_product_attention", "chunked"])
def test_attention_kernels_agree(name: str) -> None:
    import jax
    import jax.numpy as jnp
    import numpy as np

    from jaxlint_runtime.kernels.attention_operands import Operands, Spec
    from jaxlint_runtime.kernels.implementations.attention_choices import choices
    from jaxlint_runtime.targets import parse

    (choice,) = [one for one in choices(parse("gpu")) if one.name == name]
    given = [
        jax.random.normal(key, (2, 4, 512, 64), jnp.bfloat16)
        for key in jax.random.split(jax.random.key(0), 3)
    ]

    def written(q: Any, k: Any, v: Any) -> Any:
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k).astype(jnp.float32) / 8
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
        return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores).astype(q.dtype), v)

    def chosen(q: Any, k: Any, v: Any) -> Any:
        return choice.run(Operands(q, k, v), Spec(1 / 8, True))

    for wrap in (
        lambda f: f,
        lambda f: jax.grad(lambda *a: f(*a).astype(jnp.float32).sum(), argnums=(0, 1, 2)),
    ):
        expected, found = (jax.tree.leaves(jax.jit(wrap(f))(*given)) for f in (written, chosen))
        for one, two in zip(expected, found, strict=True):
            one, two = np.asarray(one, np.float32), np.asarray(two, np.float32)
            assert np.linalg.norm(one - two) <= 0.03 * np.linalg.norm(one)


def test_edits_of_a_program_are_proven_on_the_gpu(tmp_path: Path) -> None:
    """Each eager operation is a kernel of its own: compiling them as one gains on any GPU."""
    shutil.copy(PROGRAMS / "gp" / "naive.py", tmp_path / "train.py")
    report = report_of(tmp_path, "--budget", "150s", "--apply", "train.py")
    assert any(entry["kept"] for entry in report["applied"]), report["applied"]
    assert "jax.jit" in (tmp_path / "train.py").read_text()
