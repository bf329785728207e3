"""Migrations from removed names and parameters of JAX: the parameters for codemods, where a codemod can do it.

The history says what replaces a name. The tables here say what else changes (arguments, the whole expression), and
which replacements only look like renames.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.jaxapi.history import PRIVATE_SINCE, ApiChange, Target, call_change, keyword_changes, lookup

Parameters = dict[str, Any]

_SHARD_MAP = ("f", "mesh", "in_specs", "out_specs", "check_rep", "auto")
_PJIT_OLD = {"in_axis_resources": "in_shardings", "out_axis_resources": "out_shardings"}
_ONE_AXIS = (
    '{=jax.sharding.NamedSharding}({=jax.sharding.Mesh}({=numpy.array}({devices}), ("device",)), '
    '{=jax.sharding.PartitionSpec}("device")))'
)
_TAP = "{=jax.debug.callback}(lambda value: {tap_func}"
_PXLA = {"module": "jax.interpreters.pxla"}
_INDEX = {
    "parameters": ("x", "idx", "y"),
    "index_helper": "jax.ops.index",
    "optional": {"indices_are_sorted": "indices_are_sorted", "unique_indices": "unique_indices"},
}
_RAISE_TO_SHAPED = {
    "template": {"text": "{aval}", "parameters": ("aval",), "optional": {"weak_type": ""}, "reorder": True}
}

# Changes besides the name; see the codemod `rename-api`.
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
    # One call for another
    "jax.numpy.in1d": {
        "call": {
            "parameters": ("ar1", "ar2"),
            "rename": {"ar1": "element", "ar2": "test_elements"},
            "wrap": {"ar1": "{=jax.numpy.ravel}"},
        }
    },
    "jax.scipy.special.sph_harm": {
        "template": {
            "text": "{=jax.scipy.special.sph_harm_y}({n}, {m}, {phi}, {theta})",
            "parameters": ("m", "n", "theta", "phi"),
            "optional": {"n_max": "n_max"},
            "reorder": True,
        }
    },
    "jax.scipy.linalg.polar_unitary": {"call": {"suffix": "[0]"}},
    "jax.core.is_opaque_dtype": {
        "template": {
            "text": "{=jax.dtypes.issubdtype}({dtype}, {=jax.dtypes.extended})",
            "parameters": ("dtype",),
        }
    },
    "jax.core.has_opaque_dtype": {
        "template": {
            "text": "{=jax.dtypes.issubdtype}({x}.dtype, {=jax.dtypes.extended})",
            "parameters": ("x",),
        }
    },
    "jax.core.non_negative_dim": {"template": {"text": "{=jax.core.max_dim}({d}, 0)", "parameters": ("d",)}},
    "jax.core.full_lower": {"template": {"text": "{val}", "parameters": ("val",)}},
    "jax.core.raise_to_shaped": _RAISE_TO_SHAPED,
    "jax.abstract_arrays.raise_to_shaped": _RAISE_TO_SHAPED,
    "jax.dlpack.to_dlpack": {
        "template": {
            "text": "{x}.__dlpack__()",
            "parameters": ("x",),
            "optional": {"take_ownership": ""},
            "reorder": True,
        }
    },
    "jax.experimental.pallas.debug_checks_enabled": {
        "template": {"text": "{=jax.experimental.pallas.enable_debug_checks}.value", "parameters": ()}
    },
    "jax.experimental.pallas.runtime_assert_enabled": {
        "template": {"text": "{=jax.experimental.pallas.enable_debug_checks}.value", "parameters": ()}
    },
    "jax.experimental.pallas.tpu.runtime_assert_enabled": {
        "template": {"text": "{=jax.experimental.pallas.enable_debug_checks}.value", "parameters": ()}
    },
    "jax.experimental.pallas.tpu.TPUMemorySpace": {
        "new": "jax.experimental.pallas.tpu.MemorySpace",
        "members": ("VMEM", "SMEM", "CMEM", "SEMAPHORE"),
    },
    "jax.linear_util.wrap_init": {},  # it warns if no debug information is passed
    # Onto devices
    "jax.device_put_replicated": {
        "template": {
            "text": "{=jax.device_put}({=jax.tree.map}(lambda leaf: {=jax.numpy.stack}([leaf] * len({devices})), {x}), "
            + _ONE_AXIS,
            "parameters": ("x", "devices"),
            "simple": ("devices",),
            "reorder": True,
        }
    },
    "jax.device_put_sharded": {
        "template": {
            "text": "{=jax.device_put}({=jax.tree.map}(lambda *leaves: {=jax.numpy.stack}(leaves), *{shards}), "
            + _ONE_AXIS,
            "parameters": ("shards", "devices"),
            "reorder": True,
        }
    },
    "jax.experimental.maps.mesh": {
        "template": {
            "text": "{=jax.sharding.Mesh}({devices}, {axis_names})",
            "parameters": ("devices", "axis_names"),
        }
    },
    "jax.experimental.maps.thread_resources": {"new": "jax.interpreters.pxla.thread_resources", **_PXLA},
    # Callbacks
    "jax.experimental.host_callback.id_print": {
        "template": {
            "text": '{=jax.debug.print}("{{}}", {arg})',
            "parameters": ("arg",),
            "statement": True,
            "labels": True,
            "gives_back": "arg",
        }
    },
    "jax.experimental.host_callback.id_tap": {
        "template": {
            "text": "{=jax.debug.callback}(lambda value: {tap_func}(value, ()), {arg})",
            "parameters": ("tap_func", "arg"),
            "statement": True,
            "gives_back": "arg",
            "variants": {
                "result": f"({_TAP}(value, ()), {{arg}}), {{result}})[1]",
                "result+tap_with_device": f"({_TAP}(value, (), device=None), {{arg}}), {{result}})[1]",
                "tap_with_device": f"{_TAP}(value, (), device=None), {{arg}})",
            },
            "optional": {"result": "", "tap_with_device": ""},
            "reorder": True,
        }
    },
    "jax.experimental.host_callback.call": {
        "template": {
            "text": "{=jax.experimental.io_callback}({callback_func}, None, {arg})",
            "parameters": ("callback_func", "arg"),
            "variants": {"result_shape": "{=jax.pure_callback}({callback_func}, {result_shape}, {arg})"},
            "optional": {"result_shape": ""},
            "reorder": True,
        }
    },
    "jax.experimental.host_callback.barrier_wait": {
        "template": {
            "text": "{=jax.effects_barrier}()",
            "parameters": (),
            "optional": {"logging_name": ""},
            "reorder": True,
        }
    },
    # Compiled programs
    "jax.xla_computation": {
        "template": {
            "text": '(lambda *args, **kwargs: {=jax.jit}({fun}).lower(*args, **kwargs).compiler_ir("hlo"))',
            "called": ("{=jax.jit}({fun}).lower", '.compiler_ir("hlo")'),
            "parameters": ("fun",),
            "reorder": True,
        }
    },
    # With the parameters of its definition. It also accepted maps, which JAX no longer has.
    "jax.core.extract_call_jaxpr": {
        "template": {
            "text": '(({params}["call_jaxpr"], {{name: value for name, value in {params}.items() if name != "call_jaxpr"}}) '
            "if {primitive}.call_primitive else (None, {params}))",
            "parameters": ("primitive", "params"),
            "simple": ("primitive", "params"),
            "reorder": True,
        },
        "new": "",
    },
    "jax.core.unitvar": {"beside": "jax.core.unit", "new": ""},
    "jax.core.Shape": {"expression": "tuple[int, ...]", "new": ""},
    "jax.tools.colab_tpu.setup_tpu": {"delete": True, "new": ""},
    "jax.config.enable_omnistaging": {"delete": True, "new": ""},
}
# The first releases that have everything an action writes, if the row's replacement is older.
_NEEDS = {
    "jax.device_put_replicated": "0.4.25",
    "jax.device_put_sharded": "0.4.25",
    "jax.experimental.host_callback.id_print": "0.4.1",
    "jax.experimental.host_callback.id_tap": "0.4.1",
    "jax.experimental.host_callback.call": "0.4.1",
    "jax.experimental.maps.mesh": "0.4.1",
    "jax.experimental.maps.thread_resources": "0.4.1",
    "jax.xla_computation": "0.4.1",
    "jax.core.has_opaque_dtype": "0.4.16",
    "jax.core.is_opaque_dtype": "0.4.16",
    "jax.core.full_lower": "0.4.36",
    "jax.core.raise_to_shaped": "0.4.36",
    "jax.abstract_arrays.raise_to_shaped": "0.4.36",
    "jax.experimental.pallas.debug_checks_enabled": "0.7.0",
    "jax.experimental.pallas.runtime_assert_enabled": "0.7.0",
    "jax.experimental.pallas.tpu.runtime_assert_enabled": "0.7.0",
}
# Parameter values for parameters that accept other values now: the old source, and the new argument ("": refused).
_VALUES: Mapping[tuple[str, str], Mapping[str, str | None]] = {
    ("jax.scipy.linalg.solve", "sym_pos"): {"True": 'assume_a="pos"', "False": None},
    **{
        (f"chex.{name}", "ignore_nones"): {"*": None}
        for name in (
            *(
                f"assert_tree_{kind}"
                for kind in ("has_only_ndarrays", "is_on_device", "is_on_host", "is_sharded")
            ),
            *(f"assert_tree_shape_{kind}" for kind in ("prefix", "suffix")),
            *(f"assert_trees_all_equal_{kind}" for kind in ("comparator", "dtypes", "shapes")),
        )
    },
    ("jax.pure_callback", "vectorized"): {
        "True": 'vmap_method="legacy_vectorized"',
        "False": 'vmap_method="sequential"',
    },
    ("jax.ffi.ffi_call", "vectorized"): {
        "True": 'vmap_method="legacy_vectorized"',
        "False": 'vmap_method="sequential"',
    },
    **{
        (f"jax.{name}", "concrete"): {"False": None, "True": "", "*": None}
        for name in ("checkpoint", "remat")
    },
    ("jax.numpy.sort", "kind"): {"*": None},
    ("jax.numpy.argsort", "kind"): {"*": None},
    ("jax.Array.sort", "kind"): {"*": None},
    ("jax.Array.argsort", "kind"): {"*": None},
}
# Parameters that became keyword-only: all in the old order, and how many still accept a position.
_BY_KEYWORD: Mapping[str, tuple[Sequence[str], int]] = {
    "jax.jit": (("fun", "static_argnums", "device", "backend", "donate_argnums"), 1),
    "jax.lax.dot": (("lhs", "rhs", "precision", "preferred_element_type"), 2),
    "jax.numpy.array": (("object", "dtype", "copy", "order", "ndmin"), 2),
    "jax.numpy.pad": (("array", "pad_width", "mode", "constant_values"), 3),
}
# Renames in the table whose new name does not have quite the same meaning.
_ONLY_LOOKS_LIKE_A_RENAME = {
    "jax.experimental.layout.DeviceLocalLayout",  # its new name belonged to another class before
    "jax.experimental.pallas.mosaic_gpu.ThreadSemantics",  # has other members
    "jax.api",  # had names that jax itself never had
}
# Submodules that `import jax` does not load, if the history does not say so.
_UNLOADED = ("jax.experimental.array_serialization.serialization",)
# Rewrites that may change the result.
_UNSAFE = {
    "jax.random.shuffle": "the same kind of shuffle, not the same numbers",
    "jax.experimental.host_callback.id_tap": "the function is no longer told of the transformations around it",
    "jax.experimental.host_callback.call": "the callback must have no side effects, and may be called more often or not at all",
    "jax.core.extract_call_jaxpr": "jit is no call primitive any more: its jaxpr is the parameter `jaxpr`, with its constants",
    "jax.core.unitvar": "no variable is a unit any more",
    "jax.dlpack.to_dlpack": "the capsule is made for the array's own device and stream",
    **dict.fromkeys(
        (f"jax.lib.xla_extension.{kind}Device" for kind in ("Cpu", "Gpu", "Tpu")),
        "all devices have this class, so that a type test has to become one of their platform",
    ),
}
_AXIS_RESOURCES = "bare PartitionSpecs need a mesh from jax.set_mesh, and None left the choice to nobody: it meant replicated"
_KEYWORD_UNSAFE = {
    ("jax.experimental.pjit.pjit", "in_axis_resources"): _AXIS_RESOURCES,
    ("jax.experimental.pjit.pjit", "out_axis_resources"): _AXIS_RESOURCES,
    **{
        (
            f"jax.{name}",
            "concrete",
        ): "when it was true, mark the arguments that were concrete with static_argnums"
        for name in ("checkpoint", "remat")
    },
    ("jax.pure_callback", "vectorized"): "results need a leading axis",
    ("jax.ffi.ffi_call", "vectorized"): "results need a leading axis",
}
# Parameters that became positional-only, in the order of the signature.
_POSITIONAL_ORDER: Mapping[str, Sequence[str]] = {
    "jax.numpy.where": ("condition", "x", "y"),
    "haiku.switch": ("index", "branches", "operand"),
}
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_MAX_MOVES = 4  # a replacement may have been replaced itself


def rename_parameters(change: ApiChange, target: Target) -> Parameters | None:
    """The parameters of `rename-api` for this change; None if no rewrite is right on every version of `target`."""
    action = _ACTIONS.get(change.name)
    if action is None and change.private and target.has_since(PRIVATE_SINCE):
        return {"old": change.name, "new": change.private, "module": change.private.rpartition(".")[0]}
    if change.name in _ONLY_LOOKS_LIKE_A_RENAME or (action is None and change.rewrite != "rename"):
        return None
    found: Parameters = {"old": change.name, "new": change.replacement or "", **(action or {})}
    if not target.has_since(_NEEDS.get(change.name, change.since)):
        # Names in jax.tree_util are as old as the table.
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
        found["type_tests"] = False  # also true for tracers, unlike with the old class
    return _follow(found, target)


def risk(change: ApiChange) -> str:
    """How the rewrite of `change` may change the program's behaviour; empty if it does not."""
    if change.private and change.name not in _ACTIONS:
        return "private to JAX, which may move it"
    return _UNSAFE.get(change.name, "")


def takes_by_keyword(callee: str) -> bool:
    """Whether some parameters of `callee` once accepted a keyword and no longer do."""
    return callee in _BY_KEYWORD


def keyword_risk(callee: str, changes: Sequence[ApiChange], values: Mapping[str, str]) -> str:
    """How new keywords may change the behaviour of the call; empty if they do not. `values`: the source of the
    arguments."""
    risks = []
    for one in changes:
        key = callee, one.param or ""
        without_effect = values.get(key[1]) == "False" and _VALUES.get(key, {}).get("False", "") is None
        if key in _KEYWORD_UNSAFE and not without_effect:
            risks.append(_KEYWORD_UNSAFE[key])
    return "; ".join(dict.fromkeys(risks))


def by_keyword(callee: str, target: Target) -> tuple[ApiChange, Parameters] | None:
    """The row that says which parameters of `callee` no longer accept a keyword, and its `change-call`."""
    if callee not in _BY_KEYWORD:
        return None
    change = call_change(callee)
    if change is None or not target.lacks(change):
        return None
    parameters, keep = _BY_KEYWORD[callee]
    return change, {"callee": callee, "call": {"parameters": parameters, "keep": keep}}


def _follow(found: Parameters, target: Target) -> Parameters | None:
    """The final replacement, if a replacement was itself removed."""
    for _ in range(_MAX_MOVES):
        later = lookup(found["new"])
        if later is None or not target.lacks(later):
            return found
        if later.rewrite != "rename" or not later.replacement or not target.has_since(later.since):
            return None
        found = {**found, "new": later.replacement, "module": later.module, "alternative": None}
    return None


def call_parameters(callee: str, changes: Sequence[ApiChange], target: Target) -> Parameters | None:
    """The parameters of `change-call` for these keyword changes of one function; None if one has no rewrite."""
    rename: dict[str, str] = {}
    drop: list[str] = []
    positional: list[str] = []
    values: dict[str, dict[str, str | None]] = {}
    for change in changes:
        param, new = change.param or "", change.param_replacement
        if (callee, param) in _VALUES:
            values[param] = dict(_VALUES[callee, param])
            continue
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
        "call": {
            "parameters": names,
            "rename": rename,
            "drop": drop,
            "positional": positional,
            "values": values,
        },
    }
