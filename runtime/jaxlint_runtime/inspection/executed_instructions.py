"""The instructions of a compiled program that run, with those in its loops, branches and calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jaxlint_runtime.inspection.hlo import Computation, Instruction, Module

_CONTROL = frozenset(("while", "conditional", "call", "async-start"))


@dataclass(frozen=True, slots=True)
class Executed:
    """One instruction and its runs in a call of the program. `exact` is False if the number of a loop's iterations is
    unknown."""

    computation: Computation
    instruction: Instruction
    times: int
    exact: bool


def executed(module: Module) -> Iterator[Executed]:
    """The instructions in program order, without those inside fusions and reductions. A loop with an unknown number
    of iterations counts once."""
    yield from _within(module, module.entry, 1, True, ())


def _within(module: Module, name: str, times: int, exact: bool, above: tuple[str, ...]) -> Iterator[Executed]:
    computation = module.computations.get(name)
    if computation is None or name in above:
        return
    above = (*above, name)
    for instruction in computation.instructions.values():
        if instruction.opcode not in _CONTROL:
            yield Executed(computation, instruction, times, exact)
            continue
        turns = module.turns(computation, instruction) if instruction.opcode == "while" else 1
        for inner in instruction.called.values():
            yield from _within(module, inner, times * (turns or 1), exact and turns is not None, above)
