"""Flash attention by Triton for NVIDIA GPUs: whether it is tried, its values by Triton's interpreter, compiled without a GPU."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint_runtime.kernels.attention_operands import Operands, Spec
from jaxlint_runtime.kernels.implementations import (
    attention_choices,
    plain_definitions,
    small_check,
    triton_flash,
    triton_interpreter,
)
from jaxlint_runtime.targets import parse
from tests.helpers.drawn_attentions import attentions

MIB = 2**20
needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("jax_triton") is None, reason="needs jax-triton (extra `triton`)"
)

COMPILED = """
import json, sys
import jax, jax.numpy as jnp
from jaxlint_runtime.kernels.implementations import triton_flash
from jaxlint_runtime.kernels.attention_operands import Operands, Spec
from jaxlint_runtime.targets import parse

target = parse(sys.argv[1])
sharding = jax.sharding.SingleDeviceSharding(target.devices()[0])

def attention(*given):
    return triton_flash.attention(Operands(*given), Spec(0.1, True), capability=target.capability)

def gradient(*given):
    return jax.grad(lambda *given: attention(*given).astype(jnp.float32).sum(), (0, 1, 2))(*given)

found = {}
given = [jax.ShapeDtypeStruct((4, 8, 4096, 128), jnp.bfloat16, sharding=sharding)] * 3
for function in (attention, gradient):
    compiled = jax.jit(function).lower(*given).compile()
    memory = compiled.memory_analysis()
    found[function.__name__] = {
        "bytes": memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes,
        "kernels": compiled.as_text().count('custom_call_target="triton_kernel_call"'),
    }
print(json.dumps(found))
"""


def drawn(*shapes, dtype=jnp.float32):
    generator = np.random.default_rng(0)
    return [jnp.asarray(generator.normal(size=shape), dtype) for shape in shapes]


@pytest.mark.parametrize("there", [True, False])
def test_it_is_tried_where_it_is_installed(monkeypatch, there):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: (object() if there else None) if name == "jax_triton" else found(name),
    )
    one = next(
        choice for choice in attention_choices.choices(parse("gpu:h100x1")) if choice.name == "triton_flash"
    )
    assert one.missing == (None if there else "not installed: pip install jax-triton")
    assert one.run.keywords == {"capability": 90}
    assert "triton_flash" not in [choice.name for choice in attention_choices.choices(parse("tpu:v5e-1x1"))]


def test_what_the_kernels_are_given(monkeypatch):
    """Grids, shapes and constants of the three launches, each computed here by its definition."""
    operands = Operands(
        *drawn((2, 4, 50, 8), (2, 2, 50, 8), (2, 2, 50, 24)), jnp.arange(50)[None, None, None] % 5 > 0
    )
    spec, seen = Spec(0.3, True, 2.0), {}

    def plain(queries, keys, values):
        return plain_definitions.attention(Operands(queries, keys, values, operands.mask), spec)

    def launch(kernel, grid, given, shapes, constants):
        seen[kernel[1]] = (grid, [shape.shape for shape in shapes], constants)
        if kernel[1] == "forward":
            return [np.asarray(plain(*given[:3])), np.zeros(shapes[1].shape, shapes[1].dtype)]
        by_queries, *others = jax.vjp(plain, *given[:3])[1](given[4])
        return [np.asarray(each) for each in ([by_queries] if kernel[1] == "backward_queries" else others)]

    monkeypatch.setattr(triton_interpreter, "launch", launch)
    small_check.checked("triton", triton_flash.attention, operands, spec, triton_flash.interpreted)
    assert {name: (grid, shapes) for name, (grid, shapes, _) in seen.items()} == {
        "forward": ((2, 8), [(2, 4, 50, 24), (2, 4, 2, 50)]),
        "backward_queries": ((2, 8), [(2, 4, 50, 8)]),
        "backward_keys": ((2, 4), [(2, 2, 50, 8), (2, 2, 50, 24)]),
    }
    told = seen["forward"][2]
    assert (told["bias_step"], told["groups"], told["masked"], told["BD"], told["BE"]) == (
        (0, 0, 0, 1),
        2,
        True,
        16,
        32,
    )


@pytest.mark.targets
@pytest.mark.slow
@needs_triton
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_values_and_gradients_by_the_interpreter(dtype):
    """Grouped heads, a mask that is broadcast, a cap, lengths that fill no block."""
    given = drawn((1, 2, 70, 16), (1, 1, 70, 16), (1, 1, 70, 8), dtype=dtype)
    operands = Operands(*given, jnp.arange(70)[None, None, None] % 5 > 0)
    small_check.checked(
        "triton", triton_flash.attention, operands, Spec(0.5, True, 4.0), triton_flash.interpreted
    )


@pytest.mark.targets
@pytest.mark.slow
@needs_triton
def test_any_attention_by_the_interpreter():
    """Layouts, masks and biases as for the project's kernel for TPU."""
    from hypothesis import given, settings

    @settings(max_examples=6, deadline=None, derandomize=True)
    @given(attentions())
    def agrees(drawn):
        operands, spec = drawn
        small_check.checked("triton", triton_flash.attention, operands, spec, triton_flash.interpreted)

    agrees()


@pytest.mark.targets
@pytest.mark.slow
@needs_triton
@pytest.mark.skipif(importlib.util.find_spec("jax_cuda13_plugin") is None, reason="needs the extra `gpu`")
@pytest.mark.parametrize("name", ["gpu:h100x1", "gpu:a100x1"])
def test_it_is_compiled_for_a_gpu_that_is_not_there(name):
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, **parse(name).environment, "PYTHONPATH": paths}
    command = [sys.executable, "-c", COMPILED, name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["attention"] == {"bytes": pytest.approx(129 * MIB, rel=0.02), "kernels": 1}
    assert found["gradient"] == {"bytes": pytest.approx(226 * MIB, rel=0.02), "kernels": 3}
