"""Pipelining, for a step that does not fit otherwise: divides its layers into stages, computes their memory, and runs
them.

Each stage is compiled separately for one microbatch, so its memory is the compiler's figure. The schedule (one
forward, one backward) gives the number of unfinished microbatches in a stage. A run on simulated devices shows that
the stages are equivalent to the step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import jax
from jax.sharding import SingleDeviceSharding

from jaxlint_runtime import compat
from jaxlint_runtime.compat import Literal, open_jaxpr
from jaxlint_runtime.inspection.memory import memory
from jaxlint_runtime.lowering import function_versions
from jaxlint_runtime.lowering.avals import nbytes
from jaxlint_runtime.lowering.function_versions import Leaf, StagingError
from jaxlint_runtime.lowering.jaxpr_interpreter import inlined
from jaxlint_runtime.proof import equivalence
from jaxlint_runtime.proof.equivalence import Outcome
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.sharding import pipeline_stages
from jaxlint_runtime.sharding.input_classes import Classes, ParameterClass
from jaxlint_runtime.sharding.mesh import MeshShape
from jaxlint_runtime.sharding.pipeline_stages import Piece, Staged
from jaxlint_runtime.sharding.placed_program import QUICK, Step
from jaxlint_runtime.sharding.repeated_layers import Layered, layered
from jaxlint_runtime.targets import Target
from jaxlint_runtime.wording.units import size

_TURNS = 4  # microbatches for each stage: the idle share is then below a fifth


@dataclass(frozen=True)
class Plan:
    """A pipeline. `memory` is by stage: bytes that one of its devices needs."""

    over: tuple[str, ...]  # axes of the mesh
    shared: int  # devices that share the batch in each stage
    microbatches: int
    examples: int  # in a microbatch, on one device
    layers: tuple[tuple[int, int], ...]  # first and last layer of each stage
    state: tuple[int, ...]
    memory: tuple[int, ...]
    sent: int  # bytes that one device receives from other stages in a step, at most
    idle: float  # idle share of the time

    @property
    def needed(self) -> int:
        """Bytes on the fullest device."""
        return max(self.memory)


def advice(
    program: Reference, step: Step, classes: Classes, mesh: MeshShape, target: Target, limit: int | None
) -> Iterator[str]:
    """The first pipeline that fits a device of `target`, or why the last one does not fit. `program` is the unplaced step."""
    step = replace(step, jaxpr=program.baseline.jaxpr)
    plan = None
    for plan in plans(program, step, classes, mesh, target):
        if limit is None or plan.needed <= limit:
            break
    if plan is None:
        stacked = [entry for entry in classes.parameters if _stacked(entry, classes)]
        if stacked:
            share = sum(entry.nbytes for entry in stacked) / max(1, classes.parameter_bytes)
            yield (
                f"a loop over {stacked[0].shape[0]} layers holds {share:.0%} of the parameters. A pipeline was not tried: it splits the "
                "iterations over the devices, inside jax.shard_map with jax.lax.ppermute between the stages"
            )
        return
    problem = differs(program, step, classes, plan)
    yield said(
        plan,
        limit,
        f"Run on {len(plan.layers)} simulated devices: {problem or 'the results agree with one device'}",
    )


def plans(
    program: Reference, step: Step, classes: Classes, mesh: MeshShape, target: Target
) -> Iterator[Plan]:
    """Pipelines over axes of the mesh, the fewest stages first, compiled for a device of `target`. Raises StagingError."""
    whole = _layers(step, classes)
    if whole is None or not classes.data:
        return
    batch = classes.data[0].shape[0]
    for over in _axes(mesh):
        count = mesh.size(over)
        if count > whole.count:
            return
        shared = mesh.devices // count
        parts = _microbatches(batch, shared, count)
        if parts is None:
            continue
        part = layered(_flat(_of_batch(program, classes, shared * parts)), classes, step.out)
        if part is None or part.inputs != whole.inputs:
            return
        cut = pipeline_stages.cut(part, pipeline_stages.balanced(pipeline_stages.work(whole), count))
        state, needed = _memory(cut, step, classes, parts, target)
        work = sum(cut.flops) / (count * max(cut.flops))
        yield Plan(
            over,
            shared,
            parts,
            batch // (shared * parts),
            tuple((first, last - 1) for first, last in pairwise(cut.firsts)),
            tuple(state),
            tuple(needed),
            parts * max(pipeline_stages.crossing(cut)),
            1 - work * parts / (parts + count - 1),
        )


def differs(program: Reference, step: Step, classes: Classes, plan: Plan) -> str | None:
    """How the stages, run on simulated devices over the whole batch, differ from the step on one device; None if they
    do not."""
    whole = _layers(step, classes)
    assert whole is not None
    reference = program.references[0]
    firsts = (*(first for first, _ in plan.layers), plan.layers[-1][1] + 1)
    leaves = tuple(equivalence.host(leaf) for leaf in _run(pipeline_stages.cut(whole, firsts), step))
    found = Outcome(leaves, reference.paths, reference.groups, reference.starts)
    rounded = program.rounded(program.draws[0], program.dtype)
    return equivalence.compare(
        reference, found, equivalence.tolerance(program.dtype), rounded=rounded
    ).problem


def said(plan: Plan, limit: int | None, proven: str) -> str:
    """The description of a pipeline."""
    layers = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in plan.layers)
    fits = (
        "" if limit is None else f" of {size(limit)}" + ("" if plan.needed <= limit else ", still too much")
    )
    devices = f"each on {plan.shared} data-parallel devices, " if plan.shared > 1 else ""
    fullest = plan.memory.index(plan.needed)
    return (
        f"pipelining over {'+'.join(plan.over)}: {len(plan.layers)} stages with the layers {layers}, {devices}{plan.microbatches} microbatches of "
        f"{plan.examples} example{'s' if plan.examples > 1 else ''}, one forward and one backward in turn (1F1B). The fullest device (stage {fullest}) needs {size(plan.needed)}{fits}, "
        f"{size(plan.state[fullest])} of it parameters and optimizer state. Devices idle {plan.idle:.0%} of the time and receive "
        f"{size(plan.sent)} from their neighbours in a step. {proven}"
    )


def _layers(step: Step, classes: Classes) -> Layered | None:
    return layered(_flat(step.jaxpr), classes, step.out)


def _flat(jaxpr: Any) -> Any:
    avals = [jax.ShapeDtypeStruct(var.aval.shape, var.aval.dtype) for var in open_jaxpr(jaxpr).invars]
    return inlined(jaxpr, avals)


def _of_batch(program: Reference, classes: Classes, parts: int) -> Any:
    """The step traced for the batch in so many parts."""
    cut = {one.number for one in classes.data}

    def part(number: int, leaf: Leaf) -> Leaf:
        if number not in cut:
            return leaf
        shape = (leaf.aval.shape[0] // parts, *leaf.aval.shape[1:])
        return replace(leaf, aval=jax.ShapeDtypeStruct(shape, leaf.aval.dtype))

    leaves = tuple(part(n, leaf) for n, leaf in enumerate(program.bound.leaves))
    return function_versions.stage(
        program.version, replace(program.bound, leaves=leaves), program.target
    ).jaxpr


def _stacked(entry: ParameterClass, classes: Classes) -> bool:
    """Whether it holds one array for each iteration of a loop."""
    return bool(entry.groups) and classes.roles.get(entry.groups[0]) == "layers"


def _axes(mesh: MeshShape) -> list[tuple[str, ...]]:
    """The axes for stages, model axes first: each alone, then all; only one that is named for pipelining, if there is
    one."""
    if mesh.stages:
        return [mesh.stages]
    single = sorted(
        ((name,) for name in mesh.split), key=lambda axes: (mesh.size(axes), mesh.kind(axes[0]) == "data")
    )
    every = [mesh.split] if len(mesh.split) > 1 else []
    return list({mesh.size(axes): axes for axes in reversed([*single, *every])}.values())[::-1]


def _microbatches(batch: int, shared: int, count: int) -> int | None:
    """The number of microbatches in a device's part of the batch: enough to keep the idle time short."""
    if batch % shared or batch // shared < count:
        return None
    own = batch // shared
    return max((n for n in range(count, _TURNS * count + 1) if own % n == 0), default=None)


def _memory(
    cut: Staged, step: Step, classes: Classes, parts: int, target: Target
) -> tuple[list[int], list[int]]:
    """Bytes of each stage's state, and the most that one of its devices needs."""
    invars, held = open_jaxpr(cut.layered.jaxpr).invars, cut.held
    parameters = {invars[one.number] for entry in classes.parameters for one in entry.members}
    state, gradients = [0] * cut.count, [0] * cut.count
    for var, stage in held.items():
        state[stage] += nbytes(var.aval)
        gradients[stage] += nbytes(var.aval) if parts > 1 and var in parameters else 0
    needed = []
    for stage in range(cut.count):
        running, kept = _activations(cut, step, stage, target)
        begun = min(parts, cut.count - stage)
        needed.append(state[stage] + gradients[stage] + (begun - 1) * kept + running)
    return state, needed


def _activations(cut: Staged, step: Step, stage: int, target: Target) -> tuple[int, int]:
    """Bytes beside the state: during a microbatch, and for one between its forward and its backward pass."""
    held = cut.held
    results = open_jaxpr(cut.layered.jaxpr).outvars
    in_place = {results[output] for output, number in step.out.items() if step.donated[number]}
    pieces = [piece for piece in cut.pieces if piece.stage == stage]
    present: set[Any] = set()  # results of the stage and received values so far
    running, kept = 0, None
    for n, piece in enumerate(pieces):
        given = {var for var in piece.inputs if var not in held}
        later = {var for one in pieces[n + 1 :] for var in one.inputs}
        now = given | (present & later) | (set(piece.outputs) - in_place)
        running = max(running, _bytes(now) + _temporary(piece, target))
        present |= given | set(piece.outputs)
        kept = _bytes(present & later) if kept is None else kept
    return running, kept or 0


def _bytes(variables: Iterable[Any]) -> int:
    return sum(nbytes(var.aval) for var in variables)


def _temporary(piece: Piece, target: Target) -> int:
    """The compiler's temporaries beside the inputs and outputs of a piece."""
    at = SingleDeviceSharding(target.devices()[0])
    structs = [jax.ShapeDtypeStruct(var.aval.shape, var.aval.dtype, sharding=at) for var in piece.inputs]
    try:
        with compat.fresh_compiles():
            lowered = compat.jit(piece.function()).lower(*structs)
            compiled = lowered.compile(None if target.compile_only else dict(QUICK))
    except Exception as error:
        refused = function_versions.too_big(str(error), 0)
        if refused is None:
            raise StagingError(f"a stage does not compile: {function_versions.first_line(error)}") from error
        return refused.needed
    return memory(compiled, target.platform).temp


def _run(cut: Staged, step: Step) -> list[Any]:
    """Runs the pieces in turn, each on its stage's device; returns the result of the step."""
    devices = jax.devices("cpu")[: cut.count]
    parts = open_jaxpr(cut.layered.jaxpr)
    known = dict(zip(parts.constvars, parts.consts, strict=True))
    for var, leaf in zip(parts.invars, step.bound.leaves, strict=True):
        known[var] = jax.numpy.asarray(leaf.value, leaf.aval.dtype)
    for piece in (*cut.pieces, pipeline_stages.alone(cut)):
        values = [jax.device_put(known[var], devices[piece.stage % len(devices)]) for var in piece.inputs]
        known.update(zip(piece.outputs, compat.jit(piece.function())(*values), strict=True))
    return [var.val if isinstance(var, Literal) else known[var] for var in parts.outvars]
