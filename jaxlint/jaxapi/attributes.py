"""Removed methods and attributes of JAX's objects, by class, and how to migrate a program from each.

The rows are those of the history with the form "attribute"; this module has the replacements.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from jaxlint.jaxapi.history import ApiChange, Target, all_changes, neighbour_changes

_NAME = re.compile(r"(?P<owner>[\w.]+)\.(?P<name>\w+)(?P<call>\(.*\))?")
# The classes whose attributes a class also has. Keys and tracers are arrays.
_PARENTS = {"jax.random.PRNGKeyArray": "jax.Array"}


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The replacement of `x.name`, or of `x.name(...)` if `called`.

    `tail` replaces the name, and the call; `around` is the dotted name of a function that takes `x` and then the
    call's arguments; `text` is any expression of `{x}`. `argument` replaces the call's only argument. `since`: the
    first release where this is right. `risk`: how the program's behaviour may change.
    """

    tail: str = ""
    around: str = ""
    text: str = ""
    argument: str = ""
    called: bool = False
    since: str | None = None
    risk: str = ""


_REWRITES: Mapping[str, Rewrite] = {
    **{
        f"flax.core.FrozenDict.{name}()": Rewrite(around=f"flax.core.{name}", called=True, since="0.6.8")
        for name in ("unfreeze", "pretty_repr", "pop", "copy")
    },
    "jax.Array.block_host_until_ready": Rewrite("block_until_ready"),
    "jax.Array.broadcast": Rewrite(around="jax.lax.broadcast", called=True),
    "jax.Array.broadcast_in_dim": Rewrite(around="jax.lax.broadcast_in_dim", called=True),
    # `x.device` is the sharding if a mesh placed the array, even on a single device.
    "jax.Array.device()": Rewrite(text="next(iter({x}.devices()))", called=True, since="0.4.1"),
    "jax.Array.device_buffer": Rewrite("addressable_data(0)", since="0.4.1"),
    "jax.Array.device_buffers": Rewrite(
        text="[shard.data for shard in {x}.addressable_shards]", since="0.4.1"
    ),
    "jax.Array.layout": Rewrite("format", since="0.7.0"),
    "jax.Array.split": Rewrite(around="jax.numpy.split", called=True),
    "jax.Array.tile": Rewrite(around="jax.numpy.tile", called=True),
    "jax.Array.to_py": Rewrite(around="numpy.asarray", called=True),
    "jax.core.ShapedArray.vma": Rewrite("manual_axis_type.varying", since="0.10.0"),
    "jax.export.Exported.lowering_platforms": Rewrite("platforms", since="0.4.30"),
    "jax.export.Exported.mlir_module_serialization_version": Rewrite(
        "calling_convention_version", since="0.4.30"
    ),
    "jax.export.Exported.uses_shape_polymorphism": Rewrite("uses_global_constants", since="0.4.30"),
    "jax.random.PRNGKeyArray.unsafe_raw_array": Rewrite(
        around="jax.random.key_data", called=True, since="0.4.16"
    ),
    "jax.stages.Compiled.input_layouts": Rewrite("input_formats", since="0.7.0"),
    "jax.stages.Compiled.output_layouts": Rewrite("output_formats", since="0.7.0"),
    "jax.stages.Lowered.compiler_ir('mhlo')": Rewrite(argument='"stablehlo"', called=True, since="0.4.1"),
}


@functools.cache
def _changes() -> Mapping[tuple[str, str], ApiChange]:
    found = {}
    for change in (*all_changes(), *neighbour_changes()):
        if change.form == "attribute" and (match := _NAME.fullmatch(change.name)):
            found[match["owner"], match["name"]] = change
    return found


@functools.cache
def attribute_names() -> frozenset[str]:
    """The names of all attributes that some JAX class has lost, and of methods that have lost parameters."""
    methods = (change.name.removeprefix("jax.Array.") for change in all_changes() if change.form == "keyword")
    return frozenset(name for _, name in _changes()) | {name for name in methods if "." not in name}


def attribute_change(owner: str, name: str) -> ApiChange | None:
    """The change of the attribute `name` of the class `owner`; None if the table does not contain it."""
    while owner:
        if (change := _changes().get((owner, name))) is not None:
            return change
        owner = _PARENTS.get(owner, "")
    return None


def call_of(change: ApiChange) -> str | None:
    """The call that the row is about: "()" for any, "('mhlo')" for one with that argument; None for the bare name."""
    match = _NAME.fullmatch(change.name)
    return match["call"] if match else None


def attribute_rewrite(change: ApiChange, target: Target) -> Rewrite | None:
    """The replacement for every version of `target`; None if the table has none that is right there."""
    rewrite = _REWRITES.get(change.name)
    return rewrite if rewrite is not None and target.has_since(rewrite.since) else None
