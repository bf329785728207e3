"""A function under `jax.pmap` as one over whole arrays: without the device axis, and with its collectives
over one device that holds everything.

Replicated arguments (parameters) are taken once, different ones are joined along the batch. A mean over
devices of means over their parts is the mean over the whole, so `pmean` disappears. This assumption is tested
on values, compared with `pmap` on as many simulated devices.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from jaxlint_runtime.lowering.function_versions import StagingError, first_line
from jaxlint_runtime.model import CapturedCall, CapturedFunction
from jaxlint_runtime.proof import equivalence
from jaxlint_runtime.source_analysis.parsing import tree_of_file

OPTION = "pmap"  # the pmap options among those of a captured function
_REDUCTIONS = ("pmean", "psum")
_OWN = "axis_index all_gather ppermute all_to_all psum_scatter pmax pmin pshuffle pcast".split()  # noqa: SIM905


@dataclass(frozen=True)
class Ported:
    """The function over whole arrays, and the comparison. `problem` says how its values differ from those of `pmap`."""

    function: CapturedFunction
    axis: str
    devices: int
    joined: tuple[
        bool, ...
    ]  # for each argument: whether the devices' parts were joined, otherwise one was taken
    problem: str | None
    difference: float | None
    shard_map: str | None  # how shard_map differs, "" if it does not

    def advice(self) -> list[str]:
        """The code to write, in lines."""
        lines = []
        if self.problem is None:
            lines.append(
                f"pmap: jax.jit of the function over whole arrays computes the same (largest relative difference to pmap {self.difference:.1e}, "
                f"{self.devices} simulated devices); the code below is for jax.jit, with arguments without the device axis"
            )
        else:
            lines.append(f"pmap: under jax.jit over whole arrays the results differ: {self.problem}")
        places = collectives(self.function.function, self.function.path, self.axis)
        gone = [f"line {line}" for name, line in places if name in _REDUCTIONS]
        if gone and self.problem is None:
            lines.append(
                f"remove pmean and psum over {self.axis!r} ({', '.join(gone)}), since jax.jit computes over the whole batch, and remove "
                "replicate, shard and unreplicate around the calls"
            )
        own = sorted({name for name, _ in places if name not in _REDUCTIONS})
        why = f"; it calls {', '.join(own)}, which act per device" if own else ""
        specs = ", ".join("P(" + (repr(self.axis) if joined else "") + ")" for joined in self.joined)
        if self.shard_map == "":
            lines.append(
                f"for explicit communication{why}: jax.jit(jax.shard_map({self.function.qualname.rpartition('.')[2]}, mesh=mesh, "
                f"in_specs=({specs}), out_specs=...)) keeps the collectives and computes the same as pmap (checked on simulated devices). Use it where a "
                "device acts alone (statistics of its part of the batch, ppermute, kernels), and jax.jit where there are only sums and means"
            )
        elif self.shard_map:
            lines.append(f"jax.shard_map of the unchanged function: {self.shard_map}")
        return lines


def port(function: CapturedFunction) -> Ported:
    """Converts a captured call of a pmapped function to whole arrays and compares. Raises StagingError if that is
    meaningless."""
    options = function.options.others[OPTION]
    assert function.call is not None
    call, axis = function.call, options["axis_name"] or "devices"
    if call.kwargs or function.options.static_argnums:
        raise StagingError("pmap with keyword or static arguments is not converted to jax.jit")
    axes = options["in_axes"]
    axes = (axes,) * len(call.args) if axes is None or isinstance(axes, int) else tuple(axes)
    if any(one not in (0, None) for one in axes) or options["out_axes"] != 0:
        raise StagingError("pmap over other axes than the first is not converted to jax.jit")
    devices = max((leaf.shape[0] for leaf in _mapped(call.args, axes)), default=0)
    if devices < 2:
        raise StagingError("pmap over one device does not show what the devices share")
    kinds = tuple(_joined(arg, at) for arg, at in zip(call.args, axes, strict=True))
    whole = tuple(_whole(arg, at, joined) for arg, at, joined in zip(call.args, axes, kinds, strict=True))
    plain = _over_one_device(function.function, axis)
    given = CapturedCall(whole, {}, (jax.tree.map(_aval, whole), {}))
    others = {name: value for name, value in function.options.others.items() if name != OPTION}
    record = replace(function, call=given, options=replace(function.options, others=others))
    record.function = plain
    expected = jax.tree.map(np.asarray, jax.block_until_ready(function.jitted(*call.args)))
    problem, difference = _compared(expected, lambda: jax.jit(plain)(*whole), devices)
    explicit = _by_shard_map(function.function, axis, devices, call.args, axes, kinds, expected)
    return Ported(record, axis, devices, kinds, problem, difference, explicit)


def _mapped(args: Sequence[Any], axes: Sequence[Any]) -> list[Any]:
    return [leaf for arg, at in zip(args, axes, strict=True) if at == 0 for leaf in jax.tree.leaves(arg)]


def _joined(arg: Any, at: int | None) -> bool:
    """Whether the devices hold different parts of an argument, not copies."""
    if at is None:
        return False
    return any(
        not np.array_equal(leaf[:1].repeat(len(leaf), 0), leaf)
        for leaf in map(np.asarray, jax.tree.leaves(arg))
    )


def _whole(arg: Any, at: int | None, joined: bool) -> Any:
    """An argument without its device axis."""
    if at is None:
        return arg

    def one(leaf: Any) -> Any:
        value = np.asarray(leaf)
        if not joined:
            return value[0]
        if value.ndim < 2 or value.dtype == np.uint32:
            raise StagingError(
                "each device gets its own PRNG key or number, which only jax.shard_map can express"
            )
        return value.reshape(-1, *value.shape[2:])

    return jax.tree.map(one, arg)


def _aval(leaf: Any) -> Any:
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)


def _over_one_device(function: Callable[..., Any], axis: str) -> Callable[..., Any]:
    """The function with its named axis of one device, which holds the whole batch."""

    def plain(*args: Any) -> Any:
        return jax.vmap(function, in_axes=None, out_axes=None, axis_name=axis, axis_size=1)(*args)

    plain.__name__ = getattr(function, "__name__", "step")
    plain.__wrapped__ = function  # type: ignore[attr-defined]
    return plain


def _compared(expected: Any, run: Callable[[], Any], devices: int) -> tuple[str | None, float | None]:
    """Whether whole results equal those of the devices, joined or taken once; and the largest difference relative to
    the scale of an array."""
    try:
        found = jax.tree.map(np.asarray, run())
    except Exception as error:  # the program's own code, in a use that it was not written for
        return first_line(error), None
    worst = 0.0
    structures: list[Any] = [jax.tree.structure(found), jax.tree.structure(expected)]
    same = structures[0] == structures[1]
    if not same:
        return "the returned pytree has another structure", None
    for (path, value), whole in zip(
        jax.tree_util.tree_leaves_with_path(expected), jax.tree.leaves(found), strict=True
    ):
        name = jax.tree_util.keystr(path) or "the result"
        copies = all(np.allclose(value[0], part, rtol=1e-5, atol=1e-6) for part in value[1:])
        if whole.shape == value.shape[1:] and copies:
            wanted = value[0]
        elif value.ndim > 1 and whole.shape == (devices * value.shape[1], *value.shape[2:]):
            wanted = value.reshape(whole.shape)
        elif whole.shape == value.shape[1:]:
            return f"{name} differs between the {devices} devices, and nothing reduces it", None
        else:
            return f"{name} has the shape {whole.shape} instead of {value.shape} under pmap", None
        scale = float(np.max(np.abs(wanted.astype(np.float64)), initial=0.0)) or 1.0
        worst = max(worst, float(np.max(np.abs(whole.astype(np.float64) - wanted), initial=0.0)) / scale)
        if worst > equivalence.tolerance(str(value.dtype) if value.dtype.kind == "f" else "float32"):
            return f"{name} differs by {worst:.1e} of its largest value", worst
    return None, worst


def _by_shard_map(
    function: Callable[..., Any],
    axis: str,
    devices: int,
    args: Sequence[Any],
    axes: Sequence[Any],
    joined: Sequence[bool],
    expected: Any,
) -> str:
    """How `shard_map` with the same collectives differs from pmap; empty if it does not."""
    P = jax.sharding.PartitionSpec
    try:
        mesh = jax.sharding.Mesh(np.array(jax.devices()[:devices]), (axis,))
        whole = tuple(_whole(arg, at, parts) for arg, at, parts in zip(args, axes, joined, strict=True))
        copies = jax.tree.map(lambda value: bool(np.all(value[:1] == value)), expected)
        run = jax.shard_map(
            function,
            mesh=mesh,
            in_specs=tuple(P(axis) if parts else P() for parts in joined),
            out_specs=jax.tree.map(lambda alike: P() if alike else P(axis), copies),
            check_vma=False,
        )
    except Exception as error:
        return first_line(error)
    problem, _ = _compared(expected, lambda: jax.jit(run)(*whole), devices)
    return problem or ""


def collectives(function: Any, path: str, axis: str) -> list[tuple[str, int]]:
    """Calls of collectives over the axis in the file of a function: name and line."""
    tree = tree_of_file(path)
    if tree is None:
        return []
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not _names(node, axis):
            continue
        name = getattr(node.func, "attr", None) or getattr(node.func, "id", "")
        if name in (*_REDUCTIONS, *_OWN):
            found.append((name, node.lineno))
    return sorted(set(found), key=lambda one: one[1])


def _names(call: ast.Call, axis: str) -> bool:
    """Whether a call receives the axis, by its name or by a variable."""
    given = [*call.args[1:], *call.args[:1], *(one.value for one in call.keywords if one.arg == "axis_name")]
    return any(not isinstance(one, ast.Constant) or one.value == axis for one in given)
