"""One captured function on a mesh: search, confirm on the target, run and compare, describe."""

from __future__ import annotations

import contextlib
import inspect
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax

from jaxlint_runtime import targets
from jaxlint_runtime.inspection.device_peaks import PUBLISHED
from jaxlint_runtime.lowering import function_versions
from jaxlint_runtime.lowering.function_versions import DoesNotFit, StagingError
from jaxlint_runtime.model import CapturedFunction, Cost, Result, Status
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof import equivalence
from jaxlint_runtime.proof.equivalence import Comparison
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.sharding import (
    activation_constraints,
    advice,
    axis_groups,
    framework_annotations,
    input_classes,
    pipeline,
    placed_program,
    placement_code,
    placement_score,
    placement_words,
    pmapped,
    strategies,
)
from jaxlint_runtime.sharding.compiling import Compiler, Devices, Elsewhere, Here, Jobs
from jaxlint_runtime.sharding.input_classes import Classes, Input
from jaxlint_runtime.sharding.mesh import MeshShape
from jaxlint_runtime.sharding.placed_program import Figures, Placed, Step
from jaxlint_runtime.sharding.placement_search import Placement, Search, Tried
from jaxlint_runtime.sharding.single_device import unplaced
from jaxlint_runtime.sharding.strategies import Spec, Strategy
from jaxlint_runtime.wording.units import amount, size

OWN = "as in the program"
ANNOTATED = "as annotated in the program"
FOUND = "found"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of the search: compiles on simulated devices, seconds, and placements to confirm on a compile-only
    target."""

    compiles: int = 48
    seconds: float = 240.0
    confirmed: int = 5


@dataclass
class Row:
    """One placement in the report."""

    name: str
    placement: Placement
    figures: Figures | None
    strategy: Strategy | None = None
    reason: str = ""
    score: float | None = None


@dataclass
class Outcome:
    """The results for one function on one mesh; `chosen` is the recommended row."""

    mesh: MeshShape
    target: str
    classes: Classes
    rows: list[Row]
    chosen: Row
    scale: placement_score.Scale
    tried: int
    one_device: int | None  # bytes that the step needs on one device
    comparison: Comparison | None = None
    problem: str | None = None  # why values were not compared
    over: bool = False  # the bounds ended the search
    advice: list[str] = field(default_factory=list)
    code: str = ""
    annotations: list[str] = field(default_factory=list)

    @property
    def plain(self) -> Row:
        """Plain data parallel."""
        return self.rows[0]


Placing = Callable[[Input], Spec]


def shard(
    function: CapturedFunction,
    settings: Settings,
    shape: MeshShape,
    bounds: Bounds | None = None,
    others: Mapping[str, Placing] | None = None,
    jobs: Jobs | None = None,
) -> Outcome:
    """Finds how to split the inputs of a function over a mesh.

    `others` are placements to compare with, each a spec for an input. `jobs` compile placements side by side; the result is the same.
    Raises StagingError if the function cannot be traced or nothing can be split, and TargetUnavailable.
    """
    bounds = bounds or Bounds()
    ported = _ported(function)
    function = function if ported is None else ported.function
    target = targets.parse(settings.target)
    own = Reference(function, replace(settings, target="cpu"))
    program = Reference(unplaced(function, own.baseline), own.settings)
    step, sorted_inputs = _staged(own)
    if not sorted_inputs.parameters and not sorted_inputs.data:
        raise StagingError("it has no parameters and no batch to split")
    cpu = targets.parse("cpu")
    simulated = Devices(cpu, placed_program.mesh_for(shape, cpu))
    here = Here(step, sorted_inputs, shape)
    compiler: Compiler = here if jobs is None else Elsewhere(here, jobs)

    def compiling(placement: Placement) -> Figures:
        return compiler.figures(placement, simulated)

    search = Search(sorted_inputs, shape, compiling, bounds.compiles, bounds.seconds, settings.progress)
    if jobs is not None:
        search.expecting = lambda placements: compiler.expect(placements, simulated)
    named = search.named()
    plain = named[0]
    if plain.figures is None:
        raise StagingError(f"plain data parallelism {plain.reason}")
    limit = settings.memory_limit or (
        PUBLISHED[target.chip].memory if target.chip in PUBLISHED and target.compile_only else None
    )
    scale = placement_score.scale(target, program.dtype, limit, plain.figures)
    free = search.improve(named, scale.score)
    found = search.constrain(free, scale.score)
    rows = _rows(named, found, _given(own, sorted_inputs, shape, others or {}), compiling)
    if target.compile_only:
        confirming = Devices(target, placed_program.mesh_for(shape, target))
        rows = _confirmed(compiler, confirming, rows, scale, bounds, settings.progress)
        if rows[0].figures is not None:
            scale = replace(scale, reference=rows[0].figures)
    for row in rows:
        row.score = scale.score(row.figures) if row.figures else None
    ranked = [row for row in rows if row.strategy is not None and row.figures is not None]
    chosen = min(ranked, key=lambda row: scale.score(row.figures))  # type: ignore[arg-type]
    outcome = Outcome(
        shape,
        target.name,
        sorted_inputs,
        rows,
        chosen,
        scale,
        len(search.tried),
        program.cost.peak_bytes,
        over=search.over,
    )
    settings.progress("comparing the values of the best placement with those on one device")
    _compare(program, step, chosen, simulated.mesh, outcome)
    if ported is not None:
        outcome.advice += ported.advice()
    _tell(function, program, step, target, outcome, limit)
    if chosen.strategy is found.strategy and free.figures and found.figures:
        outcome.advice += advice.avoided(free.figures, found.figures)
    return outcome


def _ported(function: CapturedFunction) -> pmapped.Ported | None:
    """The function under `pmap` as a function over whole arrays. Raises StagingError."""
    if pmapped.OPTION not in function.options.others:
        return None
    ported = pmapped.port(function)
    if ported.problem is not None:
        raise StagingError("; ".join(ported.advice()))
    return ported


def _rows(
    named: Sequence[Tried],
    found: Tried,
    given: Iterable[tuple[str, Placement]],
    compiling: Callable[[Placement], Figures],
) -> list[Row]:
    """The named placements, the found one if it is none of these, and the given ones."""
    rows = [Row(one.strategy.name, one.placement, one.figures, one.strategy, one.reason) for one in named]
    if all(found.placement != row.placement for row in rows):
        rows.append(Row(FOUND, found.placement, found.figures, found.strategy))
    for name, placement in given:
        try:
            rows.append(Row(name, placement, compiling(placement)))
        except StagingError as error:
            rows.append(Row(name, placement, None, None, str(error)))
    return rows


def _staged(program: Reference) -> tuple[Step, Classes]:
    jaxpr = program.baseline.jaxpr
    updated = {update.input: update.output for update in program.updates}
    found = input_classes.classify(
        input_classes.inputs_of(program.bound.leaves, updated), axis_groups.analyse(jaxpr)
    )
    donated = program.bound.donated(program.version.options)
    return Step(jaxpr, program.bound, donated, {output: n for n, output in updated.items()}), found


def _placed(step: Step, placement: Placement, mesh: Any, found: Classes, quick: bool) -> Placed:
    specs, gathered, held = placement
    inside = activation_constraints.by_equation(found.activations, held)
    return placed_program.place(step, specs, mesh, dict(gathered), quick, inside)


def _given(
    program: Reference,
    found: Classes,
    shape: MeshShape,
    others: Mapping[str, Placing],
) -> Iterator[tuple[str, Placement]]:
    """The program's own placements on a mesh with the same axes, and the caller's."""
    own = [_own_spec(leaf, shape) for leaf in program.bound.leaves]
    if any(spec is not None and any(spec) for spec in own):
        specs = tuple(
            spec if spec is not None else ((),) * len(one.shape)
            for spec, one in zip(own, found.inputs, strict=True)
        )
        yield OWN, (specs, (), ())
    names = framework_annotations.stated(program.bound.structure, len(found.inputs))
    if names and not framework_annotations.logical(names, shape):
        said = {
            n: framework_annotations.as_spec(one, found.inputs[n].shape, shape) for n, one in names.items()
        }
        data = strategies.Strategy("", strategies.data_axes(shape)).leaves(found, shape)
        yield ANNOTATED, (tuple(said.get(one.number, data[one.number]) for one in found.inputs), (), ())
    for name, placing in others.items():
        yield name, (tuple(placing(one) for one in found.inputs), (), ())


def _own_spec(leaf: Any, shape: MeshShape) -> Spec | None:
    """The spec of an array in the captured call, if it was on a mesh with axes of the same names and sizes."""
    sharding = getattr(leaf.aval, "sharding", None)
    mesh, spec = getattr(sharding, "mesh", None), getattr(sharding, "spec", None)
    if mesh is None or spec is None or dict(mesh.shape) != dict(zip(shape.names, shape.sizes, strict=True)):
        return None
    parts = [() if part is None else (part,) if isinstance(part, str) else tuple(part) for part in spec]
    return (*parts, *[()] * (len(leaf.aval.shape) - len(parts)))


def _confirmed(
    compiler: Compiler,
    devices: Devices,
    rows: list[Row],
    scale: placement_score.Scale,
    bounds: Bounds,
    progress: Callable[[str], None],
) -> list[Row]:
    """The target compiler's figures for data parallel, the best of the search, and the placements of the caller or
    program."""
    ranked = sorted(
        (row for row in rows[1:] if row.strategy is not None and row.figures is not None),
        key=lambda row: scale.score(row.figures),  # type: ignore[arg-type]
    )
    everywhere = [
        row for row in rows[1:2] if row.strategy is not None and row.strategy.batch == devices.split
    ]
    needed = [rows[0], *everywhere, *(row for row in rows if row.strategy is None)]
    best = [row for row in ranked if row not in needed][: bounds.confirmed]
    compiler.expect([row.placement for row in (*needed, *best)], devices)
    begun = time.monotonic()
    found: dict[int, Row] = {}
    for number, row in enumerate([*needed, *best]):
        if number > len(needed) and time.monotonic() - begun > bounds.seconds:
            break  # the best of the search is among them
        progress(f"compiling {row.name} for {devices.target.name}")
        try:
            figures = compiler.figures(row.placement, devices)
            if figures.loops and row.figures is not None:
                # The same partitions; this compiler writes products as convolutions, in which padding zeros would
                # count.
                figures = replace(figures, flops=row.figures.flops)
            found[id(row)] = replace(row, figures=figures)
        except DoesNotFit as error:
            found[id(row)] = replace(row, figures=placed_program.refused(error))
        except StagingError as error:
            if row is rows[0]:
                raise
            found[id(row)] = replace(row, figures=None, reason=str(error))
    return [found[id(row)] for row in rows if id(row) in found]


def _compare(program: Reference, step: Step, chosen: Row, mesh: Any, outcome: Outcome) -> None:
    """Runs the placement on simulated devices and the original on one, on the captured inputs."""
    try:
        reference = program.references[0]
        placed = _placed(step, chosen.placement, mesh, outcome.classes, True)
        result = placed_program.run(step, placed, reference)
        values = program.draws[0]
        wide = program.rounding(program.original, values, reference) if program.dtype == "float32" else None
        outcome.comparison = equivalence.compare(
            reference,
            result,
            equivalence.tolerance(program.dtype),
            rounded=wide or program.rounded(values, program.dtype),
        )
    except Exception as error:  # the program's own code, on devices that it was not written for
        traceback.print_exc()
        outcome.problem = function_versions.first_line(error)


def _tell(
    function: CapturedFunction,
    program: Reference,
    step: Step,
    target: targets.Target,
    outcome: Outcome,
    limit: int | None,
) -> None:
    """The code to write, and other useful facts."""
    shape, found, chosen = outcome.mesh, outcome.classes, outcome.chosen
    assert chosen.strategy is not None
    assert chosen.figures is not None
    name = function.qualname.rpartition(".")[2]
    updated = {update.output: update.input for update in program.updates}
    nnx = type(function.function).__module__.startswith("flax.nnx")
    parts = _parts(program.baseline.traced.out_info, updated)
    outcome.code = placement_code.program(
        chosen.strategy, found, shape, name, parts, _signature(function.function), nnx
    )
    which = framework_annotations.framework(found, nnx)
    if which is not None:
        names = framework_annotations.stated(program.bound.structure, len(found.inputs))
        outcome.annotations = list(framework_annotations.lines(chosen.strategy, found, shape, which, names))
    told = outcome.advice  # starts with the remarks about pmap
    told += advice.undivided(found, shape)
    tried = [(row.strategy, row.score) for row in outcome.rows if row.strategy and row.score is not None]
    told += advice.experts(found, shape, chosen.strategy, tried)
    told += advice.explicit(step.jaxpr, chosen.figures, shape)
    if not told or not told[0].startswith(pmapped.OPTION):
        told += advice.pmaps(function.path, shape, chosen.strategy.batch)
    if target.compile_only:
        devices = target.devices()[: shape.devices]
        told += advice.layout(shape, devices, placed_program.laid_out(shape, devices), chosen.figures)
    over = limit is not None and (not chosen.figures.fits or chosen.figures.memory > limit)
    if limit is not None and over:
        told.append(f"a device still needs {size(chosen.figures.memory)}, more than its {size(limit)}")
    if over or shape.stages:
        told += _pipelined(program, step, found, shape, target, limit)


def _pipelined(
    program: Reference,
    step: Step,
    found: Classes,
    shape: MeshShape,
    target: targets.Target,
    limit: int | None,
) -> list[str]:
    try:
        return list(pipeline.advice(program, step, found, shape, target, limit))
    except StagingError as error:
        return [f"a pipeline was not tried: {error}"]
    except Exception as error:  # the program's own code, on devices that it was not written for
        traceback.print_exc()
        return [f"a pipeline was not tried: {function_versions.first_line(error)}"]


def _signature(function: Any) -> list[str]:
    """The names of a function's positional parameters."""
    with contextlib.suppress(TypeError, ValueError):
        given = inspect.signature(function).parameters.values()
        return [one.name for one in given if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return []


def _parts(returned: Any, updated: Mapping[int, int]) -> list[list[int | None]]:
    """For each member of a returned tuple (or for the whole result), for each array in it the input that it updates."""
    members = returned if type(returned) is tuple else (returned,)
    parts: list[list[int | None]] = []
    number = 0
    for member in members:
        count = len(jax.tree.leaves(member))
        parts.append([updated.get(number + n) for n in range(count)])
        number += count
    return parts


def result(function: CapturedFunction, outcome: Outcome) -> Result:
    """The recommendation as an ordinary candidate: plain data parallel before, the found placement after."""
    chosen, plain = outcome.chosen, outcome.plain
    simulated = ":" not in outcome.target
    evidence = f"{outcome.tried} placements compiled for {outcome.mesh.devices} simulated CPU devices"
    if not simulated:
        evidence += f", those shown compiled for {outcome.target}, not run there"
    status, reason = Status.COMPILED, _gain(outcome)
    if outcome.comparison is None:
        status, reason = Status.FAILED, f"it was not run: {outcome.problem}"
    elif outcome.comparison.problem is not None:
        status, reason = Status.REJECTED, f"the results differ: {outcome.comparison.problem}"
    else:
        evidence += f"; values and updates agree with one device on the captured inputs, run on {outcome.mesh.devices} simulated devices"
        if chosen is plain:
            status, reason = Status.REJECTED, "no placement tried beats plain data parallelism"
        elif simulated:
            status = Status.VERIFIED
            evidence += "; bytes, memory and FLOPs come from the programs that ran; no time was measured"
    record = Result(
        function.qualname, function.path, function.line, None, "sharding", status, evidence, reason
    )
    record.before, record.after = _cost(plain.figures), _cost(chosen.figures)
    record.numerics = outcome.comparison.numerics if outcome.comparison else None
    return record


def _gain(outcome: Outcome) -> str:

    before, after = outcome.plain.figures, outcome.chosen.figures
    assert before is not None
    assert after is not None
    assert outcome.chosen.strategy is not None
    name = placement_words.title(outcome.chosen.strategy, outcome.classes, outcome.mesh)
    return (
        f"{name}, against plain data parallelism, per device: memory {size(before.memory)} to {size(after.memory)}, sent {size(before.sent)} to {size(after.sent)}, "
        f"computed {amount(before.flops, 'FLOP')} to {amount(after.flops, 'FLOP')}"
    )


def _cost(figures: Figures | None) -> Cost | None:
    if figures is None:
        return None
    return Cost(
        peak_bytes=figures.memory,
        flops=figures.flops,
        collective_bytes=figures.sent,
        fits=None if figures.fits else False,
    )
