"""The transform: where norms, gated units and epilogues may win they are tried on the target, elsewhere the reason is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from jaxlint_runtime.lowering.function_versions import capture
from jaxlint_runtime.proof.optimise import Settings, optimise
from jaxlint_runtime.targets import parse

R, D, F, LAYERS = 512, 256, 512, 4


def loss(params, x):
    def layer(x, weights):
        scale, gate, up, down = weights
        h = x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale
        return x + (jax.nn.silu(h @ gate) * (h @ up)) @ down, None

    return jnp.mean(jax.lax.scan(layer, x, params)[0] ** 2)


def gradient(params, x):
    return jax.grad(loss)(params, x)


def operands():
    keys = jax.random.split(jax.random.key(0), 4)
    sizes = ((D, F), (D, F), (F, D))
    tables = [
        jax.random.normal(key, (LAYERS, *size)) / size[0] ** 0.5
        for key, size in zip(keys, sizes, strict=False)
    ]
    return (jnp.ones((LAYERS, D)), *tables), jax.random.normal(keys[3], (R, D))


def results(function, *arguments, target="cpu"):
    asked = Settings(target=target, transforms=("fusions",), seconds=1.0)
    return {result.candidate: result for result in optimise(capture(function, *arguments), asked)}


def test_on_a_cpu_it_says_what_it_found_and_why_nothing_is_tried():
    (found,) = results(gradient, *operands()).values()
    assert found.status == "not-applicable"
    assert "the RMS norm at" in found.reason
    assert "the gated linear unit (silu) at" in found.reason
    assert "XLA fuses them on a CPU" in found.reason


def test_a_program_without_any_says_so():
    (found,) = results(lambda x: x @ x, jnp.ones((8, 8))).values()
    assert (
        found.reason
        == "the function computes no norm, softmax, gated linear unit or product with an activation"
    )


@pytest.mark.targets
@pytest.mark.slow
def test_scanned_layers_keep_less_on_a_tpu_that_is_not_there():
    pytest.importorskip("libtpu", reason="needs the extra tpu", exc_type=ImportError)
    code = """
import sys, json
sys.path.insert(0, sys.argv[1])
from test_fusions import gradient, loss, operands, results
import jax
shown = {"loss": [[r.status, r.reason] for r in results(jax.nn.softmax, jax.numpy.ones((2048, 2048)), target="tpu:v5e-1x1").values()]}
for name, result in results(gradient, *operands(), target="tpu:v5e-1x1").items():
    shown[name] = [result.status, result.reason, result.evidence, result.before.peak_bytes, result.after.peak_bytes]
print(json.dumps(shown))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)],
        env={**os.environ, **parse("tpu:v5e-1x1").environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    shown = json.loads(done.stdout.splitlines()[-1])
    ((status, reason),) = shown.pop("loss")
    assert status == "not-applicable"
    assert "XLA's own version takes no more memory" in reason
    for implementation in ("pallas", "recomputed"):
        status, reason, evidence, before, after = shown[f"fusions:gated_units:{implementation}"]
        assert status == "compiled", reason
        assert after < 0.9 * before
        assert ("interpreted" in evidence) == (implementation == "pallas")
