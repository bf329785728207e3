"""Proves the candidates of one program in this process, each by its name."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from jaxlint_runtime.lowering.function_versions import first_line
from jaxlint_runtime.model import Cost, Proposed, Result, Status
from jaxlint_runtime.optimiser_settings import TRANSFORMS as ALL
from jaxlint_runtime.proof.candidate_proof import Base, Part, Plan, combine, evidence, prove, result
from jaxlint_runtime.proof.host_inputs import host_inputs
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.transforms import TRANSFORMS, NotApplicable

_LARGE = 2**20  # bytes of a captured array that are worth reporting


class LiveProver:
    """The candidates of a program whose function is available: `candidate_search.Prover`."""

    def __init__(self, program: Reference) -> None:
        self.program = program
        self.parts: dict[str, Part] = {}
        self._bases: dict[tuple[str, ...], Base] = {}

    @property
    def cost(self) -> Cost:
        """The cost of the original. Raises StagingError."""
        return self.program.cost

    def propose(self, transform: str) -> list[Proposed] | Result:
        """The candidates of a transformation, or why there are none."""
        known = TRANSFORMS[transform]
        try:
            found = known.propose(self.program)
        except NotApplicable as reason:
            return result(self.program, known, transform, Status.NOT_APPLICABLE, str(reason))
        except Exception as error:
            why = f"the search failed: {first_line(error)}"
            return result(self.program, known, transform, Status.FAILED, why)
        self.parts |= {candidate.name: (known, candidate) for candidate in found}
        return [Proposed(one.name, transform, known.bits, one.estimate) for one in found]

    def prepare(self) -> None:
        """Computes the common baseline of all candidates, so that its time counts for the original and not for the
        first one."""
        if self.parts:
            self.program.settings.progress(
                f"{self.program.captured.qualname}: computing the reference results"
            )
            with contextlib.suppress(Exception):  # each candidate says why it could not be compared
                self.program.references  # noqa: B018 - runs the original

    def plan(self, names: Sequence[str]) -> Plan:
        """The version with these candidates. Raises the exceptions of their transformations."""
        return combine(self.program, [self.parts[name] for name in names])

    def evidence(self, names: Sequence[str]) -> list[str]:
        """How parts that cannot run here were checked. Raises NotApplicable."""
        return evidence(self.program, [self.parts[name] for name in names])

    def staged(self, parts: Sequence[str]) -> bool:
        """Any can be tried together."""
        return all(name in self.parts for name in parts)

    def prove(self, parts: Sequence[str], base: Sequence[str]) -> Result:
        """Proves a version with all of `parts` on top of `base`, compared with `base`; reports it if it is proven."""
        on = self._base(tuple(base))
        names = (*base, *parts)
        outcome, version = prove(
            self.program,
            [self.parts[name] for name in parts],
            on,
            functools.partial(self.plan, names),
            functools.partial(self.evidence, names),
        )
        if outcome.status in (Status.VERIFIED, Status.COMPILED):
            self._bases[names] = version
            self.program.settings.inspected(" + ".join(parts), version.staged)
        return outcome

    def _base(self, names: tuple[str, ...]) -> Base:
        """A version that is already proven, traced here."""
        if names not in self._bases:
            staged = self.program.stage(self.plan(names).version) if names else self.program.baseline
            self._bases[names] = Base(tuple(self.parts[name] for name in names), staged)
        return self._bases[names]


def opening(program: Reference) -> Iterator[Result]:
    """Traces, compiles and describes the original; returns results about it. Raises StagingError and
    TargetUnavailable."""
    settings = program.settings
    program.target.devices()
    settings.progress(f"{program.captured.qualname}: compiling for {program.target.name}")
    program.cost  # noqa: B018 - stages and compiles the original
    large = [constant for constant in program.constants if constant.nbytes >= _LARGE]
    if large:
        settings.constants([asdict(constant) for constant in large])
    settings.inspected("original", program.baseline)
    if settings.costs:
        as_written = whole(program, Status.COMPILED, "as written")
        as_written.evidence = "memory and cost from the compiler"
        as_written.after = program.cost
        yield as_written
    wide = host_inputs(program) if settings.transforms == ALL else None
    if wide is not None:
        yield wide


def whole(program: Reference, status: Status, reason: str) -> Result:
    """A result about the function itself rather than one candidate."""
    captured = program.captured
    return Result(captured.qualname, captured.path, captured.line, None, "original", status, "", reason)
