"""Rematerialisation per block: found in plain functions, the same values, less alive, and an honest status."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import pytest
from jax.ad_checkpoint import checkpoint_name

from jaxlint_runtime import inspection, targets
from jaxlint_runtime.inspection.repeated_blocks import stacks
from jaxlint_runtime.lowering.function_versions import capture
from jaxlint_runtime.lowering.jaxpr_interpreter import inlined
from jaxlint_runtime.model import Status
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.transforms import TRANSFORMS, NotApplicable
from jaxlint_runtime.transforms.checkpoint_policies import POLICIES, policies, why_not_offloaded
from jaxlint_runtime.transforms.remat import Record, _checkpointed, keeps_recomputation
from jaxlint_runtime.transforms.transform import Candidate
from tests.helpers.training_programs import (
    LAYERS,
    mlp_arguments,
    mlp_loss,
    mlp_step,
    run,
    timed_alike,
    transformer,
    transformer_arguments,
    transformer_step,
)

remat = TRANSFORMS["remat"]


def program(function, *args):
    return Reference(capture(function, *args), Settings())


def test_the_blocks_of_an_unrolled_transformer_are_found():
    (params, _), tokens = transformer_arguments()
    apply = partial(transformer.apply, params)
    jaxpr = inlined(jax.make_jaxpr(apply)(tokens), [tokens])
    (stack,) = stacks(jaxpr)
    assert len(stack.blocks) == transformer.layers


def test_the_layers_of_a_loop_over_parameters_are_found_at_their_line():
    candidate = remat.propose(program(mlp_step, *mlp_arguments()))[0]
    assert candidate.parameters["blocks"] == LAYERS
    line = mlp_loss.__code__.co_firstlineno + 2
    assert candidate.parameters["sites"] == [f"{mlp_loss.__code__.co_filename}:{line}"]


def on_a_device_with(kinds: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], str | None]:
    """The policies for a target whose device tells of these memories, and why none offloads."""
    device = SimpleNamespace(addressable_memories=lambda: [SimpleNamespace(kind=kind) for kind in kinds])
    with monkeypatch.context() as patched:
        patched.setattr(targets.Target, "devices", lambda self: [device])
        why_not_offloaded.cache_clear()
        target = targets.Target("tpu", "tpu")
        found = policies(["kept"], target), why_not_offloaded(target)
    why_not_offloaded.cache_clear()
    return found


def test_policies_that_offload_are_tried_where_there_is_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    found, why = on_a_device_with(["device", "pinned_host"], monkeypatch)
    assert why is None
    offloading = [policy for policy in found if "offload" in policy]
    assert [policy.partition("(")[0] for policy in offloading] == [
        "offload_dot_with_no_batch_dims",
        "save_and_offload_only_these_names",
    ]
    p = program(jax.grad(named_loss), 0.1 * jnp.ones((6, 32, 32)), jnp.ones((128, 32)))
    kept = {}
    for policy in ('save_only_these_names("kept")', *offloading):
        record = Record()
        staged = p.stage(_checkpointed(p.version, policy, record))
        assert p.check(staged, "float32").problem is None
        kept[policy.partition("(")[0]] = record.residual_bytes
    # What is kept for the backward pass is the same, but it does not lie on the device.
    saved = kept["save_only_these_names"] - kept["save_and_offload_only_these_names"]
    assert saved == 6 * 128 * 32 * 4
    assert "host" in str(staged.jaxpr)


def test_policies_that_offload_are_refused_where_there_is_no_other_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not [policy for policy in policies(["kept"], targets.parse("cpu")) if "offload" in policy]
    given = 0.1 * jnp.ones((6, 32, 32)), jnp.ones((128, 32))
    result = run(scanned_step, *given, transforms=("remat",), measure=False)["remat:nothing_saveable"]
    assert "a CPU computes in host memory" in result.evidence
    found, why = on_a_device_with(["device"], monkeypatch)
    assert why == "offloading policies are not tried: tpu has no pinned_host memory"
    assert not [policy for policy in found if "offload" in policy]


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_leaves_the_values_as_they_were(policy):
    p = program(mlp_step, *mlp_arguments())
    staged = p.stage(
        remat.apply(p, Candidate("remat", "", "", 0.0, parameters={"policy": policy}), p.version)
    )
    assert "checkpoint" in str(staged.jaxpr) or "remat" in str(staged.jaxpr)
    assert inspection.count(staged.jaxpr).flops > inspection.count(p.baseline.jaxpr).flops
    assert p.check(staged, "float32").problem is None


def test_policies_are_ranked_by_what_is_alive():
    estimates = remat.propose(program(transformer_step, *transformer_arguments()))
    saved = [candidate.estimate for candidate in estimates]
    assert saved == sorted(saved, reverse=True)
    assert estimates[0].parameters["policy"] == "nothing_saveable"
    residual = estimates[0].parameters["residual_bytes"]
    assert 0 < residual["after"] < 0.3 * residual["before"]


def test_the_status_says_whether_the_compiler_keeps_it(monkeypatch):
    timed_alike(monkeypatch)
    results = run(transformer_step, *transformer_arguments(), transforms=("remat",))
    result = results["remat:nothing_saveable"]
    assert result.numerics.passed
    assert result.after.residual_bytes < 0.3 * result.before.residual_bytes
    if keeps_recomputation(targets.parse("cpu")):
        assert result.status is Status.VERIFIED
        assert result.after.peak_bytes < 0.8 * result.before.peak_bytes
    else:
        assert result.status is Status.NOT_APPLICABLE
        assert "--target tpu:v5e-1x1 shows the gain" in result.reason
        assert result.before.time_ms is None


def scanned_loss(params, x):
    def layer(h, w):
        return h + jnp.tanh(jnp.sin(h @ w)), None

    return jnp.mean(jax.lax.scan(layer, x, params)[0] ** 2)


def scanned_step(params, x):
    return params - 0.1 * jax.grad(scanned_loss)(params, x)


def test_the_body_of_a_scan_is_a_block():
    params, x = 0.1 * jnp.ones((6, 32, 32)), jax.random.normal(jax.random.key(0), (128, 32))
    p = program(scanned_step, params, x)
    candidate = remat.propose(p)[0]
    assert candidate.parameters["scans"] == 1
    result = run(scanned_step, params, x, transforms=("remat",), measure=False)[candidate.name]
    assert result.numerics.passed
    assert result.numerics.gradient_cosine > 0.99999


def test_a_body_that_calls_a_jitted_function_is_one():
    @jax.jit
    def move(x):
        return jnp.tanh(jnp.sin(x) * jnp.cos(x) + x)

    def loss(x):
        return jnp.sum(jax.lax.fori_loop(0, 20, lambda i, x: move(x), x))

    p = program(jax.grad(loss), jax.random.normal(jax.random.key(0), (128, 32)))
    candidate = remat.propose(p)[0]
    assert candidate.parameters["scans"] == 1
    staged = p.stage(remat.apply(p, candidate, p.version))
    assert p.check(staged, "float32").problem is None
    bare = program(jax.grad(lambda x: jnp.sum(jax.lax.fori_loop(0, 20, lambda i, x: x * x, x))), jnp.ones(4))
    with pytest.raises(NotApplicable):
        remat.propose(bare)


def named_loss(params, x):
    def layer(h, w):
        kept = checkpoint_name(jnp.sin(h @ w), "kept")
        return h + jnp.tanh(checkpoint_name(jnp.cos(kept), "other")), None

    return jnp.mean(jax.lax.scan(layer, x, params)[0] ** 2)


def test_what_the_program_has_named_may_be_all_that_is_kept():
    params, x = 0.1 * jnp.ones((6, 32, 32)), jax.random.normal(jax.random.key(0), (128, 32))
    p = program(jax.grad(named_loss), params, x)
    found = {one.parameters["policy"]: one for one in remat.propose(p)}
    both = found['save_only_these_names("kept", "other")']
    assert both.estimate < found["nothing_saveable"].estimate
    staged = p.stage(remat.apply(p, both, p.version))
    assert p.check(staged, "float32").problem is None
    assert not any("names" in one.name for one in remat.propose(program(scanned_step, params, x)))


def test_a_scan_that_the_compiler_keeps_apart_is_judged_by_its_own_memory():
    def layer(h, w):
        return h + jnp.tanh(jnp.tanh(jnp.sin(h @ w) @ w) @ w), None

    def step(params, x):
        return params - 0.1 * jax.grad(lambda p: jnp.mean(jax.lax.scan(layer, x, p)[0] ** 2))(params)

    params, x = 0.1 * jnp.ones((12, 64, 64)), jax.random.normal(jax.random.key(0), (2048, 64))
    results = run(step, params, x, transforms=("remat",))
    result = results["remat:nothing_saveable"]
    assert result.numerics.passed
    assert result.after.peak_bytes < 0.8 * result.before.peak_bytes, "the loop keeps the recomputation apart"
    # on a machine too busy to time it, the memory is still the compiler's word
    assert result.status in (Status.VERIFIED, Status.COMPILED), result.reason
    assert "MiB" in result.reason


def test_a_gradient_jitted_inside_the_step_is_reached_and_left_as_it_was():
    inner = jax.jit(jax.value_and_grad(mlp_loss))

    def step(params, x, y):
        loss, grads = inner(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss

    params, _, x, y = mlp_arguments()
    assert remat.propose(program(step, params, x, y))[0].parameters["blocks"] == LAYERS
    assert "checkpoint" not in str(jax.make_jaxpr(inner)(params, x, y))
    assert "remat" not in str(jax.make_jaxpr(inner)(params, x, y))


def test_auxiliary_outputs_and_closures_come_through():
    def step(params, x, y):
        def loss(p):
            value = mlp_loss(p, 2 * x, y)
            return value, {"loss": value, "rows": x.shape[0], "norm": jnp.linalg.norm(x)}

        (_, aux), grads = jax.value_and_grad(loss, has_aux=True)(params)
        return grads, aux

    params, _, x, y = mlp_arguments()
    p = program(step, params, x, y)
    version = remat.apply(p, remat.propose(p)[0], p.version)
    assert p.check(p.runnable(version), "float32").problem is None


def already(params, x, y):
    def loss(p):
        h = x
        for layer in p:
            h = jax.checkpoint(lambda h, layer: h + jnp.tanh(h @ layer["w"] + layer["b"]))(h, layer)
        return jnp.mean((h - y) ** 2)

    return jax.grad(loss)(params)


@pytest.mark.parametrize(
    ("function", "pick", "reason"),
    [
        pytest.param(mlp_loss, (0, 2, 3), "takes no gradient", id="no derivative inside"),
        pytest.param(already, (0, 2, 3), "already", id="under jax.checkpoint already"),
    ],
)
def test_what_has_nothing_to_rematerialise_is_left_alone(function, pick, reason):
    args = mlp_arguments()
    with pytest.raises(NotApplicable, match=reason):
        remat.propose(program(function, *(args[n] for n in pick)))


def test_a_loss_without_repeated_blocks_is_left_alone():
    def step(w, x):
        return jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w)))(w)

    with pytest.raises(NotApplicable, match="no repeated blocks"):
        remat.propose(program(step, jnp.ones((8, 8)), jnp.ones((8, 8))))


def test_what_only_a_mask_is_made_of_is_no_block():
    def loss(w, x, tokens):
        mask = tokens
        for _ in range(6):  # repeats, and no derivative goes through it
            mask = jnp.where(jnp.cumsum(mask * 2, axis=-1) % 3 == 0, mask + 1, mask)
        return jnp.mean(((x @ w) * (mask > 3)) ** 2)

    def step(w, x, tokens):
        return w - 0.1 * jax.grad(loss)(w, x, tokens)

    def stacked(w, x, tokens):
        return w - 0.1 * jax.grad(lambda w: loss(w, x, tokens) + jnp.mean(layers(w, x)))(w)

    def layers(w, h):
        for _ in range(6):
            h = jnp.tanh(jnp.sin(h @ w) @ w)
        return h

    w, x, tokens = 0.1 * jnp.ones((32, 32)), jnp.ones((64, 32)), jnp.ones((64, 32), jnp.int32)
    with pytest.raises(NotApplicable, match="no repeated blocks"):
        remat.propose(program(step, w, x, tokens))
    candidate = remat.propose(program(stacked, w, x, tokens))[0]
    (site,) = candidate.parameters["sites"]
    lines = Path(__file__).read_text().splitlines()
    assert lines[int(site.rpartition(":")[2]) - 1].strip() == "h = jnp.tanh(jnp.sin(h @ w) @ w)"


@pytest.mark.parametrize(
    ("product", "kept"),
    [("ij,jk->ik", "dots_with_no_batch_dims_saveable"), ("bij,bjk->bik", "dots_saveable")],
)
def test_policies_that_keep_the_same_values_are_tried_once(product: str, kept: str) -> None:
    batch = (8,) if product.startswith("b") else ()

    def loss(weights, x):
        def layer(h, w):
            return h + jnp.tanh(jnp.sin(jnp.einsum(product, jnp.einsum(product, h, w), w[..., ::-1]))), None

        return jnp.sum(jax.lax.scan(layer, x, weights)[0] ** 2)

    weights, x = jnp.ones((6, *batch, 32, 32)), jnp.ones((*batch, 128, 32))
    found = remat.propose(program(jax.grad(loss), weights, x))
    assert {one.name for one in found} == {"remat:nothing_saveable", f"remat:{kept}"}
