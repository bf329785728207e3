"""FLOPs of one device's matrix products and convolutions, from optimised HLO; loops by their iterations."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from jaxlint_runtime.inspection.hlo import Computation, Instruction, Module

_CONTRACTED = re.compile(r"lhs_contracting_dims=\{([\d,]*)\}")
_LABELS = re.compile(r"dim_labels=(\w+)_(\w+)->(\w+)")


def product_flops(module: Module) -> float:
    """FLOPs of one call on one device. A loop with an unknown number of iterations counts once."""
    return sum(_walk(module, module.entry, 1, ()))


def has_loops(module: Module) -> bool:
    """Whether the program has a loop, whose body compilers count once."""
    return any(one.opcode == "while" for computation in module for one in computation.instructions.values())


def _walk(module: Module, name: str, times: int, above: tuple[str, ...]) -> Iterator[float]:
    computation = module.computations.get(name)
    if computation is None or name in above:
        return
    for instruction in computation.instructions.values():
        if instruction.opcode == "dot":
            yield times * _dot(computation, instruction)
        elif instruction.opcode == "convolution":
            yield times * _convolution(computation, instruction)
        turns = 1
        if instruction.opcode == "while":
            turns = module.turns(computation, instruction) or 1
        for role, inner in instruction.called.items():
            if role != "to_apply" or instruction.opcode == "call":
                yield from _walk(module, inner, times * turns, (*above, name))


def _dot(computation: Computation, instruction: Instruction) -> float:
    left = computation.instructions.get(instruction.operands[0]) if instruction.operands else None
    found = _CONTRACTED.search(instruction.attributes)
    if left is None or found is None or not left.shapes:
        return 0.0
    dims = left.shapes[0].dims
    depth = math.prod(dims[int(n)] for n in found[1].split(",") if n)
    return 2.0 * instruction.shapes[0].size * depth


def _convolution(computation: Computation, instruction: Instruction) -> float:
    """Zeros between the elements of a dilated operand are counted too."""
    kernel = computation.instructions.get(instruction.operands[1]) if len(instruction.operands) > 1 else None
    labels = _LABELS.search(instruction.attributes)
    if kernel is None or labels is None or not kernel.shapes:
        return 0.0
    dims = kernel.shapes[0].dims
    per_output = math.prod(size for size, label in zip(dims, labels[2], strict=False) if label != "o")
    return 2.0 * instruction.shapes[0].size * per_output
