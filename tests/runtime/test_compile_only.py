"""Compiling for devices that are not there: memory, what fits, kinds of time, several chips. `make test-targets` runs it."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from jaxlint_runtime.targets import parse

pytestmark = [pytest.mark.targets, pytest.mark.slow]
MIB, GIB = 2**20, 2**30
COMPILERS = {"tpu": ("libtpu",), "gpu": ("jax_cuda12_plugin", "jax_cuda13_plugin")}

# Costs of programs whose figures are known, for the target that is its argument.
LOOK = """
import json, sys
import jax, jax.numpy as jnp
from jaxlint_runtime.lowering import function_versions
from jaxlint_runtime.inspection.overview import overview
from jaxlint_runtime.protocol.json_records import to_plain
from jaxlint_runtime.targets import parse

target = parse(sys.argv[1])

def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(q.dtype), v)

def loop(w, x):
    return jax.lax.scan(lambda h, _: (jnp.tanh(h @ w), None), x, None, length=10)[0]

def update(w, g):
    return jax.tree.map(lambda w, g: w - 0.1 * g, w, g)

def look(function, *shapes, dtype=jnp.float32, options=None):
    # The values are never computed, so that nothing of the size is made here.
    avals = [jax.ShapeDtypeStruct(shape, dtype) for shape in shapes]
    options = options or function_versions.JitOptions()
    captured = function_versions.CapturedFunction(
        function.__name__, __file__ if "__file__" in globals() else "<look>", 1, function, None, options,
        call=function_versions.CapturedCall(tuple(avals), {}, (tuple(avals), {})),
    )
    staged = function_versions.stage(function_versions.version_of(captured), function_versions.bind(captured), target)
    return to_plain(overview(staged))

found = {
    "update": look(update, (4096, 4096), (4096, 4096)),
    "donated": look(update, (4096, 4096), (4096, 4096), options=function_versions.JitOptions(donate_argnums=(0,))),
}
if target.chips == 1:
    found["loop"] = look(loop, (2048, 2048), (2048, 2048))
if target.name in ("tpu:v5e-1x1", "gpu:h100x1"):
    found["attention"] = look(attention, *[(4, 4096, 8, 128)] * 3, dtype=jnp.bfloat16)
if target.chip == "v5e" and target.chips == 1:
    found["huge"] = look(attention, *[(64, 4096, 16, 128)] * 3)
    from jax.experimental.pallas.ops.tpu.flash_attention import flash_attention
    found["kernel"] = look(flash_attention, *[(4, 8, 4096, 128)] * 3, dtype=jnp.bfloat16)
if target.name == "gpu:h100x1":
    def cudnn(q, k, v):
        return jax.nn.dot_product_attention(q, k, v, implementation="cudnn")
    found["kernel"] = look(cudnn, *[(4, 4096, 8, 128)] * 3, dtype=jnp.bfloat16)
for one in found.values():
    one.pop("memory")
print(json.dumps(found))
"""


@functools.cache
def look(name: str) -> dict[str, Any]:
    target = parse(name)
    if not any(importlib.util.find_spec(package) for package in COMPILERS[target.platform]):
        pytest.skip(f"needs the extra {target.platform}")
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, **target.environment, "PYTHONPATH": paths}
    command = [sys.executable, "-c", LOOK, name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_attention_on_one_v5e():
    cost = look("tpu:v5e-1x1")["attention"]["cost"]
    assert cost["peak_bytes"] == pytest.approx(1184 * MIB, rel=0.05)
    assert cost["flops"] == pytest.approx(4 * 4 * 8 * 4096 * 4096 * 128, rel=0.05)
    assert (cost["time_kind"], cost["fits"]) == ("compiler", None)
    assert 1 < cost["time_ms"]["median"] < 50


def test_attention_on_one_h100():
    cost = look("gpu:h100x1")["attention"]["cost"]
    assert cost["peak_bytes"] == pytest.approx(3232 * MIB, rel=0.35)
    assert cost["time_kind"] == "roofline"
    assert 0.1 < cost["time_ms"]["median"] < 50


def test_a_program_that_is_too_big_says_what_it_needs():
    cost = look("tpu:v5e-1x1")["huge"]["cost"]
    assert cost["fits"] is False
    assert cost["peak_bytes"] > 32 * GIB
    assert cost["time_ms"] is None


@pytest.mark.parametrize("name", ["tpu:v5e-1x1", "gpu:h100x1"])
def test_there_is_no_time_where_a_kernel_is_called(name):
    found = look(name)["kernel"]
    assert found["cost"]["time_ms"] is None
    assert found["hlo"]["custom_calls"]
    assert found["cost"]["peak_bytes"] < 256 * MIB


@pytest.mark.parametrize("name", ["tpu:v5e-1x1", "gpu:a100x1", "gpu:a100-80gbx1"])
def test_the_time_of_a_loop_is_a_bound(name):
    cost = look(name)["loop"]["cost"]
    assert cost["time_kind"] == "roofline"
    chip = {"tpu:v5e-1x1": 197e12}.get(name, 156e12)
    assert cost["time_ms"]["median"] >= 1e3 * 10 * 2 * 2048**3 / chip * 0.99


@pytest.mark.parametrize(
    "name", ["tpu:v5e-1x1", "tpu:v5e-2x2", "tpu:v6e-1x1", "tpu:v5p-2x2x1", "gpu:h100x1", "gpu:h100x4"]
)
def test_donation_shows_on_every_target(name):
    found = look(name)
    plain, donated = (found[key]["cost"]["peak_bytes"] for key in ("update", "donated"))
    assert plain == pytest.approx(3 * 64 * MIB, rel=0.1)
    assert donated == pytest.approx(2 * 64 * MIB, rel=0.1)
    assert found["update"]["bytes"] == {"other": pytest.approx(3 * 64 * MIB, rel=0.1)}


def test_a_mesh_is_compiled_for_its_topology_and_nothing_is_verified(tmp_path):
    if any(importlib.util.find_spec(name) is None for name in COMPILERS["tpu"]):
        pytest.skip("libtpu is not installed")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text(MESHED)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "jaxlint", "verify", "-q", "--calls", "2", "--timing", "5"),
            *("--mesh", "data=4,model=2", "--target", "tpu:v5e-2x4", "--output-format", "json", "train.py"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    run = json.loads(done.stdout)["runs"][0]
    assert run["results"][0]["status"] == "compiled"
    assert "not run there" in run["results"][0]["evidence"]
    placements = run["sharding"][0]["placements"]
    plain = next(one for one in placements if one["name"] == "data parallel")
    # A ring of 4 sends 1.5 times the gradients.
    assert plain["sent_bytes"] == pytest.approx(1.5 * 4 * (2 * 256 * 1024), rel=0.05)
    chosen = next(one for one in placements if one["chosen"])
    assert chosen["peak_bytes"] < plain["peak_bytes"]
    assert any("a ring over data takes 6 links" in line for line in run["sharding"][0]["advice"])


MESHED = """
import jax, jax.numpy as jnp
import numpy as np

def loss(params, x):
    return ((jax.nn.relu(x @ params["up"]) @ params["down"]) ** 2).mean()

@jax.jit
def step(params, x):
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, x))

params = {"up": np.ones((256, 1024), np.float32), "down": np.ones((1024, 256), np.float32)}
for _ in range(3):
    params = step(params, np.ones((64, 256), np.float32))
"""
