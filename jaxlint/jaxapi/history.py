"""The history of JAX's names and parameters: when they were removed, and what replaces them.

The table covers every release from 0.4.24 on and samples of older ones. Names are spelled as in user code, not
canonicalised: it is the old spelling that was removed.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxlint.jaxapi.versions import VersionRange, parse_range, parse_version

NEWEST = "0.12.0.1"  # the newest release that the table knows
PRIVATE_SINCE = "0.10.2"
# The packages in the tables: what to install for them, and the newest release that was read.
PACKAGES = {
    "jax": ("jax", NEWEST),
    "flax": ("flax", "0.12.12"),
    "optax": ("optax", "0.2.8"),
    "chex": ("chex", "0.1.92"),
    "haiku": ("dm-haiku", "0.0.17"),
    "orbax": ("orbax-checkpoint", "0.12.8"),
}
_DATA = Path(__file__).with_name("data") / "api_history.jsonl"


@dataclass(frozen=True, slots=True)
class ApiChange:
    """One row of the history.

    `kind`: "removed", "moved" (the same name elsewhere), "deprecated" (still there), "signature" (a parameter),
    "recommendation" (nothing is wrong with the old name). `form`: "name", "module", "attribute", "keyword", "call",
    "config". `rewrite`: "rename", "rename+args" or "manual". `since` is the first version with `replacement`;
    `alternative` also works on older ones. The replacement needs an import of `module`. `warns` is True if the newest
    release warns about the name.
    """

    name: str
    kind: str
    form: str
    tier: str
    rewrite: str
    note: str = ""
    deprecated_in: str | None = None
    removed_in: str | None = None
    replacement: str | None = None
    alternative: str | None = None
    since: str | None = None
    module: str | None = None
    param: str | None = None
    param_replacement: str | None = None
    warns: bool = False
    private: str | None = None  # in releases from PRIVATE_SINCE on that still have it, under jax._src


@functools.cache
def _rows() -> list[dict[str, Any]]:
    """The rows as written; an ApiChange is created on demand."""
    text = _DATA.read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = json.loads(f"[{','.join(text.splitlines())}]")
    return rows


@functools.cache
def all_changes() -> tuple[ApiChange, ...]:
    """Every row, the most used ones first."""
    return tuple(_change(index) for index in range(len(_rows())))


@functools.cache
def _change(index: int) -> ApiChange:
    return ApiChange(**_rows()[index])


@functools.cache
def _names() -> Mapping[str, int]:
    found: dict[str, int] = {}
    for index, row in enumerate(_rows()):
        if row["form"] in ("name", "module") or row["name"] in _STATIC_ATTRIBUTES:
            found.setdefault(row["name"], index)
    return found


@functools.cache
def _keywords() -> Mapping[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for index, row in enumerate(_rows()):
        parameter = row.get("param", "")
        if row["form"] == "keyword" and parameter.isidentifier():
            if (row["name"], parameter) not in _STILL_ACCEPTED:
                found.setdefault(row["name"], []).append(index)
    return {name: tuple(indices) for name, indices in found.items()}


# Attributes of differently typed objects that share one name, so that no type has to be known.
_STATIC_ATTRIBUTES = {
    "jax.config.FLAGS",
    *(f"jax.config.define_{kind}_state" for kind in ("bool", "enum", "int", "string")),
    "jax.config.enable_omnistaging",
    "jax.config.omnistaging_enabled",
    "jax.sharding.Mesh.__enter__",
}
# Rows about the meaning or value of a parameter that still exists.
_STILL_ACCEPTED = {
    ("jax.make_mesh", "axis_types"),
    ("jax.experimental.multihost_utils.process_allgather", "tiled"),
    ("jax.experimental.pallas.tpu.InterpretParams", "detect_races"),
    ("jax.experimental.pallas.tpu.InterpretParams", "out_of_bounds_reads"),
    ("jax.experimental.pallas.tpu.InterpretParams", "skip_floating_point_ops"),
    ("jax.experimental.pallas.tpu.InterpretParams", "uninitialized_memory"),
    ("jax.experimental.pallas.tpu.InterpretParams", "vector_clock_size"),
}


def lookup(qualified: str) -> ApiChange | None:
    """The change of the name or module `qualified` ("jax.tree_map"); None if the table does not contain it."""
    if not qualified.startswith("jax."):
        return _neighbours().get(qualified)
    index = _names().get(qualified)
    return None if index is None else _change(index)


@functools.cache
def neighbour_changes() -> tuple[ApiChange, ...]:
    """The rows about the libraries around JAX, from their own releases."""
    text = _DATA.with_name("neighbour_history.jsonl").read_text(encoding="utf-8")
    return tuple(ApiChange(**row) for row in map(json.loads, text.splitlines()))


@functools.cache
def _neighbours() -> Mapping[str, ApiChange]:
    return {change.name: change for change in neighbour_changes() if change.form in ("name", "module")}


@functools.cache
def _neighbour_keywords() -> Mapping[str, tuple[ApiChange, ...]]:
    found: dict[str, tuple[ApiChange, ...]] = {}
    for change in neighbour_changes():
        if change.form == "keyword":
            found[change.name] = (*found.get(change.name, ()), change)
    return found


def package_of(qualified: str) -> str | None:
    """The package in the tables that contains a dotted name."""
    package, dot, _ = qualified.partition(".")
    return package if dot and package in PACKAGES else None


@functools.cache
def _all_names() -> frozenset[str]:
    return frozenset(row["name"] for row in _rows())


def has_row(qualified: str) -> bool:
    """Whether the table mentions `qualified` in any form, including its parameters and options."""
    return qualified in _all_names()


def lookup_module(qualified: str) -> ApiChange | None:
    """The row of the innermost module that contains `qualified`, if it has one."""
    parent = qualified.rpartition(".")[0]
    while parent:
        change = lookup(parent)
        if change is not None:
            return change if change.form == "module" else None
        parent = parent.rpartition(".")[0]
    return None


def keyword_changes(qualified: str) -> tuple[ApiChange, ...]:
    """Parameters of the function `qualified` that no longer accept a keyword, or soon will not."""
    if not qualified.startswith("jax."):
        return _neighbour_keywords().get(qualified, ())
    return tuple(_change(index) for index in _keywords().get(qualified, ()))


def call_change(qualified: str) -> ApiChange | None:
    """The row about how `qualified` is called, beyond the names of its parameters."""
    if not qualified.startswith("jax."):
        return _neighbour_calls().get(qualified)
    index = _calls().get(qualified)
    return None if index is None else _change(index)


@functools.cache
def _neighbour_calls() -> Mapping[str, ApiChange]:
    return {change.name: change for change in neighbour_changes() if change.form == "call"}


@functools.cache
def _calls() -> Mapping[str, int]:
    return {row["name"]: index for index, row in enumerate(_rows()) if row["form"] == "call"}


@functools.cache
def gone_options() -> Mapping[str, ApiChange]:
    """Options of `jax.config` that some release removed, by name."""
    return {
        row["name"].rpartition(".")[2]: _change(index)
        for index, row in enumerate(_rows())
        if row["form"] == "config"
    }


@dataclass(frozen=True, slots=True)
class Target:
    """The versions of JAX that a program must run on."""

    range: VersionRange

    @staticmethod
    def of(specifier: str | None, package: str = "jax") -> Target:
        """The target for a version or specifier of a package; None means its newest release. Raises VersionError."""
        return _target(specifier, PACKAGES[package][1])

    def lacks(self, change: ApiChange) -> bool:
        """Whether some version of the target lacks the subject of `change`."""
        return change.removed_in is not None and self.range.reaches(parse_version(change.removed_in))

    def deprecates(self, change: ApiChange) -> bool:
        """Whether some version of the target still has it, but warns."""
        if self.lacks(change) or change.deprecated_in is None:
            return False
        return self.range.reaches(parse_version(change.deprecated_in))

    def has_since(self, version: str | None) -> bool:
        """Whether every version of the target is `version` or later; true for None."""
        return version is None or self.range.starts_at(parse_version(version))


@functools.cache
def _target(specifier: str | None, latest: str) -> Target:
    if specifier is None:
        return Target(parse_range(latest))
    found = parse_range(specifier)
    newest = parse_version(latest)
    if found.high is None or found.high > newest:
        # The table knows nothing about future versions.
        low = found.low
        high = newest if low is None or low <= newest else low
        return Target(VersionRange(low, high))
    return Target(found)


# Clearer than the notes in the table.
_ADVICE = {
    "jax.abstract_arrays.raise_to_shaped": "replace the call with its first argument",
    "jax.api": "its names are those of `jax`",
    "jax.Array.device()": "use the property `.device`, or `.devices()` for a set",
    "jax.Array.device_buffer": "use `.addressable_data(0)`",
    "jax.Array.to_py": "use `np.asarray(x)`",
    "jax.cloud_tpu_init": "remove the import",
    "jax.cloud_tpu_init.cloud_tpu_init": "remove the call and the import",
    "jax.config.bool_env": "read `os.environ`",
    "jax.config.config": "use `from jax import config`",
    "jax.config.enable_omnistaging": "remove the call: it is always on",
    "jax.config.FLAGS": "use `jax.config.jax_x` for `config.FLAGS.jax_x`",
    "jax.config.flags": "read `jax.config.<name>`, or call `jax.config.update`",
    "jax.config.int_env": "read `os.environ`",
    "jax.config.omnistaging_enabled": "remove it: it is always true",
    "jax.core.axis_frame": "use `jax.lax.axis_size(name)`, which returns the size only",
    "jax.core.call_impl": "nothing public replaces it",
    "jax.core.CallPrimitive": "nothing public replaces it",
    "jax.core.check_valid_jaxtype": "test `jax.extend.core.valid_jaxtype(x)`, and raise if it is false",
    "jax.core.ConcreteArray": "nothing replaces it",
    "jax.core.DimSize": "write `int | Any`",
    "jax.core.DShapedArray": "nothing replaces it: JAX has no dynamic shapes any more",
    "jax.core.extract_call_jaxpr": "read `call_jaxpr` from the parameters of the primitive",
    "jax.core.full_lower": "replace the call with its argument",
    "jax.core.lattice_join": "remove it: it has no effect",
    "jax.core.map": "use `list(map(f, *xs))`, and assert equal lengths",
    "jax.core.raise_to_shaped": "replace the call with its first argument",
    "jax.core.safe_zip": "use `zip(*xs, strict=True)`",
    "jax.core.Shape": "write `Sequence[int | Any]`",
    "jax.core.ShapedArray.named_shape": "leave it out: it named the axes of `xmap`, which is gone",
    "jax.core.ShapedArray.vma": "use `.manual_axis_type.varying`",
    "jax.core.token": "create a token where it is needed, and pass it on",
    "jax.core.tuple_delete": "write the slices of the tuple",
    "jax.core.tuple_insert": "write the slices of the tuple",
    "jax.core.unit": "nothing replaces it: JAX has no unit any more",
    "jax.core.unitvar": "nothing replaces it: JAX has no unit any more",
    "jax.core.zip": "use `list(zip(*xs, strict=True))`",
    "jax.curry": "write `lambda f: partial(partial, f)`",
    "jax.custom_remat": "nothing public replaces it",
    "jax.custom_transforms": "use `jax.custom_jvp` or `jax.custom_vjp`",
    "jax.defjvp": "use `jax.custom_jvp` and `f.defjvp(rule)`",
    "jax.defjvp_all": "use `jax.custom_jvp` and `f.defjvp(rule)`",
    "jax.defvjp": "use `jax.custom_vjp` and `f.defvjp(fwd, bwd)`",
    "jax.defvjp_all": "use `jax.custom_vjp` and `f.defvjp(fwd, bwd)`",
    "jax.device_put_replicated": "stack copies and use `jax.device_put` with a NamedSharding",
    "jax.device_put_sharded": "stack the shards and use `jax.device_put` with a NamedSharding",
    "jax.dlpack.SUPPORTED_DTYPES": "call the function that tests a dtype instead of `in`",
    "jax.dlpack.to_dlpack": "pass the array to the other library's `from_dlpack`",
    "jax.experimental.custom_dce": "nothing replaces it",
    "jax.experimental.disable_x64": "use `jax.enable_x64(False)`",
    "jax.experimental.enable_x64": "use `jax.enable_x64(True)`",
    "jax.experimental.export.call": "use `exp.call` for `call(exp)`",
    "jax.experimental.export.call_exported": "use `exp.call` for `call_exported(exp)`",
    "jax.experimental.export.export": "use `jax.export.export(jit(f))(*args)`, with `platforms`",
    "jax.experimental.export.serialize": "use `exp.serialize()`",
    "jax.experimental.global_device_array.GlobalDeviceArray": "use `jax.Array`, and `jax.make_array_from_callback` to create one",
    "jax.experimental.hijax.VJPHiPrimitive": "use `HiPrim`, whose methods differ",
    "jax.experimental.host_callback": "use `jax.debug.callback`, `jax.pure_callback` or `jax.experimental.io_callback`",
    "jax.experimental.host_callback.call": "use `jax.pure_callback(f, s, arg)`, or `io_callback` for effects",
    "jax.experimental.host_callback.id_print": "use `jax.debug.print`, which takes a format string and returns nothing",
    "jax.experimental.host_callback.id_tap": "use `jax.debug.callback`, or `io_callback` with `ordered=True`",
    "jax.experimental.layout.DeviceLocalLayout": "use `Layout`, and `Format` for the former `Layout`",
    "jax.experimental.loops": "use `lax.fori_loop`, `lax.while_loop` or `lax.scan`",
    "jax.experimental.loops.Scope": "use `lax.fori_loop`, `lax.while_loop`, `lax.scan` or `lax.cond`",
    "jax.experimental.maps": "use `jax.shard_map`, and `jax.sharding.Mesh` for its `Mesh`",
    "jax.experimental.maps.mesh": "use `jax.sharding.Mesh(devices, names)` with `jax.set_mesh`",
    "jax.experimental.maps.ResourceEnv": "nothing replaces it: it was part of `xmap`",
    "jax.experimental.maps.thread_resources": "use `jax.set_mesh` and `jax.sharding.get_abstract_mesh`",
    "jax.experimental.maps.xmap": "use `jax.shard_map`, or `jax.vmap` with `spmd_axis_name`",
    "jax.experimental.pallas.DeviceIdType": "leave out `device_id_type=`",
    "jax.experimental.pallas.dot": "use `jnp.dot`, `jnp.einsum` or `@`",
    "jax.experimental.pallas.load": "read `ref[idx]`; with a mask, use `load` of the backend",
    "jax.experimental.pallas.mosaic_gpu.transpose_ref": "use `ref.transpose(perm)`",
    "jax.experimental.pallas.ops.gpu.decode_attention": "use tokamax, or copy the module",
    "jax.experimental.pallas.store": "write `ref[idx] = value`; with a mask, use `store` of the backend",
    "jax.experimental.pallas.swap": "read and write `ref[idx]`, or use the backend's function",
    "jax.experimental.pallas.tpu.repeat": "use `jnp.tile` with a tuple of repetitions",
    "jax.experimental.pallas.Unblocked": "use `pl.Element(size)` for each dimension in the block shape",
    "jax.experimental.pallas.unblocked": "use `pl.Element(size)` for each dimension in the block shape",
    "jax.experimental.pjit.AUTO": "nothing public replaces it",
    "jax.experimental.pjit.FROM_GDA": "remove it, and pass sharded arrays",
    "jax.experimental.pjit.pjit": "use `jax.jit` with `in_shardings` and `out_shardings`",
    "jax.experimental.saved_input_vjp": "use `jax.vjp`",
    "jax.experimental.shard_alike": "nothing replaces it",
    "jax.experimental.shard_map.shard_map": "use `jax.shard_map`, with `mesh` and the specs by keyword",
    "jax.experimental.si_vjp": "use `jax.vjp`",
    "jax.experimental.with_sharding_constraint": "use `jax.lax.with_sharding_constraint`",
    "jax.extend.backend.add_clear_backends_callback": "nothing public replaces it",
    "jax.extend.core.primitives.xla_pmap_p": "nothing replaces it: `pmap` is `jit` of `shard_map`",
    "jax.extend.ffi.ffi_call": "call the result of `ffi_call(name, shapes)`",
    "jax.interpreters.batching.moveaxis": "use `jax.numpy.moveaxis`",
    "jax.interpreters.batching.not_mapped": "write `None`",
    "jax.interpreters.mlir.custom_call": "use the functions of `jax.ffi`",
    "jax.interpreters.mlir.flatten_ir_types": "use `jax.interpreters.mlir.ir_tree_registry.flatten`",
    "jax.interpreters.mlir.unflatten_ir_values_like_types": "use `treedef.unflatten`",
    "jax.interpreters.pxla.thread_resources": "use `jax.set_mesh` and `jax.sharding.get_abstract_mesh`",
    "jax.interpreters.pxla.xla_pmap_p": "nothing replaces it: `pmap` is `jit` of `shard_map`",
    "jax.interpreters.xla.abstractify": "use `jax.typeof`",
    "jax.interpreters.xla.backend_specific_translations": "use `jax.interpreters.mlir.register_lowering` with `platform=`",
    "jax.interpreters.xla.canonicalize_dtype": "use `jax.dtypes.canonicalize_dtype`",
    "jax.interpreters.xla.ConcreteArray": "nothing replaces it",
    "jax.interpreters.xla.register_translation": "use `jax.interpreters.mlir.register_lowering`, whose rule emits StableHLO",
    "jax.interpreters.xla.translations": "use `jax.interpreters.mlir.register_lowering`, whose rule emits StableHLO",
    "jax.interpreters.xla.xb": "nothing public replaces it",
    "jax.interpreters.xla.xc": "nothing public replaces it",
    "jax.interpreters.xla.xe": "nothing public replaces it",
    "jax.interpreters.xla.xla_call_p": "use `jax.extend.core.primitives.jit_p`, whose parameters differ",
    "jax.lax.tie_in": "replace `tie_in(x, y)` with `y`",
    "jax.lax.pdot": "nothing replaces it: it was part of `xmap`",
    "jax.lax.xeinsum": "nothing replaces it: it was part of `xmap`",
    "jax.lib.xla_bridge": "only some of its names have moved",
    "jax.lib.xla_bridge.xla_client": "nothing public replaces it",
    "jax.lib.xla_client._xla": "nothing public replaces it",
    "jax.lib.xla_client.register_custom_call_target": "use `jax.ffi.register_ffi_target`, and its calling convention",
    "jax.ops.index": "use `jnp.s_[a:b]`, or the slice itself inside `.at[...]`",
    "jax.ops.index_add": "use `x.at[idx].add(y)`, with plain slices as `idx`",
    "jax.ops.index_max": "use `x.at[idx].max(y)`, with plain slices as `idx`",
    "jax.ops.index_min": "use `x.at[idx].min(y)`, with plain slices as `idx`",
    "jax.ops.index_mul": "use `x.at[idx].multiply(y)`, with plain slices as `idx`",
    "jax.ops.index_update": "use `x.at[idx].set(y)`, with plain slices as `idx`",
    "jax.ops.scatter": "use `x.at[idx]` and its methods",
    "jax.pmap": "use `jax.shard_map`",
    "jax.prng": "only some of its names have moved",
    "jax.prng.PRNGImpl": "nothing public replaces it",
    "jax.random.default_prng_impl": "use `jax.random.key_impl(key)`",
    "jax.random.PRNGKey": "use `jax.random.key`",
    "jax.random.PRNGKeyArray.unsafe_raw_array": "use `jax.random.key_data(k)`",
    "jax.scipy.special.sph_harm": "use `sph_harm_y(n, m, phi, theta)` for `sph_harm(m, n, theta, phi)`",
    "jax.sharding.Mesh.__enter__": "use `with jax.set_mesh(mesh):`",
    "jax.sharding.OpShardingSharding": "use `jax.sharding.NamedSharding`",
    "jax.soft_pmap": "use `jax.shard_map`",
    "jax.stages.Compiled.compiler_ir": "use `.as_text()`",
    "jax.tools.colab_tpu": "remove the import",
    "jax.tools.colab_tpu.setup_tpu": "remove the call and the import",
    "jax.tree_util.GetitemKeyPathEntry": "use `SequenceKey(idx)` for sequences and `DictKey(key)` for dicts",
    "jax.util.cache": "use `functools.lru_cache`",
    "jax.util.safe_map": "use `list(map(f, *xs))`, and assert equal lengths",
    "jax.util.safe_zip": "use `zip(*xs, strict=True)`",
    "jax.util.to_dlpack": "pass the array to the other library's `from_dlpack`",
    "jax.util.unzip2": "use `zip(*pairs)`",
    "jax.util.wraps": "use `functools.wraps`",
    "jax.xla_computation": "use `jax.jit(f).lower(*args).compiler_ir('hlo')`",
}
# How notes begin that say only that there is nothing to use.
_NOTHING = ("no ", "internal", "message names", "drop", "primitive removed")


def describe_replacement(change: ApiChange) -> str:
    """What to use instead, for people: an order, or that there is nothing."""
    if change.name in _ADVICE:
        return _ADVICE[change.name]
    note = change.note.removeprefix("message: ").removeprefix("changelog: ").replace("; ", ", ")
    if change.replacement and change.rewrite != "manual" and "->" not in note:
        return f"use {_quoted(change.replacement)}"
    if change.form == "module" and change.rewrite == "manual":
        return "nothing replaces the module as a whole"
    if not note or note.startswith(_NOTHING):
        return "nothing public replaces it"
    if change.replacement and "->" not in note and not note.startswith("use "):
        return f"use {_quoted(change.replacement)} ({note})"
    return note


def _quoted(replacement: str) -> str:
    return replacement if "`" in replacement or " " in replacement else f"`{replacement}`"


def describe_option(change: ApiChange) -> str:
    """What to do about an option of `jax.config` that is gone."""
    if change.replacement:
        value = ", with 'gloo' for True" if "gloo" in change.note else ""
        return f"use {_quoted(change.replacement.removeprefix('jax.config.'))}{value}"
    return "remove it: it is always on" if "always on" in change.note else "remove it"
