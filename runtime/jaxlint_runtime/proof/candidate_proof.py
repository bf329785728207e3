"""Proves one candidate: its values are the same, and it is better, by figures whose origin is stated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jaxlint_runtime import inspection
from jaxlint_runtime.inspection.intermediate_dtypes import coarsest
from jaxlint_runtime.inspection.jaxpr_facts import traced
from jaxlint_runtime.inspection.time_estimates import compiler_ms, least_ms, roofline_ms
from jaxlint_runtime.lowering.function_versions import Staged, StagingError, Version, first_line
from jaxlint_runtime.model import Interval, Result, Status
from jaxlint_runtime.proof.gain import figures, gain_of
from jaxlint_runtime.proof.paired_timing import Timing, compare
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.proof.training import side_by_side
from jaxlint_runtime.transforms.transform import Candidate, NotApplicable, Transform


@dataclass(frozen=True, slots=True)
class Verdict:
    """A status and its reason."""

    status: Status
    reason: str


def result(
    program: Reference, transform: Transform, name: str, status: Status, reason: str, evidence: str = ""
) -> Result:
    """A result without figures."""
    captured = program.captured
    return Result(
        captured.qualname,
        captured.path,
        captured.line,
        code(program, transform),
        name,
        status,
        evidence,
        reason,
    )


def code(program: Reference, transform: Transform) -> str | None:
    """The code of the finding in this function whose claim the transformation proves."""
    for finding in program.captured.findings:
        if transform.rule is not None and finding.get("name") == transform.rule:
            return finding.get("code")
    return None


@dataclass(frozen=True)
class Plan:
    """One candidate, or several from different transformations that are tried together."""

    parts: tuple[tuple[Transform, Candidate], ...]
    version: Version
    emulated: Version  # computes the same values without the target's arithmetic; may be `version`

    @property
    def bits(self) -> bool:
        """Whether every bit of the results must stay the same."""
        return all(transform.bits for transform, _ in self.parts)

    @property
    def trade(self) -> bool:
        """Whether a gain in memory may cost time."""
        return any(transform.trade for transform, _ in self.parts)

    def dtype(self, program: Reference) -> str | None:
        """The coarsest dtype of the parts; None if all bits must be the same."""
        names = [name for transform, _ in self.parts if (name := transform.dtype(program)) is not None]
        return coarsest(names) if names else None


Part = tuple[Transform, Candidate]


def combine(program: Reference, parts: Sequence[Part]) -> Plan:
    """Applies candidates one after the other to the original."""
    version = emulated = program.version
    for transform, candidate in parts:
        same = emulated is version
        applied = transform.apply(program, candidate, version)
        run = transform.emulate(program, candidate, emulated)
        if run is None:
            run = applied if same else transform.apply(program, candidate, emulated)
        emulated = run
        version = applied
    return Plan(tuple(parts), version, emulated)


def evidence(program: Reference, parts: Sequence[Part]) -> list[str]:
    """How parts that cannot run here were checked, beyond their values. Raises NotApplicable."""
    notes = [transform.evidence(program, candidate) for transform, candidate in parts]
    return [note for note in notes if note]


@dataclass(frozen=True)
class Base:
    """The baseline of a candidate: the original, or a version that was proven before."""

    parts: tuple[tuple[Transform, Candidate], ...]
    staged: Staged


def prove(
    program: Reference,
    parts: Sequence[Part],
    base: Base,
    plan: Callable[[], Plan],
    notes: Callable[[], list[str]],
) -> tuple[Result, Base]:
    """Checks, costs and times a version with all of `parts` on top of `base`, compared with `base`.

    `plan` creates the version, `notes` says how parts that cannot run here were checked. Also returns the version as
    the base of others. A candidate that cannot be traced or run is a failed result, never an exception.
    """
    name = " + ".join(candidate.name for _, candidate in parts)
    outcome = result(program, parts[0][0], name, Status.FAILED, "")
    if len(parts) == 1:
        outcome.codemod, outcome.parameters = parts[0][1].codemod, parts[0][1].parameters
    both = (*base.parts, *parts)
    proven = base
    try:
        made = plan()
        proven = Base(both, program.stage(made.version))
        _prove(program, made, base, proven.staged, outcome, notes)
    except NotApplicable as reason:
        outcome.status, outcome.reason = Status.NOT_APPLICABLE, str(reason)
    except StagingError as error:
        outcome.status, outcome.reason = Status.FAILED, str(error)
    except Exception as error:  # the user's code runs in here, and so does a compiler
        outcome.status, outcome.reason = Status.FAILED, first_line(error)
    return outcome, proven


def _prove(
    program: Reference,
    plan: Plan,
    base: Base,
    staged: Staged,
    outcome: Result,
    notes: Callable[[], list[str]],
) -> None:
    same = program.runner == program.target and plan.emulated is plan.version
    dtype = plan.dtype(program)
    if program.lost is not None and not (dtype is None and program.deterministic):
        raise NotApplicable(
            f"refused: {program.lost} is all NaN in the captured call, so no version can be compared"
        )
    compared, gradients = program.compared(plan.emulated, dtype, staged if same else None)
    outcome.numerics = compared.numerics
    outcome.evidence = _values_evidence(program, plan, notes)
    if gradients is not None:
        outcome.numerics.gradient_cosine = gradients.numerics.gradient_cosine
        outcome.evidence += "; gradients for all floating inputs too"
        if gradients.problem is not None:
            compared = gradients
    problem = compared.problem
    if problem is None and dtype is not None and dtype != program.dtype:
        trained = side_by_side(program, program.original, staged if same else program.runnable(plan.emulated))
        if trained is not None:
            outcome.evidence += f"; {trained}"
            problem = trained.problem
    if problem is not None:
        outcome.status, outcome.reason = Status.REJECTED, f"the results differ: {problem}"
        return

    new = plan.parts[len(base.parts) :]
    for transform, _ in new:
        transform.shown(program)
    outcome.before = inspection.cost(base.staged)
    outcome.after = inspection.cost(staged)
    for transform, candidate in new:
        transform.confirm(program, candidate, staged, outcome.before, outcome.after)
    if program.target.compile_only:
        outcome.evidence += f"; memory and cost from the compiler for {program.target.name}, not run there"
        _compiler_times(base.staged, staged, outcome)
        verdict = _judge(plan, outcome, None)
    else:
        timing = _time(program, base.staged, staged, outcome) if program.settings.measure else None
        verdict = _impossible(base.staged, staged, timing) or _judge(plan, outcome, timing)
    outcome.status = verdict.status
    outcome.reason = "; ".join(candidate.summary for _, candidate in new) + f": {verdict.reason}"
    if base.parts:
        given = " + ".join(candidate.name for _, candidate in base.parts)
        outcome.base = given
        outcome.evidence += f"; both versions with {given}"
    requires = [candidate.requires for _, candidate in plan.parts if candidate.requires]
    if verdict.status in (Status.VERIFIED, Status.COMPILED) and requires:
        outcome.reason += f" (holds if {'; '.join(requires)})"


def _values_evidence(program: Reference, plan: Plan, notes: Callable[[], list[str]]) -> str:
    how = (
        "the same bits"
        if plan.bits and program.deterministic
        else "values and updates agree within tolerance"
    )
    draws = len(program.telling)
    inputs = "the captured inputs" if draws == 1 else f"the captured inputs and {draws - 1} random variations"
    text = f"{how} on {inputs}, run on {program.runner.name}"
    if program.lost is not None:
        text += f" ({program.lost} is all NaN)"
    if program.calibrated and not plan.bits:
        text += ", tolerances from a float64 run"
    if not program.deterministic:
        text += " (two runs of the original differ in bits)"
    if traced(program.baseline).effects:
        text += "; its prints, writes and callbacks ran in each of these calls"
    return "; ".join([text, *notes()])


def _time(program: Reference, before: Staged, after: Staged, outcome: Result) -> Timing | None:
    assert outcome.before is not None
    assert outcome.after is not None
    donated = (program.bound.donated(staged.version.options) for staged in (before, after))
    fresh = [a or b for a, b in zip(*donated, strict=True)]
    timing = compare(
        program.subject(before, fresh),
        program.subject(after, fresh),
        program.settings.seconds,
        program.settings.seed,
        program.agreed,
    )
    where = program.target.devices()[0].device_kind
    outcome.evidence += f"; memory from the compiler for {where}"
    if timing is None:
        outcome.evidence += f"; too slow to time in {program.settings.seconds:g} s"
        return None
    outcome.before.time_ms, outcome.after.time_ms = timing.before, timing.after
    outcome.before.time_kind = outcome.after.time_kind = "measured"
    outcome.speedup, outcome.pairs_ms = timing.speedup, timing.pairs
    outcome.evidence += f"; time from {timing.blocks} A-B-B-A blocks of {timing.calls} calls each on {where}"
    return timing


def _impossible(before: Staged, after: Staged, timing: Timing | None) -> Verdict | None:
    """A time that no device of this kind can reach means that something was not computed, or not waited for."""
    least = least_ms(after) if timing is not None else None
    if timing is None or least is None or timing.after.high >= least:
        return None
    if timing.before.high < (least_ms(before) or 0.0):
        return None  # the original is below its bound as well: some of its products are never computed
    reason = f"measured {timing.after.median:.3g} ms, but the device needs {least:.3g} ms for its matrix products alone: the time cannot be right"
    return Verdict(Status.REJECTED, reason)


def _compiler_times(before: Staged, after: Staged, outcome: Result) -> None:
    """Adds the compiler's own time estimates to the costs, if it provides trustworthy ones for both."""
    if outcome.before is None or outcome.after is None or False in (outcome.before.fits, outcome.after.fits):
        return  # not compiled, so there is no estimate
    estimates = [compiler_ms(before), compiler_ms(after)]
    kind = "compiler"
    if None in estimates:  # roofline bounds support no claim: they are only shown
        estimates, kind = [roofline_ms(before), roofline_ms(after)], "roofline"
    if estimates[0] is None or estimates[1] is None:
        return
    for cost, milliseconds in zip((outcome.before, outcome.after), estimates, strict=True):
        assert milliseconds is not None
        cost.time_ms = Interval(milliseconds, milliseconds, milliseconds)
        cost.time_kind = kind
    if kind == "roofline":
        return
    ratio = estimates[0] / estimates[1]
    outcome.speedup = Interval(ratio, ratio, ratio)


def _judge(plan: Plan, outcome: Result, timing: Timing | None) -> Verdict:
    gain = gain_of(outcome)
    if gain.improves(trade=plan.trade):
        return Verdict(Status.COMPILED if timing is None else Status.VERIFIED, figures(outcome))
    return Verdict(Status.REJECTED, f"{gain.lack}: {figures(outcome)}")
