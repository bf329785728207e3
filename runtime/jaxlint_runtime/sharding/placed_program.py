"""A step with its inputs placed on a mesh by given specs: compiled, inspected, and run if there are devices for it."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxlint_runtime import compat
from jaxlint_runtime.inspection.communication import axes_of, collectives
from jaxlint_runtime.inspection.hlo import parse
from jaxlint_runtime.inspection.hlo_products import has_loops, product_flops
from jaxlint_runtime.inspection.memory import compiler_cost, memory
from jaxlint_runtime.lowering.function_versions import (
    BoundCall,
    DoesNotFit,
    StagingError,
    first_line,
    too_big,
)
from jaxlint_runtime.lowering.jaxpr_interpreter import evaluate
from jaxlint_runtime.proof import equivalence
from jaxlint_runtime.proof.equivalence import Outcome
from jaxlint_runtime.sharding.mesh import MeshShape
from jaxlint_runtime.sharding.stated_constraints import on_mesh
from jaxlint_runtime.sharding.strategies import Spec
from jaxlint_runtime.targets import Target

_REMATERIALISED = re.compile(
    r"Involuntary full rematerialization\. The compiler (?:cannot|was not able to) go from sharding \{(.*?)\} to \{(.*?)\}"
    r".*?HLO operation:? %?[\w.\-]+ = (\w+\[[\d,]*\])\S* ([\w\-]+)\("
)
_TILES = re.compile(r"devices=\[([\d,]+)\]")
QUICK: dict[str, str | bool] = {
    "xla_backend_optimization_level": "0",
    "xla_llvm_disable_expensive_passes": True,
}


@dataclass(frozen=True, slots=True)
class Figures:
    """The cost of one call on one device. Bytes; `fits` is False if the compiler refused it for lack of memory."""

    flops: float
    sent: float  # bytes sent, by ring algorithms
    memory: int
    by_kind: dict[str, float]  # bytes sent by kind of collective
    by_axes: dict[str, float]  # and by mesh axis
    rematerialised: tuple[str, ...] = ()  # arrays that the compiler gathered as a fallback
    fits: bool = True
    loops: bool = (
        False  # whether FLOPs were counted over the HLO, since compilers count the body of a loop once
    )


@dataclass
class Step:
    """A traced step, to be placed on meshes. `out` maps outputs to the inputs whose new values they are."""

    jaxpr: Any
    bound: BoundCall
    donated: tuple[bool, ...]
    out: dict[int, int]

    def function(
        self, mesh: Mesh, gathered: Mapping[int, Spec], held: Mapping[int, Spec] | None = None
    ) -> Callable[..., Any]:
        """A function of its leaves that returns its flat outputs; those in `gathered` are first moved to another
        placement.

        `held` has the specs of the results of equations, by their ids.
        """
        first = {n: NamedSharding(mesh, partition_spec(spec)) for n, spec in gathered.items()}
        results = {n: NamedSharding(mesh, partition_spec(spec)) for n, spec in (held or {}).items()}

        def step(*leaves: Any) -> list[Any]:
            values = [
                jax.lax.with_sharding_constraint(leaf, first[n]) if n in first else leaf
                for n, leaf in enumerate(leaves)
            ]
            return evaluate(self.jaxpr, values, on_mesh(mesh, results))

        return step


def mesh_for(shape: MeshShape, target: Target) -> Mesh:
    """The mesh on a target's devices, in the layout of `jax.make_mesh`: neighbours on an axis are neighbours on the
    torus."""
    devices = target.devices()
    if len(devices) < shape.devices:
        raise StagingError(
            f"the mesh {shape} needs {shape.devices} devices, and {len(devices)} are there; the program may set XLA_FLAGS itself"
        )
    return Mesh(laid_out(shape, devices[: shape.devices]), shape.names)


def laid_out(shape: MeshShape, devices: Sequence[Any]) -> np.ndarray:
    """Devices in the shape of a mesh, in the layout of `jax.make_mesh` if they have torus coordinates."""
    from jax.experimental import mesh_utils

    plain = np.array(devices).reshape(shape.sizes)
    if getattr(devices[0], "coords", None) is None:
        return plain
    try:
        return mesh_utils.create_device_mesh(shape.sizes, devices)
    except Exception:  # a topology for which it has no layout
        return plain


@dataclass
class Placed:
    """A compiled step, and the placement of its inputs."""

    compiled: Any
    shardings: tuple[NamedSharding, ...]
    warned: str


def lower(
    step: Step,
    specs: Sequence[Spec],
    mesh: Mesh,
    gathered: Mapping[int, Spec],
    held: Mapping[int, Spec] | None = None,
) -> tuple[Any, tuple[NamedSharding, ...]]:
    """Lowers the step with these input specs; updated outputs get the same placement. Raises StagingError."""
    shardings = tuple(NamedSharding(mesh, partition_spec(spec)) for spec in specs)
    outputs = [None] * len(compat.open_jaxpr(step.jaxpr).outvars)
    for output, number in step.out.items():
        outputs[output] = shardings[number]  # type: ignore[call-overload]
    structs = [
        jax.ShapeDtypeStruct(
            leaf.aval.shape, leaf.aval.dtype, weak_type=getattr(leaf.aval, "weak_type", False)
        )
        for leaf in step.bound.leaves
    ]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            jitted = compat.jit(
                step.function(mesh, gathered, held),
                in_shardings=shardings,
                out_shardings=outputs,
                donate_argnums=tuple(n for n, given in enumerate(step.donated) if given),
            )
            return jitted.lower(*structs), shardings
    except Exception as error:
        raise StagingError(f"could not lower: {first_line(error)}") from error


def place(
    step: Step,
    specs: Sequence[Spec],
    mesh: Mesh,
    gathered: Mapping[int, Spec],
    quick: bool = False,
    held: Mapping[int, Spec] | None = None,
) -> Placed:
    """Lowers and compiles the step. Raises StagingError.

    `quick`: without machine code optimisation, for simulated devices that are not timed.
    """
    lowered, shardings = lower(step, specs, mesh, gathered, held)
    compiled, warned = heard_compile(lambda: lowered.compile(compiler_options=compiler_options(quick)))
    return Placed(compiled, shardings, warned)


def compiler_options(quick: bool) -> dict[str, str | bool] | None:
    """The compiler's options; see `place`."""
    return dict(QUICK) if quick else None


def heard_compile(compile_it: Callable[[], Any]) -> tuple[Any, str]:
    """The compiled program and the compiler's warnings. Raises StagingError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with _overheard() as heard, compat.fresh_compiles():
                compiled = compile_it()
    except Exception as error:
        raise too_big(str(error), 0) or StagingError(f"could not compile: {first_line(error)}") from error
    return compiled, heard[0]


def partition_spec(spec: Spec) -> PartitionSpec:
    """The spec in JAX's form, without trailing unsplit axes."""
    parts = [axes[0] if len(axes) == 1 else (axes or None) for axes in spec]
    while parts and parts[-1] is None:
        parts.pop()
    return PartitionSpec(*parts)


def figures(placed: Placed, mesh: MeshShape, platform: str) -> Figures:
    """Inspects a compiled step."""
    module = parse(placed.compiled.as_text() or "")
    found = collectives(module, mesh.devices)
    by_kind: dict[str, float] = {}
    by_axes: dict[str, float] = {}
    for one in found:
        by_kind[one.kind] = by_kind.get(one.kind, 0.0) + one.nbytes
        axes = "+".join(axes_of(one.groups, mesh.names, mesh.sizes)) or "none"
        by_axes[axes] = by_axes.get(axes, 0.0) + one.nbytes
    counted = compiler_cost(placed.compiled).get("flops", 0.0)
    loops = has_loops(module)
    flops = product_flops(module) if loops else max(counted, 0.0)
    return Figures(
        flops,
        sum(by_kind.values()),
        memory(placed.compiled, platform).total,
        by_kind,
        by_axes,
        rematerialised(placed.warned),
        loops=loops,
    )


def refused(error: DoesNotFit) -> Figures:
    """The figures of a step that does not fit the device."""
    return Figures(0.0, 0.0, error.needed, {}, {}, fits=False)


def rematerialised(warned: str) -> tuple[str, ...]:
    """The compiler's messages about full gathers, one line each: one device's part, and the sharding before and
    after."""
    found = []
    for before, after, shape, operation in _REMATERIALISED.findall(warned):
        found.append(f"{shape} ({operation}) from {_tiles(before)} to {_tiles(after)}")
    return tuple(dict.fromkeys(found))


def _tiles(sharding: str) -> str:
    """The number of parts of each axis in an HLO sharding."""
    found = _TILES.search(sharding)
    if found is None:
        return "whole" if "replicated" in sharding else "{" + sharding + "}"
    counts = found[1].split(",")
    if "last_tile_dim" in sharding:
        counts = counts[:-1]
    return "x".join(counts) + " parts"


@contextmanager
def _overheard() -> Iterator[list[str]]:
    """Collects the compiler's warnings, which it writes to the error output of the process."""
    heard = [""]
    sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:  # the program closed it
        yield heard
        return
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield heard
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            heard[0] = file.read().decode(errors="replace")


def run(step: Step, placed: Placed, like: Outcome) -> Outcome:
    """Runs on the captured inputs and returns the results, with leaves grouped as in `like`."""
    values = []
    for leaf, sharding in zip(step.bound.leaves, placed.shardings, strict=True):
        value = leaf.value
        if isinstance(value, np.ndarray) and value.dtype != leaf.aval.dtype:
            value = value.astype(leaf.aval.dtype)
        values.append(jax.device_put(value, sharding, may_alias=False))
    result = jax.block_until_ready(placed.compiled(*values))
    leaves = tuple(equivalence.host(leaf) for leaf in result)
    return Outcome(leaves, like.paths, like.groups, like.starts)
