"""The transform: attention of a program is found, replaced, checked, and reported with the figures of its target."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from flax import nnx

from jaxlint_runtime.lowering.function_versions import capture
from jaxlint_runtime.proof.optimise import Settings, optimise
from jaxlint_runtime.targets import parse


def attention(q, k, v):
    logits = jnp.einsum("bhtd,bhsd->bhts", q, k) / jnp.sqrt(q.shape[-1]).astype(q.dtype)
    return jnp.einsum("bhts,bhsd->bhtd", jax.nn.softmax(logits, axis=-1), v)


def loss(params, q, k, v):
    return jnp.mean(attention(q @ params, k, v).astype(jnp.float32) ** 2)


def step(params, q, k, v):
    value, gradient = jax.value_and_grad(loss)(params, q, k, v)
    return params - 0.1 * gradient, value


def operands(time, dtype=jnp.float32, heads=2):
    keys = jax.random.split(jax.random.key(0), 3)
    return [jax.random.normal(key, (1, heads, time, 64), dtype) for key in keys]


def results(function, *arguments, target="cpu", **settings):
    asked = Settings(target=target, transforms=("kernels",), seconds=1.0, **settings)
    return {result.candidate: result for result in optimise(capture(function, *arguments), asked)}


def test_a_training_step_keeps_no_scores():
    """The attention is inside what is differentiated, so that its backward pass is replaced, too."""
    params = 0.1 * jax.random.normal(jax.random.key(1), (64, 64))
    found = results(step, params, *operands(768))["kernels:chunked"]
    assert found.before is not None, found
    assert found.after is not None
    assert found.numerics.passed
    assert found.after.temp_bytes < 0.7 * found.before.temp_bytes
    (facts,) = found.parameters["attentions"]
    assert facts["queries"] == [1, 2, 768, 64]
    assert facts["site"].endswith(":22")


class Layer(nnx.Module):
    def __init__(self):
        self.table = nnx.Param(0.1 * jax.random.normal(jax.random.key(1), (64, 64)))

    def __call__(self, q, k, v):
        return loss(self.table[...], q, k, v)


def test_what_nnx_differentiates_is_called_but_once():
    """It hands its modules to the derivative on a stack, which a second call would find empty."""
    shape, state = nnx.split(Layer())

    def by_nnx(state, q, k, v):
        model = nnx.merge(shape, state)
        value, gradient = nnx.value_and_grad(lambda m: m(q, k, v))(model)
        return jax.tree.map(lambda p, g: p - 0.1 * g, state, gradient), value

    found = results(by_nnx, state, *operands(768))["kernels:chunked"]
    assert found.after is not None, found.reason
    assert found.numerics.passed


def test_what_it_would_not_gain_is_not_tried():
    (found,) = results(attention, *operands(16)).values()
    assert found.status == "not-applicable"
    assert "only" in found.reason


def test_dropout_is_named_as_the_reason():
    def dropped(q, k, v, key):
        weights = jax.nn.softmax(jnp.einsum("bhtd,bhsd->bhts", q, k))
        keep = jax.random.bernoulli(key, 0.9, weights.shape)
        return jnp.where(keep, weights / 0.9, 0.0) @ v

    (found,) = results(dropped, *operands(256), jax.random.key(0)).values()
    assert found.status == "not-applicable"
    assert "dropout on the attention weights" in found.reason


def test_a_program_without_attention_says_so():
    (found,) = results(lambda x: x @ x, jnp.ones((64, 64))).values()
    assert found.reason == "the function computes no attention"


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="needs the extra `tpu`")
def test_attention_and_its_gradient_for_a_tpu_that_is_not_there():
    code = """
import sys, json
sys.path.insert(0, sys.argv[1])
import jax, jax.numpy as jnp
from test_attention_kernels import attention, operands, results
def gradient(q, k, v):
    return jax.grad(lambda *given: jnp.sum(attention(*given).astype(jnp.float32) ** 2), (0, 1, 2))(q, k, v)
shown = {}
for function in (attention, gradient):
    found = results(function, *operands(1024, jnp.bfloat16), target="tpu:v5e-1x1")
    for name, result in found.items():
        assert result.status == "compiled", (name, result.status, result.reason)
        assert result.before.time_ms is None and result.after.time_ms is None, name
        shown[f"{function.__name__} {name}"] = [
            result.before.peak_bytes, result.after.peak_bytes, result.after.flops is None, result.evidence]
print(json.dumps(shown))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)],
        env={**__import__("os").environ, **parse("tpu:v5e-1x1").environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    shown = json.loads(done.stdout.splitlines()[-1])
    for name in ("flash_attention", "jaxlint_flash"):
        before, after, silent, evidence = shown[f"attention kernels:{name}"]
        assert after < 0.52 * before
        assert silent, "the FLOPs of a kernel are only what its author declared"
        assert "interpreted on this CPU" in evidence
        before, after, *_ = shown[f"gradient kernels:{name}"]
        assert after < 0.75 * before
