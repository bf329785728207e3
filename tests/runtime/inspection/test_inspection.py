"""Facts of staged programs against programs whose facts are known."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint_runtime import inspection
from jaxlint_runtime.inspection.memory import compiler_cost
from jaxlint_runtime.inspection.updates import updates
from jaxlint_runtime.lowering import function_versions
from jaxlint_runtime.model import JitOptions
from jaxlint_runtime.proof.optimise import Settings, optimise
from jaxlint_runtime.targets import parse

square = jnp.ones((64, 64))


def staged(function, *args, options=None):
    captured = function_versions.capture(function, *args, options=options)
    return function_versions.stage(
        function_versions.version_of(captured), function_versions.bind(captured), parse("cpu")
    )


def work(function, *args):
    return inspection.count(jax.make_jaxpr(function)(*args))


PRODUCT = 2.0 * 64**3


@pytest.mark.parametrize(
    ("function", "flops"),
    [
        pytest.param(lambda x: x @ x, PRODUCT, id="a product"),
        pytest.param(lambda x: jnp.einsum("ij,kj->ik", x, x), PRODUCT, id="a transposed product"),
        pytest.param(
            lambda x: jax.vmap(jnp.dot, (None, 0))(x, jnp.stack([x] * 3)), 3 * PRODUCT, id="a batch"
        ),
        pytest.param(
            lambda x: jax.lax.scan(lambda c, _: (c @ x, None), x, length=7)[0], 7 * PRODUCT, id="a scan"
        ),
        pytest.param(
            lambda x: jax.lax.scan(
                lambda c, _: (jax.lax.fori_loop(0, 3, lambda i, c: c @ x, c), None), x, length=2
            )[0],
            6 * PRODUCT,
            id="a loop in a scan",
        ),
        pytest.param(lambda x: jax.jit(lambda y: y @ y)(x), PRODUCT, id="a call"),
        pytest.param(
            lambda x: jax.lax.cond(x[0, 0] > 0, lambda y: y @ y, lambda y: y @ y @ y, x),
            2 * PRODUCT,
            id="branches",
        ),
        pytest.param(lambda x: (x @ x, (x @ x @ x).sum())[0], PRODUCT, id="what is not needed"),
        pytest.param(
            lambda x: jax.lax.conv(x[None, None], jnp.ones((2, 1, 3, 3)), (1, 1), "SAME"),
            2.0 * 2 * 64 * 64 * 9,
            id="a convolution",
        ),
    ],
)
def test_matrix_flops(function, flops):
    found = work(function, square)
    assert found.matmul_flops == flops
    assert found.exact


def test_a_gradient_costs_three_products_and_a_checkpoint_four():
    def loss(w, x):
        return jnp.sum(jnp.sin(x @ w))

    both = jax.value_and_grad(loss, (0, 1))
    assert work(both, square, square).matmul_flops == 3 * PRODUCT
    again = jax.value_and_grad(jax.checkpoint(loss), (0, 1))
    assert work(again, square, square).matmul_flops == 4 * PRODUCT


def test_a_while_loop_without_a_known_end_is_not_exact():
    assert not work(lambda x: jax.lax.while_loop(lambda c: c.sum() < 3, lambda c: c @ c, x), square).exact


def test_the_compiler_counts_a_scan_body_once_and_the_jaxpr_does_not():
    program = staged(lambda x: jax.lax.scan(lambda c, _: (c @ x, None), x, length=8)[0], square)
    compiler = compiler_cost(program.compiled)["flops"]
    assert compiler < 2 * PRODUCT
    assert inspection.count(program.jaxpr).flops >= 8 * PRODUCT


def test_liveness_frees_what_is_used_up():
    size = square.nbytes

    def chain(x):
        for _ in range(10):
            x = jnp.sin(x)
        return x

    def fan(x):
        return sum(jnp.sin(i * x) for i in [jnp.sin(x * k) for k in range(1, 6)])

    assert inspection.liveness(jax.make_jaxpr(chain)(square)).total == 2 * size
    assert inspection.liveness(jax.make_jaxpr(fan)(square)).total >= 6 * size
    assert inspection.liveness(jax.make_jaxpr(chain)(square)).arguments == size
    assert inspection.liveness(jax.make_jaxpr(chain)(square), [True]).total == size


def test_liveness_ranks_as_the_compiler_does():
    """Deeper networks keep more for the backward pass; the estimate grows as the compiled temporaries do."""

    def loss(ws, x):
        for w in ws:
            x = jnp.tanh(jnp.sin(x @ w))
        return x.sum()

    x = jnp.ones((2048, 64))
    estimates, truths = [], []
    for depth in (2, 4, 8):
        program = staged(jax.grad(loss), [square] * depth, x)
        estimates.append(inspection.liveness(program.jaxpr).total)
        truths.append(inspection.memory(program.compiled, "cpu").total)
    assert estimates == sorted(estimates)
    assert truths == sorted(truths)
    assert all(0.5 < e / t < 2 for e, t in zip(estimates, truths, strict=True))


def test_memory_of_a_donation():
    def add(x):
        return x + 1

    kept = staged(add, square)
    given = staged(add, square, options=JitOptions(donate_argnums=(0,)))
    before, after = (inspection.memory(program.compiled, "cpu") for program in (kept, given))
    assert after.alias == square.nbytes
    assert before.total - after.total == square.nbytes
    assert inspection.aliases(kept.text("hlo")) == ()
    assert [(a.output, a.parameter) for a in inspection.aliases(given.text("hlo"))] == [(0, 0)]


def test_aliases_name_the_outputs_of_a_tuple():
    program = staged(
        lambda a, b, c: (c * 2, a + 1, b.sum()),
        square,
        square,
        jnp.ones((32, 16)),
        options=JitOptions(donate_argnums=(0, 2)),
    )
    assert {(a.output, a.parameter) for a in inspection.aliases(program.text("hlo"))} == {(0, 2), (1, 0)}


def test_a_donation_without_use_is_told():
    program = staged(lambda x: x.sum(), square, options=JitOptions(donate_argnums=(0,)))
    facts = inspection.facts(program)
    assert facts.aliases == ()
    assert facts.donation_refused


def test_captured_arrays_are_listed_once_and_largest_first():
    table, small = np.ones((100, 10), np.float32), np.ones(3, np.float32)

    def lookup(i):
        return jnp.asarray(table)[i].sum() + jax.jit(lambda: jnp.asarray(small).sum())()

    found = inspection.constants(staged(lookup, 2).jaxpr)
    assert found[0].shape == (100, 10)
    assert found[0].nbytes == table.nbytes
    assert [c.nbytes for c in found] == sorted((c.nbytes for c in found), reverse=True)


def test_bytes_by_dtype():
    found = inspection.dtype_bytes(jax.make_jaxpr(lambda x: (x + 1).astype(jnp.bfloat16) * 2)(square))
    assert found["float32"] == square.nbytes
    assert found["bfloat16"] == square.nbytes


def test_collectives_of_a_sharded_program():
    """One product over a sharded contraction needs one all-reduce of its result."""
    code = """
        import jax, jax.numpy as jnp, numpy as np
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
        from jaxlint_runtime.inspection import collective_bytes
        mesh = Mesh(np.array(jax.devices()), ("d",))
        x = jax.ShapeDtypeStruct((32, 64), jnp.float32, sharding=NamedSharding(mesh, P(None, "d")))
        w = jax.ShapeDtypeStruct((64, 16), jnp.float32, sharding=NamedSharding(mesh, P("d", None)))
        out = NamedSharding(mesh, P())
        text = jax.jit(jnp.dot, out_shardings=out).lower(x, w).compile().as_text()
        print(len(jax.devices()), collective_bytes(text))
    """
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["4", str(32 * 16 * 4.0)]


def test_collective_lines_of_other_compilers():
    text = "\n".join(
        [
            "  %ar = bf16[8,128]{1,0:T(8,128)} all-reduce(bf16[8,128] %x), replica_groups={}",
            "  %ags = (f32[4,16]{1,0}, f32[16,16]{1,0}) all-gather-start(f32[4,16] %y), dimensions={0}",
            "  %agd = f32[16,16]{1,0} all-gather-done((f32[4,16], f32[16,16]) %ags)",
            "  %none = f32[16,16]{1,0} add(f32[16,16] %a, f32[16,16] %all-reduce.1)",
        ]
    )
    assert inspection.collective_bytes(text) == 8 * 128 * 2 + 16 * 16 * 4


def pairs(function, *args):
    return [(u.output, u.input) for u in updates(jax.make_jaxpr(function)(*args)) if u.distance]


def test_momentum_and_parameters_are_told_apart():
    def step(p, m, x):
        g = jax.grad(lambda p: jnp.sum(jnp.tanh(x @ p)))(p)
        m = 0.9 * m + g
        return p - 0.1 * m, m

    assert pairs(step, square, square, square) == [(0, 0), (1, 1)]
    assert pairs(lambda p, m, x: step(p, m, x)[::-1], square, square, square) == [(0, 1), (1, 0)]


def test_updates_are_seen_through_calls_and_loops():
    def step(p, x):
        p = jax.jit(lambda p: p - 0.1 * x.sum())(p)
        p = jax.lax.cond(x[0, 0] > 0, lambda p: p + 1, lambda p: p, p)
        p = jax.lax.while_loop(lambda p: p.sum() < 0, lambda p: p + 1, p)
        return p.at[0].set(x[0])

    assert pairs(step, square, square) == [(0, 0)]


def test_a_gradient_updates_nothing():
    assert pairs(lambda p, x: jax.grad(lambda p: jnp.sum(jnp.tanh(x @ p)))(p), square, square) == []


def test_large_captured_arrays_are_told():
    table = jnp.arange(2.0**19).reshape(512, 1024)
    told = []
    captured = function_versions.capture(lambda x: x @ table, jnp.ones((4, 512)))
    list(optimise(captured, Settings(transforms=(), constants=told.append)))
    assert told == [[{"shape": (512, 1024), "dtype": "float32", "nbytes": 2**21}]]
    told.clear()
    list(
        optimise(
            function_versions.capture(lambda x: x + jnp.ones(3), jnp.ones(3)),
            Settings(transforms=(), constants=told.append),
        )
    )
    assert told == []


def test_work_of_kernels_is_not_known():
    from jax.experimental import pallas as pl

    from jaxlint_runtime.inspection.flops import has_kernels

    def kernel(x_ref, o_ref):
        o_ref[...] = 2 * x_ref[...]

    def double(x):
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True)(x)

    x = jnp.ones((8, 128))
    assert has_kernels(jax.make_jaxpr(jax.jit(double))(x))
    assert not has_kernels(jax.make_jaxpr(lambda x: x @ x.T)(x))
