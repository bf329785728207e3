"""The main memory traffic of a compiled program, kernel by kernel.

A kernel is an instruction that runs by itself: a fusion, a matrix product, a copy, a collective. Intermediate values
of a fusion stay on the chip. This is an estimate: caches, padding and the insides of custom calls are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jaxlint_runtime.inspection.executed_instructions import executed
from jaxlint_runtime.inspection.hlo import Computation, Instruction, Module, Place, Shape

FREE = frozenset(
    "parameter constant get-tuple-element tuple bitcast after-all add-dependency domain opt-barrier partition-id replica-id".split()  # noqa: SIM905
)
UNREAL = frozenset(("AllocateBuffer", "ConcatBitcast"))  # custom calls that only name memory
_LOOKS = frozenset(("dynamic-slice", "slice", "gather"))
_PASSING = frozenset(("bitcast", "copy", "convert", "reshape", "transpose"))


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel, its runs (`times`) in a call of the program, and the bytes of one run."""

    instruction: Instruction
    computation: Computation
    times: int
    read: int
    written: int
    place: Place | None
    phase: str  # "forward", "backward" or "other"

    @property
    def nbytes(self) -> int:
        """The bytes that it moves in a call of the program."""
        return (self.read + self.written) * self.times


@dataclass(frozen=True, slots=True)
class Traffic:
    """The kernels of a program. `exact` is False if a loop's number of iterations is unknown and it counts once."""

    kernels: tuple[Kernel, ...]
    exact: bool

    @property
    def nbytes(self) -> int:
        """Bytes that a call of the program moves."""
        return sum(kernel.nbytes for kernel in self.kernels)

    def by_phase(self) -> dict[str, int]:
        """Bytes of the forward pass, the backward pass and the rest."""
        found: dict[str, int] = {}
        for kernel in self.kernels:
            found[kernel.phase] = found.get(kernel.phase, 0) + kernel.nbytes
        return found


def phase(op_name: str) -> str:
    """The pass of an operation, from the transformations in its name stack."""
    if "transpose(" in op_name:
        return "backward"
    return "forward" if "jvp(" in op_name else "other"


def traffic(module: Module) -> Traffic:
    """Walks the entry computation and the loops and branches inside it."""
    kernels, exact = [], True
    for one in executed(module):
        exact = exact and one.exact
        computation, instruction = one.computation, one.instruction
        opcode = instruction.opcode
        if opcode in FREE or opcode.endswith(("-done", "-update")) or instruction.target in UNREAL:
            continue
        read, written = _moved(module, computation, instruction)
        place, stack = _source(module, computation, instruction)
        kernels.append(Kernel(instruction, computation, one.times, read, written, place, phase(stack)))
    return Traffic(tuple(kernels), exact)


def _source(module: Module, computation: Computation, instruction: Instruction) -> tuple[Place | None, str]:
    """Line and name stack: its own, otherwise those of the fused operations, of its operands, or of its readers."""
    place, stack = module.place(instruction), instruction.op_name
    if place is not None and stack:
        return place, stack
    found = computation.instructions
    beside = [*_inside(module, instruction), *(found[name] for name in instruction.operands if name in found)]
    for operand in list(beside):
        if operand.opcode == "get-tuple-element" and operand.operands[0] in found:
            beside.append(found[operand.operands[0]])
    for other in (*beside, *computation.users.get(instruction.name, ())):
        place, stack = place or module.place(other), stack or other.op_name
        if place is not None and stack:
            break
    return place, stack


def _inside(module: Module, instruction: Instruction) -> list[Instruction]:
    """The operations in a fusion, the last first; empty for other instructions."""
    body = module.computations.get(instruction.called.get("calls", ""))
    return (
        list(body.instructions.values())[::-1] if body is not None and instruction.opcode == "fusion" else []
    )


def fused(module: Module, instruction: Instruction) -> set[str]:
    """The operations of a kernel, including those inside fusions; free ones are left out."""
    if instruction.opcode != "fusion":
        return {instruction.opcode}
    found: set[str] = set()
    for inner in _inside(module, instruction):
        if inner.opcode == "fusion":
            found |= fused(module, inner)
        elif inner.opcode not in FREE:
            found.add(inner.opcode)
    return found


def targets(module: Module, instruction: Instruction) -> set[str]:
    """The targets of a kernel's custom calls, including those inside a fusion."""
    if instruction.opcode == "custom-call":
        return {instruction.target} - UNREAL
    found: set[str] = set()
    for inner in _inside(module, instruction):
        if inner.opcode in ("fusion", "custom-call"):
            found |= targets(module, inner)
    return found


def _main(shapes: tuple[Shape, ...]) -> int:
    """Bytes of the shapes in main memory."""
    return sum(shape.nbytes for shape in shapes if shape.space == 0)


def _moved(module: Module, computation: Computation, instruction: Instruction) -> tuple[int, int]:
    """Bytes that one run reads and writes."""
    operands = [
        computation.instructions[name] for name in instruction.operands if name in computation.instructions
    ]
    if instruction.opcode in _LOOKS:
        written = _main(instruction.shapes)
        return min(written, _main(operands[0].shapes) if operands else written), written
    if instruction.opcode in ("dynamic-update-slice", "scatter") and len(operands) > 1:
        update = _main(operands[1 if instruction.opcode == "dynamic-update-slice" else -1].shapes)
        return update, update
    if instruction.opcode.endswith("-start") and len(instruction.shapes) > 1:  # (operand, result, ...)
        return _main(operands[0].shapes) if operands else 0, max(_main((s,)) for s in instruction.shapes)
    body = module.computations.get(instruction.called.get("calls", ""))
    if instruction.opcode == "fusion" and body is not None:
        return _fusion(body, operands, instruction)
    return sum(_main(one.shapes) for one in operands), _main(instruction.shapes)


def _fusion(body: Computation, operands: list[Instruction], instruction: Instruction) -> tuple[int, int]:
    """A fusion reads a slice where it only slices, and writes a slice where it updates one in place."""
    in_place: set[str] = set()
    written = _main(instruction.shapes)
    for updated in _updates(body):
        whole, update = (body.instructions.get(name) for name in updated.operands[:2])
        if whole is None or update is None:
            continue
        in_place.add(whole.name)
        if _main(updated.shapes) or not instruction.shapes:
            written -= max(0, min(written, updated.nbytes - update.nbytes))
    read = 0
    for parameter, operand in zip(body.parameters, operands, strict=False):
        full = _main(operand.shapes)
        users = body.users.get(parameter.name, [])
        if users and all(user.opcode in _LOOKS and user.operands[0] == parameter.name for user in users):
            full = min(full, sum(user.nbytes for user in users))
        elif parameter.name in in_place and len(users) == 1:
            full = 0
        read += full
    return read, max(0, written)


def _updates(body: Computation) -> Iterator[Instruction]:
    """The slice updates among the results of a fusion."""
    root = body.root
    if root is None:
        return
    results = (
        [body.instructions[n] for n in root.operands if n in body.instructions]
        if root.opcode == "tuple"
        else [root]
    )
    for result in results:
        seen = 0
        while (
            result.opcode in _PASSING
            and result.operands
            and result.operands[0] in body.instructions
            and seen < 8
        ):
            result, seen = body.instructions[result.operands[0]], seen + 1
        if result.opcode == "dynamic-update-slice":
            yield result
