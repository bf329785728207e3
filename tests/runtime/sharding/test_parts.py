"""The parts of the search for shardings: the mesh, groups of axes, classes, strategies, what is sent, the score, the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint_runtime.inspection.communication import axes_of, collectives, groups_of, sent_bytes
from jaxlint_runtime.inspection.hlo import parse
from jaxlint_runtime.inspection.hlo_products import product_flops
from jaxlint_runtime.inspection.updates import updates
from jaxlint_runtime.lowering.function_versions import StagingError, bind, capture, stage, version_of
from jaxlint_runtime.sharding import advice, axis_groups, placement_code, placement_words, strategies
from jaxlint_runtime.sharding.function_ranking import worth_sharding
from jaxlint_runtime.sharding.input_classes import Classes, classify, inputs_of
from jaxlint_runtime.sharding.mesh import BadMesh, MeshShape, check_target, parse_mesh, simulate
from jaxlint_runtime.sharding.placed_program import Figures, rematerialised
from jaxlint_runtime.sharding.placement_score import scale
from jaxlint_runtime.sharding.placement_search import Search
from jaxlint_runtime.targets import parse as parse_target

MESH = parse_mesh("data=4,model=2")


# ---- the mesh ----


@pytest.mark.parametrize(
    "text", ["data", "data=", "=4", "data=4;model=2", "data=four", "data=4,,model=2", "", "4,2", "data=2.5"]
)
def test_a_mesh_that_cannot_be_read_says_how_to_write_one(text: str) -> None:
    with pytest.raises(BadMesh, match="as in data=4,model=2") as caught:
        parse_mesh(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("data=0,model=2", "the axis data has 0 devices"),
        ("data=-4", "the axis data has -4 devices"),
        ("data=2,data=4", "named twice"),
        ("data=1", "2 devices or more"),
        ("data=1,model=1", "2 devices or more"),
        ("data=1024,model=64", "at most 256"),
    ],
)
def test_a_mesh_that_makes_no_sense_is_refused(text: str, says: str) -> None:
    with pytest.raises(BadMesh, match=says):
        parse_mesh(text)


def test_what_axes_are_for_by_their_names() -> None:
    assert [MESH.kind(name) for name in MESH.names] == ["data", "model"]
    other = parse_mesh("x=2,y=4")
    assert [other.kind(name) for name in other.names] == ["data", "model"]
    assert parse_mesh("tensor=2,batch=4").of_kind("data") == ("batch",)
    assert parse_mesh("data=8,expert=1").split == ("data",)


@pytest.mark.parametrize(
    ("name", "fits"), [("tpu:v5e-2x4", True), ("tpu:v5e-2x2", False), ("gpu", False), ("cpu", True)]
)
def test_a_mesh_takes_all_devices_of_its_target(name: str, fits: bool) -> None:
    target = parse_target(name)
    given = (MESH, name, target.compile_only, target.platform, target.chips)
    if fits:
        check_target(*given)
    else:
        with pytest.raises(BadMesh, match=re.escape(name)):
            check_target(*given)


def test_simulated_devices_are_added_to_the_flags_of_the_user() -> None:
    environment = {"XLA_FLAGS": "--xla_dump_to=d", "TF_CPP_MIN_LOG_LEVEL": "2"}
    simulate(environment, [("data", 4), ("model", 2)])
    assert environment["XLA_FLAGS"] == "--xla_dump_to=d --xla_force_host_platform_device_count=8"
    assert environment["TF_CPP_MIN_LOG_LEVEL"] == "1"  # else the compiler's warnings are not printed


# ---- groups of axes and classes ----


def classes_of(function: Any, *args: Any) -> Classes:
    captured = capture(function, *args)
    bound = bind(captured)
    jaxpr = stage(version_of(captured), bound, parse_target("cpu")).jaxpr
    updated = {update.input: update.output for update in updates(jaxpr)}
    return classify(inputs_of(bound.leaves, updated), axis_groups.analyse(jaxpr))


VOCABULARY, WIDTH, HEADS, LENGTH, BATCH, LAYERS = 48, 16, 4, 6, 8, 3


def parameters(layers: int = LAYERS) -> dict[str, Any]:
    draw = np.random.default_rng(0)

    def array(*shape: int) -> np.ndarray:
        return draw.normal(size=shape).astype(np.float32)

    block = {
        "norm": (WIDTH,),
        "q": (WIDTH, WIDTH),
        "k": (WIDTH, WIDTH),
        "v": (WIDTH, WIDTH),
        "o": (WIDTH, WIDTH),
        "up": (WIDTH, 4 * WIDTH),
        "bias": (4 * WIDTH,),
        "down": (4 * WIDTH, WIDTH),
    }
    return {
        "table": array(VOCABULARY, WIDTH),
        "blocks": [{name: array(*shape) for name, shape in block.items()} for _ in range(layers)],
        "head": array(WIDTH, VOCABULARY),
    }


def mix(p: Any, x: Any) -> Any:
    batch, length, width = x.shape
    q, k, v = ((x @ p[n]).reshape(batch, length, HEADS, -1) for n in "qkv")
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(batch, length, width) @ p["o"]


def block(p: Any, x: Any) -> Any:
    x = x + mix(p, x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True)) * p["norm"])
    return x + jax.nn.relu(x @ p["up"] + p["bias"]) @ p["down"]


def loss_of(params: Any, tokens: Any, run: Any) -> Any:
    x = run(params["blocks"], params["table"][tokens[:, :-1]])
    scores = jax.nn.log_softmax(x @ params["head"])
    return -jnp.take_along_axis(scores, tokens[:, 1:, None], -1).mean()


def by_hand(params: Any, momentum: Any, tokens: Any) -> Any:
    def run(blocks: Any, x: Any) -> Any:
        for p in blocks:
            x = block(p, x)
        return x

    grads = jax.grad(loss_of)(params, tokens, run)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    return jax.tree.map(lambda p, m: p - 0.1 * m, params, momentum), momentum


def by_scan(params: Any, momentum: Any, tokens: Any) -> Any:
    def run(blocks: Any, x: Any) -> Any:
        return jax.lax.scan(lambda x, p: (jax.checkpoint(block)(p, x), None), x, blocks)[0]

    grads = jax.grad(loss_of)(params, tokens, run)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    return jax.tree.map(lambda p, m: p - 0.1 * m, params, momentum), momentum


TOKENS = np.zeros((BATCH, LENGTH + 1), np.int32)


@pytest.fixture(scope="module")
def transformer() -> Classes:
    params = parameters()
    return classes_of(by_hand, params, params, TOKENS)


def roles(found: Classes, name: str) -> list[str]:
    entry = next(one for one in found.parameters if name in one.name)
    return [found.roles[group] for group in entry.groups]


def test_a_transformer_is_sorted_by_structure_alone(transformer: Classes) -> None:
    assert roles(transformer, "table") == ["vocab", "embed"]
    assert roles(transformer, "q") == ["embed", "heads"]
    assert roles(transformer, "*.o") == ["heads", "embed"]
    assert roles(transformer, "up") == ["embed", "hidden"]
    assert roles(transformer, "down") == ["hidden", "embed"]
    assert roles(transformer, "bias") == ["hidden"]
    assert roles(transformer, "head") == ["embed", "outputs"]
    assert [one.path for one in transformer.data] == ["args[2]"]
    assert not transformer.others


def test_repeated_blocks_are_one_class_and_their_momentum_follows(transformer: Classes) -> None:
    projections = next(one for one in transformer.parameters if "q" in one.name.partition("{")[2])
    assert projections.name == "blocks.*.{k,q,v}"
    assert (len(projections.members), len(projections.followers)) == (3 * LAYERS, 3 * LAYERS)
    assert {one.path.partition("]")[0] for one in projections.followers} == {"args[1"}
    assert all(len(one.members) == len(one.followers) for one in transformer.parameters)


def test_stacked_blocks_of_a_scan_have_the_same_groups() -> None:
    params = parameters()
    params["blocks"] = jax.tree.map(lambda *leaves: np.stack(leaves), *params["blocks"])
    found = classes_of(by_scan, params, params, TOKENS)
    assert roles(found, "up") == ["layers", "embed", "hidden"]
    assert roles(found, "down") == ["layers", "hidden", "embed"]
    assert roles(found, "table") == ["vocab", "embed"]


def test_a_tied_embedding_is_a_table_whose_rows_are_outputs_as_well() -> None:
    def step(params: Any, tokens: Any) -> Any:
        def loss(p: Any) -> Any:
            scores = jax.nn.log_softmax(jnp.tanh(p["table"][tokens] @ p["w"]) @ p["table"].T)
            return -scores[..., 0].mean()

        return jax.tree.map(lambda p, g: p - g, params, jax.grad(loss)(params))

    params = {"table": np.ones((32, 8), np.float32), "w": np.ones((8, 8), np.float32)}
    found = classes_of(step, params, np.zeros((4, 5), np.int32))
    assert roles(found, "table")[0] == "vocab"


def test_layers_of_equal_width_are_split_in_turn() -> None:
    def step(params: Any, x: Any) -> Any:
        def loss(params: Any) -> Any:
            h = x
            for w in params:
                h = jnp.tanh(h @ w)
            return (h**2).mean()

        return jax.tree.map(lambda p, g: p - g, params, jax.grad(loss)(params))

    found = classes_of(step, [np.ones((16, 16), np.float32)] * 4, np.ones((8, 16), np.float32))
    tensor = next(one for one in strategies.named(found, MESH) if one.name == "tensor parallel")
    specs = {one.path: spec for one, spec in zip(found.inputs, tensor.leaves(found, MESH), strict=True)}
    assert specs["args[0][0]"] == ((), ("model",))
    assert specs["args[0][1]"] == (("model",), ())
    assert specs["args[0][2]"] == ((), ("model",))


def test_a_convolution_has_channels_and_no_batch_among_its_parameters() -> None:
    def step(w: Any, x: Any) -> Any:
        def loss(w: Any) -> Any:
            h = jax.lax.conv_general_dilated(
                x, w["a"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            h = jax.lax.conv_general_dilated(
                jax.nn.relu(h), w["b"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            return (h**2).mean()

        return jax.tree.map(lambda p, g: p - g, w, jax.grad(loss)(w))

    w = {"a": np.ones((3, 3, 3, 8), np.float32), "b": np.ones((3, 3, 8, 4), np.float32)}
    found = classes_of(step, w, np.ones((8, 6, 6, 3), np.float32))
    assert roles(found, "a")[2:] == ["features", "hidden"]
    assert roles(found, "b")[2:] == ["hidden", "outputs"]
    assert [one.path for one in found.data] == ["args[1]"]


def test_inference_has_a_batch_though_nothing_is_updated() -> None:
    found = classes_of(
        lambda p, x: jax.nn.relu(x @ p["w"] + p["b"]) @ p["v"],
        {"w": np.ones((8, 16), np.float32), "b": np.ones(16, np.float32), "v": np.ones((16, 4), np.float32)},
        np.ones((32, 8), np.float32),
    )
    assert [one.path for one in found.data] == ["args[1]"]
    assert not found.trains
    assert {one.name for one in found.parameters} == {"w", "b", "v"}


def experts_step(params: Any, x: Any) -> Any:
    def loss(params: Any) -> Any:
        gates = jax.nn.softmax(x @ params["router"])
        h = jax.nn.relu(jnp.einsum("bd,edf->ebf", x, params["up"]))
        y = jnp.einsum("ebf,efd->ebd", h, params["down"])
        return (jnp.einsum("be,ebd->bd", gates, y) ** 2).mean()

    return jax.tree.map(lambda p, g: p - g, params, jax.grad(loss)(params))


def mixture(experts: int = 4) -> Classes:
    params = {
        "router": np.ones((8, experts), np.float32),
        "up": np.ones((experts, 8, 32), np.float32),
        "down": np.ones((experts, 32, 8), np.float32),
    }
    return classes_of(experts_step, params, np.ones((16, 8), np.float32))


def test_a_mixture_of_experts_can_be_split_by_experts() -> None:
    found = mixture()
    assert roles(found, "down")[0] == "experts"
    split = next(one for one in strategies.named(found, MESH) if one.name == "expert parallel")
    at = {one.name: split.spec(found, n) for n, one in enumerate(found.parameters)}
    assert at["up"][0] == at["down"][0] == ("model",)
    assert "expert parallelism" in placement_words.title(split, found, MESH)
    said = list(advice.experts(found, MESH, split))
    assert len(said) == 1
    assert "4 experts hold" in said[0]
    plain = strategies.Strategy("plain", ("data",))
    assert "replicates them" in next(advice.experts(found, MESH, plain))


def test_an_ensemble_by_vmap_is_told_from_experts() -> None:
    def step(params: Any, x: Any) -> Any:
        def loss(params: Any) -> Any:
            run = jax.vmap(lambda p, x: jax.nn.relu(x @ p["a"]) @ p["b"], (0, None))
            return (run(params, x) ** 2).mean()

        return jax.tree.map(lambda p, g: p - g, params, jax.grad(loss)(params))

    params = {"a": np.ones((4, 6, 8), np.float32), "b": np.ones((4, 8, 2), np.float32)}
    found = classes_of(step, params, np.ones((16, 6), np.float32))
    said = list(advice.experts(found, MESH, strategies.Strategy("plain", ("data",))))
    assert len(said) == 1
    assert "an ensemble" in said[0]


# ---- strategies ----


def named(found: Classes, mesh: MeshShape = MESH) -> dict[str, strategies.Strategy]:
    return {one.name: one for one in strategies.named(found, mesh)}


def test_plain_data_parallel_comes_first_and_splits_the_batch_alone(transformer: Classes) -> None:
    first = next(iter(strategies.named(transformer, MESH)))
    specs = first.leaves(transformer, MESH)
    assert [one.path for one, spec in zip(transformer.inputs, specs, strict=True) if any(spec)] == ["args[2]"]
    assert placement_words.title(first, transformer, MESH) == "data parallelism, the batch over data"


def test_megatron_splits_columns_then_rows_and_its_state_follows(transformer: Classes) -> None:
    megatron = named(transformer)["tensor parallel, vocabulary too"]
    specs = {
        one.path: spec
        for one, spec in zip(transformer.inputs, megatron.leaves(transformer, MESH), strict=True)
    }
    for state in ("args[0]", "args[1]"):
        assert specs[state + "['blocks'][1]['q']"] == ((), ("model",))
        assert specs[state + "['blocks'][1]['o']"] == (("model",), ())
        assert specs[state + "['blocks'][2]['bias']"] == (("model",),)
        assert specs[state + "['blocks'][2]['norm']"] == ((),)
        assert specs[state + "['table']"] == (("model",), ())
    assert placement_words.title(megatron, transformer, MESH) == (
        "Megatron tensor parallelism with a vocabulary-parallel embedding and output layer, the batch over data"
    )
    said = " ".join(placement_words.sentences(megatron, transformer, MESH, None))
    assert "blocks.*.{k,q,v} by columns, then blocks.*.o by rows" in said


def test_fully_sharded_keeps_parts_and_uses_the_whole(transformer: Classes) -> None:
    sharded = named(transformer)["FSDP"]
    assert all(
        any("data" in axes for axes in sharded.spec(transformer, n))
        for n, one in enumerate(transformer.parameters)
        if len(one.shape) > 1
    )
    assert not any(any(spec) for spec in sharded.used.values())
    assert "ZeRO-3" in placement_words.title(sharded, transformer, MESH)
    zero = named(transformer)["ZeRO-1"]
    assert not zero.specs
    assert "ZeRO-1" in placement_words.title(zero, transformer, MESH)


def test_no_axis_of_the_mesh_is_used_twice_and_everything_divides(transformer: Classes) -> None:
    for strategy in strategies.named(transformer, MESH):
        for one, spec in zip(transformer.inputs, strategy.leaves(transformer, MESH), strict=True):
            names = [name for parts in spec for name in parts]
            assert len(names) == len(set(names)), (strategy.name, one.path)
            assert all(size % MESH.size(parts) == 0 for size, parts in zip(one.shape, spec, strict=True))


def test_what_does_not_divide_stays_whole_and_is_told() -> None:
    def step(w: Any, x: Any) -> Any:
        def loss(w: Any) -> Any:
            return ((jax.nn.relu(x @ w["a"]) @ w["b"]) ** 2).mean()

        return jax.tree.map(lambda p, g: p - g, w, jax.grad(loss)(w))

    w = {"a": np.ones((5, 7), np.float32), "b": np.ones((7, 3), np.float32)}
    found = classes_of(step, w, np.ones((9, 5), np.float32))
    for strategy in strategies.named(found, MESH):
        assert not any(any(spec) for spec in strategy.leaves(found, MESH)), strategy.name
    said = list(advice.undivided(found, MESH))
    assert any("batch of 9" in line for line in said)
    assert any("axis of 7; pad it to 8" in line for line in said)


def test_a_mesh_with_one_axis_has_no_tensor_parallel(transformer: Classes) -> None:
    assert set(named(transformer, parse_mesh("data=8"))) == {"data parallel", "ZeRO-1", "FSDP"}


# ---- what is sent ----


@pytest.mark.parametrize(
    ("kind", "result", "devices", "sent"),
    [
        ("all-reduce", 800, 4, 1200),
        ("all-gather", 800, 4, 600),
        ("reduce-scatter", 200, 4, 600),
        ("all-to-all", 800, 8, 700),
        ("collective-permute", 800, 8, 800),
        ("all-reduce", 800, 1, 0),
    ],
)
def test_bytes_on_the_wire_are_those_of_ring_algorithms(
    kind: str, result: int, devices: int, sent: float
) -> None:
    assert sent_bytes(kind, result, devices) == sent


@pytest.mark.parametrize(
    ("text", "groups", "along"),
    [
        ("replica_groups=[4,2]<=[8]", ((0, 1), (2, 3), (4, 5), (6, 7)), ("model",)),
        ("replica_groups=[2,4]<=[4,2]T(1,0)", ((0, 2, 4, 6), (1, 3, 5, 7)), ("data",)),
        ("replica_groups={{0,1},{2,3},{4,5},{6,7}}", ((0, 1), (2, 3), (4, 5), (6, 7)), ("model",)),
        ("replica_groups=[1,8]<=[8]", (tuple(range(8)),), ("data", "model")),
        (
            "replica_groups=mesh['a'=4,'b'=1,'c'=2] {'a'}, use_global_device_ids=true",
            ((0, 2, 4, 6), (1, 3, 5, 7)),
            ("data",),
        ),
        ("replica_groups=mesh['a'=4,'b'=2] {'b'}", ((0, 1), (2, 3), (4, 5), (6, 7)), ("model",)),
        ("replica_groups=mesh['a'=8] {'a':(4)2}", ((0, 1), (2, 3), (4, 5), (6, 7)), ("model",)),
        ("replica_groups=mesh['a'=4,'b'=2] {'a','b'}", (tuple(range(8)),), ("data", "model")),
        ("replica_groups={}", (), ("data", "model")),
        ("source_target_pairs={{0,2},{2,0}}", ((0, 2), (2, 0)), ("data",)),
    ],
)
def test_groups_of_devices_in_all_spellings(text: str, groups: Any, along: tuple[str, ...]) -> None:
    assert groups_of(text) == groups
    assert axes_of(groups, MESH.names, MESH.sizes) == along


LOOP = """HloModule step, is_scheduled=true

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add = f32[] add(%a, %b)
}

%body (p: (s32[], f32[8,16])) -> (s32[], f32[8,16]) {
  %p = (s32[], f32[8,16]{1,0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[8,16]{1,0} get-tuple-element(%p), index=1
  %w = f32[16,16]{1,0} constant({...})
  %dot = f32[8,16]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %ar = f32[8,16]{1,0} all-reduce(%dot), channel_id=1, replica_groups=[4,2]<=[8], to_apply=%sum
  ROOT %t = (s32[], f32[8,16]{1,0}) tuple(%i, %ar)
}

%cond (p.1: (s32[], f32[8,16])) -> pred[] {
  %p.1 = (s32[], f32[8,16]{1,0}) parameter(0)
  %i.1 = s32[] get-tuple-element(%p.1), index=0
  %n = s32[] constant(5)
  ROOT %lt = pred[] compare(%i.1, %n), direction=LT
}

%slicing (q: f32[64,16], k: s32[]) -> f32[8,16] {
  %q = f32[64,16]{1,0} parameter(0)
  %k = s32[] parameter(1)
  %zero = s32[] constant(0)
  ROOT %ds = f32[8,16]{1,0} dynamic-slice(%q, %k, %zero), dynamic_slice_sizes={8,16}
}

ENTRY %main (arg: f32[8,16], big: f32[64,16], at: s32[]) -> (f32[8,16], f32[8,16], f32[64,16]) {
  %arg = f32[8,16]{1,0} parameter(0)
  %big = f32[64,16]{1,0} parameter(1)
  %at = s32[] parameter(2)
  %start = s32[] constant(0)
  %init = (s32[], f32[8,16]{1,0}) tuple(%start, %arg)
  %while = (s32[], f32[8,16]{1,0}) while(%init), condition=%cond, body=%body, backend_config={"known_trip_count":{"n":"5"}}
  %out = f32[8,16]{1,0} get-tuple-element(%while), index=1
  %both = (f32[64,16]{1,0}, f32[64,16]{1,0}) all-reduce(%big, %big), channel_id=2, replica_groups=[1,8]<=[8], to_apply=%sum
  %first = f32[64,16]{1,0} get-tuple-element(%both), index=0
  %second = f32[64,16]{1,0} get-tuple-element(%both), index=1
  %part = f32[8,16]{1,0} fusion(%first, %at), kind=kLoop, calls=%slicing
  ROOT %result = (f32[8,16]{1,0}, f32[8,16]{1,0}, f32[64,16]{1,0}) tuple(%out, %part, %second)
}
"""


def test_collectives_in_loops_count_by_turns_and_sums_of_slices_as_scatters() -> None:
    found = {(one.kind, one.times): one for one in collectives(parse(LOOP), 8)}
    assert set(found) == {("all-reduce", 5), ("all-reduce", 1), ("reduce-scatter", 1)}
    assert found["all-reduce", 5].nbytes == 5 * 8 * 16 * 4  # 2 (n-1)/n is 1 for two devices
    assert found["reduce-scatter", 1].result == 8 * 16 * 4
    assert found["reduce-scatter", 1].nbytes == 7 * 8 * 16 * 4
    assert found["all-reduce", 1].nbytes == 2 * 7 / 8 * 64 * 16 * 4


SCATTERED = """HloModule scattered

%all-reduce-scatter (input: f32[64,16]) -> f32[16,16] {
  %input = f32[64,16]{1,0} parameter(0)
  %all-reduce = f32[64,16]{1,0} all-reduce(%input), channel_id=2, replica_groups={{0,2,4,6},{1,3,5,7}}, to_apply=%sum
  %at = s32[] constant(0)
  ROOT %slice = f32[16,16]{1,0} dynamic-slice(%all-reduce, %at, %at), dynamic_slice_sizes={16,16}
}

ENTRY %main (arg: f32[64,16]) -> f32[16,16] {
  %arg = f32[64,16]{1,0} parameter(0)
  ROOT %fusion = f32[16,16]{1,0} fusion(%arg), kind=kCustom, calls=%all-reduce-scatter
}
"""


def test_a_sum_that_a_fusion_slices_is_a_scatter() -> None:
    """XLA for TPUs writes a reduce-scatter so."""
    (one,) = collectives(parse(SCATTERED), 8)
    assert (one.kind, one.nbytes) == ("reduce-scatter", 3 * 16 * 16 * 4)


def test_products_in_loops_count_by_turns() -> None:
    assert product_flops(parse(LOOP)) == 5 * 2 * 8 * 16 * 16


def test_what_the_compiler_warns_of_is_read() -> None:
    warned = (
        "W1121 19:06:53.288115 27446 spmd_partitioner.cc:656] [SPMD] Involuntary full rematerialization. The compiler cannot go "
        "from sharding {devices=[8,1,1]<=[8]} to {devices=[1,1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate} efficiently for HLO "
        "operation %fake_parameter.2 = f32[4,128,256]{2,1,0} parameter(2), sharding={devices=[8,1,1]<=[8]}. As the last resort"
    )
    assert rematerialised(f"something else\n{warned}\n{warned}") == (
        "f32[4,128,256] (parameter) from 8x1x1 parts to 1x1x2 parts",
    )
    assert rematerialised("W1121 a warning of another kind") == ()


# ---- score and search ----


def figures(flops: float, sent: float, memory: int, fits: bool = True) -> Figures:
    return Figures(flops, sent, memory, {}, {}, (), fits)


def test_plain_data_parallel_scores_two_and_less_of_anything_is_better() -> None:
    plain = figures(1e12, 1e8, 10**9)
    weighed = scale(parse_target("tpu:v5e-2x4"), "float32", None, plain)
    assert weighed.chip == "v5e"
    assert weighed.score(plain) == pytest.approx(2)
    for better in (figures(5e11, 1e8, 10**9), figures(1e12, 5e7, 10**9), figures(1e12, 1e8, 5 * 10**8)):
        assert weighed.score(better) < 2
    assert scale(parse_target("cpu"), "float32", None, plain).chip == "v5e"


def test_what_does_not_fit_is_worse_than_anything_that_does() -> None:
    plain = figures(1e12, 1e8, 10**9)
    weighed = scale(parse_target("cpu"), "float32", 6 * 10**8, plain)
    fitting = figures(8e12, 9e8, 5 * 10**8)
    assert weighed.score(fitting) < weighed.score(plain)
    assert weighed.score(figures(0, 0, 0, fits=False)) > weighed.score(fitting)


def test_the_search_finds_what_a_cost_prefers_and_keeps_its_bounds(transformer: Classes) -> None:
    numbers = [n for n, one in enumerate(transformer.inputs) if one.path.startswith("args[0]")]
    compiled = []

    def compiling(placement: Any) -> Figures:
        compiled.append(placement)
        leaves, *_ = placement
        if any("data" in axes for n in numbers for axes in leaves[n]):
            raise StagingError("could not compile: not today")
        split = sum(1 for n in numbers if ("model",) in leaves[n])
        return figures(1e9, 1e6, 10**9 // (1 + split))

    search = Search(transformer, MESH, compiling, 60, 60.0)
    start = search.named()
    weighed = scale(parse_target("cpu"), "float32", None, start[0].figures)  # type: ignore[arg-type]
    best = search.improve(start, weighed.score)
    assert len(compiled) == len(set(compiled)) <= 60
    matrices = [n for n in numbers if len(transformer.inputs[n].shape) > 1]
    assert all(("model",) in best.placement[0][n] for n in matrices)
    assert any(one.reason == "could not compile: not today" for one in search.tried)
    short = Search(transformer, MESH, compiling, 3, 60.0)
    assert short.improve(short.named(), weighed.score) is not None
    assert len(short.tried) == 3


def test_train_steps_come_first_and_cheap_functions_are_left_out() -> None:
    def function(name: str, seconds: float, rebound: tuple[int, ...] | None) -> Any:
        found = capture(lambda x: x, np.ones(2, np.float32))
        found.qualname, found.seconds, found.rebound = name, seconds, rebound
        return found

    given = [function("evaluate", 9.0, None), function("step", 5.0, (0,)), function("log", 0.1, None)]
    assert [one.qualname for one in worth_sharding(given)] == ["step", "evaluate"]


class Chip:
    def __init__(self, *coords: int) -> None:
        self.coords = coords


def test_the_nearer_layout_on_a_torus_is_told_by_bytes_and_links() -> None:
    chips = [Chip(x, y, 0) for y in range(4) for x in range(2)]
    folded = np.array([chips[n] for n in (0, 1, 2, 3, 7, 6, 5, 4)]).reshape(4, 2)
    sent = Figures(0, 0, 0, {}, {"data": 3 * 2**20, "model": 2**20})
    said = list(advice.layout(MESH, chips, folded, sent))
    assert said[0].startswith("a ring over data takes 6 links in the order of jax.devices(), 8 in")
    assert said[0].endswith("it sends 3 MiB")
    assert said[1].startswith("a ring over model takes 2 links")
    assert "reshape(4, 2)" in said[2]
    assert not list(advice.layout(MESH, [object()] * 8, folded, sent))


def test_pmap_in_the_file_is_brought_up(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("import jax\nstep = jax.pmap(lambda x: x)\n")
    assert next(advice.pmaps(str(file), MESH, ("data",))).startswith("line 2: replace pmap")
    file.write_text("import jax\nstep = jax.jit(lambda x: x)\n")
    assert not list(advice.pmaps(str(file), MESH, ("data",)))


# ---- the code ----


def test_the_rules_give_what_was_compiled_for_every_named_strategy(transformer: Classes) -> None:
    for strategy in strategies.named(transformer, MESH):
        found = placement_code.rules(strategy, transformer, MESH)
        wanted = strategy.leaves(transformer, MESH)
        for one in transformer.inputs[:-1]:  # the last is the batch, which has no rule
            inside = one.path.removeprefix("args")  # both arguments are placed together, as a tuple
            assert placement_code.spec_of(found, inside, len(one.shape)) == wanted[one.number], (
                strategy.name,
                one.path,
            )


def test_the_code_runs_and_places_what_it_says(transformer: Classes) -> None:
    megatron = named(transformer)["tensor parallel, vocabulary too"]
    mesh = MeshShape(("data", "model"), (1, 1))
    count = (len(transformer.inputs) - 1) // 2
    results = [list(range(count)), list(range(count, 2 * count))]
    text = placement_code.program(megatron, transformer, mesh, "by_hand", results)
    assert "in_shardings=(state_0_at, state_1_at, NamedSharding(mesh, P('data')))" in text
    assert "out_shardings=(state_0_at, state_1_at)" in text
    params = jax.tree.map(jnp.asarray, parameters())
    scope: dict[str, Any] = {"by_hand": by_hand, "state_0": params, "state_1": params}
    exec(text, scope)
    assert scope["state_0"]["blocks"][1]["q"].sharding.spec == jax.sharding.PartitionSpec(None, "model")
    new, _ = scope["step"](scope["state_0"], scope["state_1"], jnp.asarray(TOKENS))
    expected, _ = by_hand(params, params, TOKENS)
    assert jnp.allclose(new["head"], expected["head"], atol=1e-5)
