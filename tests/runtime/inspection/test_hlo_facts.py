"""What the optimised HLO says, against programs of which it is known: bytes, passes, copies, collectives, and their lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint_runtime import inspection
from jaxlint_runtime.inspection import explanations, hlo, traffic
from jaxlint_runtime.inspection.flops import count
from jaxlint_runtime.inspection.live_bytes import liveness, walk
from jaxlint_runtime.inspection.memory_timeline import timeline
from jaxlint_runtime.inspection.overview import overview
from jaxlint_runtime.inspection.work_by_line import work_by_line
from jaxlint_runtime.lowering import function_versions
from jaxlint_runtime.model import JitOptions
from jaxlint_runtime.targets import parse as parse_target

MIB = 2**20


def staged(function, *args, options=None):
    captured = function_versions.capture(function, *args, options=options)
    return function_versions.stage(
        function_versions.version_of(captured), function_versions.bind(captured), parse_target("cpu")
    )


def facts_of(function, *args, options=None):
    module = hlo.parse(staged(function, *args, options=options).text("hlo"))
    return explanations.facts(module, traffic.traffic(module))


def line_of(text):
    """The number of the line of this file that holds a text."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(
        number for number, line in enumerate(lines, start=1) if text in line and "line_of" not in line
    )


def scanned(w, x):
    def body(h, _):
        return jnp.tanh(h @ w), None  # the layer

    return jax.lax.scan(body, x, None, length=8)[0]


def loss(w, x):
    return jnp.sum(scanned(w, x) ** 2)


def trained(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)


SQUARE = jnp.ones((256, 256))


def test_loops_count_by_their_turns():
    module = hlo.parse(staged(scanned, SQUARE, SQUARE).text("hlo"))
    moved = traffic.traffic(module)
    assert moved.exact
    products = [k for k in moved.kernels if {"dot", "custom-call"} & traffic.fused(module, k.instruction)]
    assert sum(kernel.times for kernel in products) == 8
    # Each turn reads the carry and the weights and writes the carry, at least.
    assert moved.nbytes >= 8 * 3 * SQUARE.nbytes


def test_a_turn_that_is_not_known_is_said():
    def halved(x):
        return jax.lax.while_loop(lambda x: jnp.sum(x) > 1.0, lambda x: x @ x * 0.5, x)

    assert not traffic.traffic(hlo.parse(staged(halved, SQUARE).text("hlo"))).exact


def test_work_by_line_adds_up_to_the_whole_and_knows_the_passes():
    jaxpr = staged(trained, SQUARE, SQUARE).jaxpr
    work = work_by_line(jaxpr)
    assert sum(work.values()) == pytest.approx(count(jaxpr).flops)
    product = 2.0 * 256**3
    layer = line_of("# the layer")
    at_layer = {phase: flops for (place, phase), flops in work.items() if place and place[1] == layer}
    assert at_layer["forward"] == pytest.approx(8 * product, rel=0.02)
    assert at_layer["backward"] == pytest.approx(16 * product, rel=0.02)


def test_a_slice_of_a_large_array_is_not_all_of_it():
    large = jnp.ones((1024, 1024))

    def row(x, i):
        return jax.lax.dynamic_slice(x, (i, 0), (1, 1024)) * 2.0

    moved = traffic.traffic(hlo.parse(staged(row, large, 3).text("hlo")))
    assert moved.nbytes < 64 * 2**10


def test_an_update_in_place_writes_the_slice_alone():
    large = jnp.ones((1024, 1024))

    def write(x, i):
        return jax.lax.dynamic_update_slice(x, jnp.zeros((1, 1024)), (i, 0))

    moved = traffic.traffic(
        hlo.parse(staged(write, large, 3, options=JitOptions(donate_argnums=(0,))).text("hlo"))
    )
    assert moved.nbytes < 64 * 2**10
    kept = facts_of(write, large, 3)
    assert next(fact.kind for fact in kept) == "copy", "without donation the argument is copied first"
    assert kept[0].text == "copies the argument f32[1024,1024]"
    assert kept[0].nbytes == 2 * large.nbytes


def test_a_transpose_that_has_to_be_written_out():
    (fact,) = facts_of(lambda x: jnp.transpose(x, (2, 1, 0)), jnp.ones((64, 64, 64)))
    assert fact.kind == "transpose"
    assert fact.text == "transposes f32[64,64,64] in memory"
    assert fact.nbytes == 2 * MIB


def test_a_broadcast_that_is_written_out():
    found = facts_of(lambda x: jnp.broadcast_to(x, (1024, 256)), jnp.ones(256))
    assert [fact.kind for fact in found] == ["broadcast"]
    assert found[0].text == "writes out a broadcast to f32[1024,256]"


def test_a_value_between_two_products_says_where_it_goes():
    def two(x, w):
        h = x @ w  # the first product
        return h @ w  # the second product

    found = [fact for fact in facts_of(two, SQUARE, SQUARE) if fact.kind == "fusion"]
    assert len(found) == 1
    assert found[0].line == line_of("# the first product")
    assert f"line {line_of('# the second product')}" in found[0].text
    assert "from one matrix product to another" in found[0].text


def test_large_constants_and_calls_into_python():
    table = np.random.default_rng(0).standard_normal(64 * 1024, dtype=np.float32)

    def looked(x):
        jax.debug.callback(lambda s: None, jnp.sum(x))
        return x + table

    found = facts_of(looked, jnp.ones(64 * 1024))
    by_kind = {fact.kind: fact for fact in found}
    assert by_kind["constant"].nbytes == 256 * 1024
    assert "back into Python" in by_kind["call"].text


def test_gathers_are_told():
    found = facts_of(lambda x, i: x[i], jnp.ones((4096, 64)), jnp.arange(2048))
    assert "slice" in [fact.kind for fact in found]


_MANY = """
import json, sys
import jax, jax.numpy as jnp, numpy as np
from functools import partial
from jax.sharding import Mesh, PartitionSpec as P, NamedSharding
from jaxlint_runtime.inspection import hlo, traffic, explanations

def facts(f, *args):
    module = hlo.parse(jax.jit(f).lower(*args).compile().as_text())
    return [[f.kind, f.text, f.line, f.nbytes, f.count] for f in explanations.facts(module, traffic.traffic(module))]

mesh = Mesh(np.array(jax.devices()), ("d",))

@partial(jax.shard_map, mesh=mesh, in_specs=P("d"), out_specs=P())
def total(x):
    return jax.lax.psum(x * 2.0, "d")  # summed

double = facts(lambda x: jnp.cumsum(x * 2.0), np.ones((512, 512)))
print(json.dumps({"psum": facts(total, jnp.ones((4 * 128, 256))), "double": double}))
"""


def test_collectives_and_float64_on_simulated_devices(tmp_path):
    program = tmp_path / "many.py"
    program.write_text(textwrap.dedent(_MANY))
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "JAX_ENABLE_X64": "1",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    done = subprocess.run(
        [sys.executable, program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    line = next(n for n, text in enumerate(_MANY.splitlines(), start=1) if "# summed" in text)
    (summed,) = [fact for fact in found["psum"] if fact[0] == "collective"]
    assert summed == ["collective", "all-reduce of f64[128,256] between devices", line, 128 * 256 * 8, 1]
    assert "float64" in [fact[0] for fact in found["double"]]


@pytest.mark.parametrize("donated", [(), (True, False)])
def test_the_timeline_peaks_where_liveness_does(donated):
    jaxpr = staged(trained, SQUARE, SQUARE).jaxpr
    found = timeline(jaxpr, donated)
    assert found.peak == liveness(jaxpr, donated).total == max(found.nbytes)
    assert found.nbytes[found.peak_index] == found.peak
    assert max(moment.nbytes for moment in walk(jaxpr, donated)) == found.peak
    assert {"forward", "backward", "other"} <= set(found.phases)
    assert sum(value.nbytes for value in found.alive) <= found.peak


def test_a_timeline_of_a_program_that_does_nothing():
    found = timeline(jax.make_jaxpr(lambda x: x)(SQUARE))
    assert (found.peak, found.nbytes, found.alive) == (SQUARE.nbytes, (SQUARE.nbytes,), ())


def test_the_overview_of_a_step():
    found = overview(staged(trained, SQUARE, SQUARE))
    assert found["flops"]["backward"] == pytest.approx(2 * found["flops"]["forward"], rel=0.1)
    assert sum(found["flops"].values()) == pytest.approx(
        inspection.cost(staged(trained, SQUARE, SQUARE)).flops
    )
    assert found["matmul_dtype"] == "float32"
    assert found["hlo"]["kernels"] <= found["hlo"]["launches"]
    assert found["lines"][0]["line"] == line_of("# the layer")
    assert len(found["memory"]["bytes"]) == len(found["memory"]["phases"])


def test_text_that_is_no_hlo_is_an_empty_program():
    module = hlo.parse("this is not HLO\n  %x = broken\n}\n")
    assert traffic.traffic(module).nbytes == 0
    assert explanations.facts(module, traffic.traffic(module)) == []


@pytest.mark.parametrize(
    ("text", "dtype", "nbytes", "space"),
    [
        ("f32[64,128]{1,0:T(8,128)S(1)}", "f32", 64 * 128 * 4, 1),
        ("bf16[2,3]", "bf16", 12, 0),
        ("pred[]", "pred", 1, 0),
        ("s4[10]{0}", "s4", 5, 0),
        ("f8e4m3fn[16]", "f8e4m3fn", 16, 0),
        ("c64[4]", "c64", 32, 0),
        ("f32[<=8,2]", "f32", 64, 0),
    ],
)
def test_shapes(text, dtype, nbytes, space):
    (shape,) = hlo.shapes_of(text)
    assert (shape.dtype, shape.nbytes, shape.space) == (dtype, nbytes, space)
