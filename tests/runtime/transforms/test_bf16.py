"""The bfloat16 policy: which products it takes, that values survive, and what a CPU may claim."""

from __future__ import annotations

import importlib.util

import jax
import jax.numpy as jnp
import pytest

from jaxlint.source import read_source
from jaxlint_runtime.apply.written_bf16 import bf16_fix, still_gains
from jaxlint_runtime.compat import inner_jaxprs, open_jaxpr
from jaxlint_runtime.lowering.function_versions import capture
from jaxlint_runtime.model import Status
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.rewrites.tried_edit import edited
from jaxlint_runtime.transforms import TRANSFORMS, NotApplicable
from jaxlint_runtime.transforms.bf16 import with_products
from tests.helpers.training_programs import mlp_arguments, mlp_batch, mlp_loss, mlp_parameters, mlp_step, run

bf16 = TRANSFORMS["bf16"]


def program(function, *args):
    return Reference(capture(function, *args), Settings(magnitudes=(), transforms=("bf16",)))


def products(jaxpr):
    """(dtypes of the operands, dtype of the result) of every product, however deep."""
    found = []
    for eqn in open_jaxpr(jaxpr).eqns:
        if eqn.primitive.name in ("dot_general", "conv_general_dilated"):
            found.append(({str(v.aval.dtype) for v in eqn.invars}, str(eqn.outvars[0].aval.dtype)))
        for _, inner in inner_jaxprs(eqn):
            found += products(inner)
    return found


def cast(function, *args):
    p = program(function, *args)
    (candidate,) = bf16.propose(p)
    return p, products(p.stage(bf16.apply(p, candidate, p.version)).jaxpr)


def test_all_products_of_a_step_take_bfloat16_and_give_float32():
    _, found = cast(mlp_step, *mlp_arguments())
    assert len(found) > 8
    assert all(operands == {"bfloat16"} and result == "float32" for operands, result in found)


def looped(w, x):
    def layer(h, _):
        h = jax.lax.cond(h.sum() > 0, lambda h: h @ w, lambda h: jnp.tanh(h @ w), h)
        return jax.checkpoint(lambda h: jnp.sin(h @ w))(h), None

    h, _ = jax.lax.scan(layer, x, length=3)
    return jax.lax.while_loop(lambda h: jnp.sum(h) < -1e9, lambda h: h @ w, jax.jit(lambda h: h @ w)(h))


def test_products_inside_loops_branches_and_calls_are_reached():
    p, found = cast(looped, jnp.eye(64), jnp.ones((4, 64)))
    assert len(found) == 5
    assert all(operands == {"bfloat16"} for operands, _ in found)
    (candidate,) = bf16.propose(p)
    assert p.check(p.runnable(bf16.emulate(p, candidate, p.version)), "bfloat16").problem is None


def test_convolutions_are_taken():
    def convolve(image, kernel):
        return jax.lax.conv(image, kernel, (1, 1), "SAME")

    _, found = cast(convolve, jnp.ones((1, 3, 8, 8)), jnp.ones((4, 3, 3, 3)))
    assert found == [({"bfloat16"}, "float32")]


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        pytest.param(lambda a, b: a + b, "no matrix product", id="no product"),
        pytest.param(
            lambda a, b: jnp.matmul(a, b, precision="highest"),
            "set a precision",
            id="a precision asked for",
        ),
        pytest.param(
            lambda a, b: a.astype(jnp.bfloat16) @ b.astype(jnp.bfloat16),
            "already compute in 16 bits",
            id="bfloat16 already",
        ),
        pytest.param(lambda a, b: a.astype(int) @ b.astype(int), "no matrix product", id="integers"),
    ],
)
def test_what_it_leaves_alone(function, reason):
    with pytest.raises(NotApplicable, match=reason):
        bf16.propose(program(function, jnp.ones((8, 8)), jnp.ones((8, 8))))


def test_a_product_inside_a_custom_derivative_is_left_and_counted():
    @jax.custom_vjp
    def special(a, b):
        return a @ b

    special.defvjp(lambda a, b: (a @ b, (a, b)), lambda res, g: (g @ res[1].T, res[0].T @ g))
    p, found = cast(lambda a, b: special(a, b) @ b, jnp.eye(8), jnp.eye(8))
    assert sorted(operands.pop() for operands, _ in found) == ["bfloat16", "float32"]
    assert bf16.propose(p)[0].parameters["left"] == 1


def test_a_cpu_checks_the_values_and_claims_nothing():
    result = run(mlp_step, *mlp_arguments(), transforms=("bf16",), target="cpu")["bf16"]
    assert result.status is Status.NOT_APPLICABLE
    assert result.numerics.passed
    assert 1e-4 < result.numerics.max_rel < 0.1
    assert result.speedup is None
    assert result.after is None


def test_a_cpu_is_not_asked_unless_it_is_wanted():
    with pytest.raises(NotApplicable, match="--transform bf16 checks the values"):
        bf16.propose(Reference(capture(mlp_step, *mlp_arguments()), Settings()))


def test_the_gradients_of_a_loss_are_checked_too():
    result = run(mlp_loss, mlp_parameters(), *mlp_batch(), transforms=("bf16",))["bf16"]
    assert "gradients for all floating inputs" in result.evidence
    assert result.numerics.gradient_cosine > 0.999


def test_a_function_that_bfloat16_breaks_is_rejected():
    def cancelling(a, b):
        """A difference of nearly equal products: nothing of it is left in bfloat16."""
        return a @ b - jnp.matmul(a, b * (1 + 1e-5), precision="highest")

    a, b = jax.random.normal(jax.random.key(0), (2, 64, 64))
    result = run(cancelling, a, b, transforms=("bf16",))["bf16"]
    assert result.status is Status.REJECTED
    assert "the results differ" in result.reason
    assert not result.numerics.passed


def test_float16_scales_the_loss_so_that_small_gradients_survive():
    def slope(w, x):
        return jax.grad(lambda w: 1e-6 * jnp.sum(jnp.tanh(0.2 * x @ w) ** 2))(w)

    w, x = jax.random.normal(jax.random.key(0), (2, 32, 32))
    p = program(slope, w, x)
    fp16 = TRANSFORMS["fp16"]
    (candidate,) = fp16.propose(p)
    scaled = fp16.emulate(p, candidate, p.version)
    unscaled = with_products(p.version, lambda value: jax.lax.reduce_precision(value, 5, 10))
    wanted = slope(w, x)
    off = [
        float(jnp.linalg.norm(version.function(w, x) - wanted) / jnp.linalg.norm(wanted))
        for version in (scaled, unscaled)
    ]
    assert off[0] < 0.01 < 0.5 < off[1]
    assert "scaled by 4096" in candidate.requires
    products_of_it = products(p.stage(fp16.apply(p, candidate, p.version)).jaxpr)
    assert all(operands == {"float16"} and result == "float32" for operands, result in products_of_it)


def test_float16_is_tried_where_it_is_asked_for():
    assert "fp16" not in run(mlp_step, *mlp_arguments(), target="cpu")
    result = run(mlp_step, *mlp_arguments(), transforms=("fp16",), target="cpu")["fp16"]
    assert result.status is Status.NOT_APPLICABLE
    assert result.numerics.passed
    assert "a GPU shows the gain" in result.reason


NET = """import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.gelu(nn.Dense(8)(x))
        x = x @ jnp.eye(8)
        return nn.Dense(1)(x)


@jax.jit
def slope(params, x):
    return jax.grad(lambda params: jnp.mean(Net().apply(params, x) ** 2))(params)
"""


def test_it_is_written_by_the_dtype_of_layers_and_leaves_the_last_in_float32(tmp_path):
    path = tmp_path.resolve() / "net.py"
    path.write_text(NET)
    spec = importlib.util.spec_from_file_location("bf16_net", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = jnp.ones((4, 8))
    params = module.Net().init(jax.random.key(0), x)
    (candidate,) = bf16.propose(program(module.slope.__wrapped__, params, x))
    sources = {str(path): read_source(path, str(path))}
    fix = bf16_fix({"parameters": candidate.parameters}, sources)
    new = edited([fix], sources)[str(path)].text
    assert new == NET.replace("nn.Dense(8)", "nn.Dense(8, dtype=jnp.bfloat16)")
    assert "1 product outside layers" in fix.message
    line = next(n for n, text in enumerate(NET.splitlines(), 1) if "jnp.eye" in text)
    by_hand = {"calls": [[f"{path}:{line}"]] * 2}
    assert "cast the operands" in bf16_fix({"parameters": by_hand}, sources)


@pytest.mark.parametrize(
    ("again", "kept"),
    [
        ({"peak_bytes": 60, "time_ms": None}, True),
        ({"peak_bytes": 90, "time_ms": None}, False),
        ({"peak_bytes": 100, "time_ms": {"median": 5.0}}, True),
        (None, False),
    ],
)
def test_a_written_dtype_has_to_gain_half_of_what_was_promised(again, kept):
    before = {"peak_bytes": 100, "time_ms": {"median": 8.0}}
    after = {"peak_bytes": 50, "time_ms": {"median": 4.0}}
    assert still_gains({"before": before, "after": after}, again)[0] is kept
