"""The interface of all transformations."""

from __future__ import annotations

import abc
from dataclasses import dataclass, field
from typing import Any, ClassVar

from jaxlint_runtime.lowering.function_versions import Staged, Version
from jaxlint_runtime.model import Cost
from jaxlint_runtime.programs.captured_program import Program

# Why a kernel is not written to the source.
NO_CALL = (
    "neither jax.nn nor optax has this kernel; --apply adds no import of jaxlint or of experimental modules"
)


class NotApplicable(Exception):
    """A transformation has nothing to propose for a function, or nothing that its target can show.

    The message is the reason, as a sentence without its full stop.
    """


@dataclass(frozen=True)
class Candidate:
    """One way to apply a transformation to one function."""

    name: str  # as reported: "donation", "remat:dots_saveable"
    summary: str  # the change, in words
    requires: str  # what must hold outside the function, empty if nothing
    estimate: float  # estimated savings in bytes, for ranking only
    codemod: str | None = None  # otherwise `parameters` may say under "unwritten" why no codemod writes it
    parameters: dict[str, Any] = field(default_factory=dict)


class Transform(abc.ABC):
    """An optimisation.

    `bits`: it must not change a single bit of the results. `trade`: a gain in memory may cost time.
    """

    name: ClassVar[str]
    rule: ClassVar[str | None] = None  # the name of the rule whose claim it proves
    bits: ClassVar[bool] = False
    trade: ClassVar[bool] = False

    @abc.abstractmethod
    def propose(self, program: Program) -> list[Candidate]:
        """Ways to apply it, best first. Raises NotApplicable."""

    @abc.abstractmethod
    def apply(self, program: Program, candidate: Candidate, version: Version) -> Version:
        """A version with the same signature and the transformation applied."""

    def emulate(self, program: Program, candidate: Candidate, version: Version) -> Version | None:
        """A version that computes the same values without the target's own arithmetic.

        None if the result of `apply` can run anywhere.
        """
        return None

    def evidence(self, program: Program, candidate: Candidate) -> str | None:
        """How parts that cannot run here were checked, beyond the values of the emulated version. Raises
        NotApplicable."""
        return None

    def shown(self, program: Program) -> None:  # noqa: B027 - optional
        """Raises NotApplicable if no figure of the target can show a gain."""

    def confirm(  # noqa: B027 - optional
        self, program: Program, candidate: Candidate, staged: Staged, before: Cost, after: Cost
    ) -> None:
        """Adds its own figures to the costs. Raises NotApplicable if the target undid the transformation."""

    def dtype(self, program: Program) -> str | None:
        """The coarsest dtype of its versions; None if all bits must be the same."""
        return None if self.bits else program.dtype
