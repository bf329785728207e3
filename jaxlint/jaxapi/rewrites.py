"""How to move a program from a name or parameter of JAX that went: parameters for the codemods, where one can do it.

The history says what replaces a name; the tables here say what else changes with it (arguments, the whole expression),
and which replacements only look like renames.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.jaxapi.history import ApiChange, Target, keyword_changes, lookup

Parameters = dict[str, Any]

_SHARD_MAP = ("f", "mesh", "in_specs", "out_specs", "check_rep", "auto")
_PJIT_OLD = {"in_axis_resources": "in_shardings", "out_axis_resources": "out_shardings"}
_INDEX = {"parameters": ("x", "idx", "y"), "index_helper": "jax.ops.index"}

# What changes besides the name; see the codemod `rename-api`.
_ACTIONS: Mapping[str, Mapping[str, Any]] = {
    "jax.experimental.shard_map.shard_map": {
        "call": {
            "parameters": _SHARD_MAP,
            "keep": 1,
            "rename": {"check_rep": "check_vma"},
            "refuse": {
                "auto": "`auto` lists the axes that stay automatic, `axis_names` of jax.shard_map the others"
            },
        }
    },
    "jax.experimental.pjit.pjit": {
        "call": {
            "parameters": ("fun", "in_shardings", "out_shardings", "static_argnums", "static_argnames"),
            "keep": 1,
            "refuse": {
                **{
                    name: f"`{name}=None` meant replicated, `{new}=None` leaves the choice to the compiler"
                    for name, new in _PJIT_OLD.items()
                },
                **{
                    name: f"with bare PartitionSpecs, `{name}` of jax.jit needs a mesh from jax.set_mesh"
                    for name in _PJIT_OLD.values()
                },
            },
        }
    },
    "jax.experimental.pjit.with_sharding_constraint": {
        "call": {"parameters": ("x", "shardings"), "rename": {"axis_resources": "shardings"}}
    },
    "jax.experimental.enable_x64": {"call": {"default": "True"}},
    "jax.experimental.x64_context.enable_x64": {"call": {"default": "True"}},
    "jax.experimental.disable_x64": {"call": {"keep": 0, "default": "False"}},
    "jax.experimental.x64_context.disable_x64": {"call": {"keep": 0, "default": "False"}},
    "jax.experimental.export.export": {"call": {"rename": {"lowering_platforms": "platforms"}}},
    "jax.interpreters.batching.not_mapped": {"expression": "None"},
    "jax.numpy.NINF": {"expression": "-{}", "new": "jax.numpy.inf"},
    "jax.numpy.NZERO": {"expression": "-0.0", "new": ""},
    "jax.numpy.PZERO": {"expression": "0.0", "new": ""},
    "jax.ops.index_update": {"template": {"text": "{x}.at[{idx}].set({y})", **_INDEX}},
    "jax.ops.index_add": {"template": {"text": "{x}.at[{idx}].add({y})", **_INDEX}},
    "jax.ops.index_mul": {"template": {"text": "{x}.at[{idx}].multiply({y})", **_INDEX}},
    "jax.ops.index_min": {"template": {"text": "{x}.at[{idx}].min({y})", **_INDEX}},
    "jax.ops.index_max": {"template": {"text": "{x}.at[{idx}].max({y})", **_INDEX}},
    "jax.lax.tie_in": {"template": {"text": "{y}", "parameters": ("x", "y")}},
    "jax.lax.pvary": {"call": {"add": {"to": '"varying"'}}},
    "jax.numpy.msort": {"call": {"add": {"axis": "0"}}},
    "jax.random.shuffle": {"call": {"add": {"independent": "True"}}},
    "jax.random.rbg_key": {"call": {"add": {"impl": '"rbg"'}}},
    "jax.random.threefry2x32_key": {"call": {"add": {"impl": '"threefry2x32"'}}},
    "jax.random.unsafe_rbg_key": {"call": {"add": {"impl": '"unsafe_rbg"'}}},
    "jax.config.FLAGS": {},
    "jax.config.config": {},
}
# Renames by the table whose new name does not mean quite the same.
_ONLY_LOOKS_LIKE_A_RENAME = {
    "jax.experimental.layout.DeviceLocalLayout",  # its new name was another class's old one
    "jax.experimental.pallas.mosaic_gpu.ThreadSemantics",  # other members
    "jax.experimental.pallas.tpu.TPUMemorySpace",  # some members moved elsewhere
    "jax.api",  # had names that jax itself never had
    "jax.experimental.host_callback.barrier_wait",  # takes no argument any more
}
# Submodules that `import jax` does not load, where the history does not say so.
_UNLOADED = ("jax.experimental.array_serialization.serialization",)
# Rewrites whose result may differ.
_UNSAFE = {"jax.random.shuffle"}  # the same kind of shuffle, not the same numbers
# Keywords that have to be given by position, in the order of the signature.
_POSITIONAL_ORDER: Mapping[str, Sequence[str]] = {"jax.numpy.where": ("condition", "x", "y")}
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_MAX_MOVES = 4  # a replacement may have been replaced in turn


def rename_parameters(change: ApiChange, target: Target) -> Parameters | None:
    """Parameters of `rename-api` for this change, None when no rewrite is right on every version of `target`."""
    action = _ACTIONS.get(change.name)
    if change.name in _ONLY_LOOKS_LIKE_A_RENAME or (action is None and change.rewrite != "rename"):
        return None
    found: Parameters = {"old": change.name, "new": change.replacement or "", **(action or {})}
    if not target.has_since(change.since):
        # Names of jax.tree_util are as old as the table.
        if action or not (change.alternative or "").startswith("jax.tree_util."):
            return None
        found["new"] = change.alternative
    else:
        module = change.module or next((m for m in _UNLOADED if f"{found['new']}.".startswith(f"{m}.")), None)
        if module:
            found["module"] = module
        if change.alternative and _DOTTED.fullmatch(change.alternative) and not action:
            found["alternative"] = change.alternative
    if found["new"] and not _DOTTED.fullmatch(found["new"]):
        return None
    if found["new"] == "jax.Array":
        found["type_tests"] = False  # true for tracers, which the old class was not
    return _follow(found, target)


def is_unsafe(change: ApiChange) -> bool:
    """Whether the rewrite of `change` may change what the program computes."""
    return change.name in _UNSAFE


def _follow(found: Parameters, target: Target) -> Parameters | None:
    """Where the replacement is gone too: what replaces that."""
    for _ in range(_MAX_MOVES):
        later = lookup(found["new"])
        if later is None or not target.lacks(later):
            return found
        if later.rewrite != "rename" or not later.replacement or not target.has_since(later.since):
            return None
        found = {**found, "new": later.replacement, "module": later.module, "alternative": None}
    return None


def call_parameters(callee: str, changes: Sequence[ApiChange], target: Target) -> Parameters | None:
    """Parameters of `change-call` for these keyword changes of one function; None when one has no rewrite."""
    rename: dict[str, str] = {}
    drop: list[str] = []
    positional: list[str] = []
    for change in changes:
        param, new = change.param or "", change.param_replacement
        if change.rewrite == "manual" or not target.has_since(change.deprecated_in or change.removed_in):
            return None
        if change.rewrite == "rename" and new and new.isidentifier():
            rename[param] = new
        elif new in ("<positional>", "<first positional>"):
            positional.append(param)
        elif new is None and "drop" in change.note:
            drop.append(param)
        else:
            return None
    names = _POSITIONAL_ORDER.get(callee) or sorted(
        change.param or ""
        for change in keyword_changes(callee)
        if change.param_replacement in ("<positional>", "<first positional>")
    )
    return {
        "callee": callee,
        "call": {"parameters": names, "rename": rename, "drop": drop, "positional": positional},
    }
