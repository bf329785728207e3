"""Facts about a compiled program in words, each with the user's line: what is copied, transposed, sent, or not fused.

They describe the program without judging it. Figures are bytes in a call of the program, loops by their iterations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from jaxlint_runtime.inspection.hlo import Computation, Instruction, Module, Place, Shape
from jaxlint_runtime.inspection.traffic import FREE, Kernel, Traffic, fused

LEAST = 64 * 2**10  # bytes that are worth reporting
_COLLECTIVES = re.compile(
    r"(all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute|ragged-all-to-all|collective-broadcast)(-start)?$"
)
_PRODUCTS = frozenset(("dot", "convolution"))
_ORDERINGS = frozenset(("copy", "transpose"))
_PLAIN = frozenset(("copy", "transpose", "convert", "reshape", "bitcast-convert"))
QUIET_CALLS = re.compile(r"^(Sharding|SPMD|__xla_gpu_empty|annotate_device_placement)")
_CALLBACK = re.compile(r"callback", re.IGNORECASE)
_PRODUCT_CALLS = re.compile(r"cublas|gemm|matmul|\$conv|cudnn", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact about one place of a compiled program. `nbytes` and `count` are in a call of the program."""

    kind: str  # "copy", "transpose", "fusion", "slice", "update", "broadcast", "collective", "float64", "constant", "call"
    text: str
    path: str | None
    line: int | None
    function: str | None
    nbytes: int
    count: int


def facts(module: Module, traffic: Traffic) -> list[Fact]:
    """The facts worth reporting, most bytes first; equal facts of one line are merged, with their bytes added."""
    found: dict[tuple[str, str, Place | None], list[int]] = {}

    def say(kind: str, text: str, place: Place | None, nbytes: int, count: int) -> None:
        entry = found.setdefault((kind, text, place), [0, 0])
        entry[0] += nbytes
        entry[1] += count

    for kernel in traffic.kernels:
        _kernel(module, kernel, say)
    for kind, text, place, nbytes, count in (
        *_breaks(module, traffic),
        *_constants(module),
        *_doubles(module),
    ):
        say(kind, text, place, nbytes, count)
    told = []
    for (kind, text, place), (nbytes, count) in found.items():
        path, line, function = place or (None, None, None)
        told.append(Fact(kind, text, path, line, function, nbytes, count))
    return sorted(told, key=lambda fact: (-fact.nbytes, fact.kind, fact.text, str(fact.path), fact.line or 0))


_Say = Callable[[str, str, Place | None, int, int], None]


def _kernel(module: Module, kernel: Kernel, say: _Say) -> None:
    """What one kernel does besides computing."""
    instruction, nbytes, place, times = kernel.instruction, kernel.nbytes, kernel.place, kernel.times
    opcode = instruction.opcode
    sent = collective(instruction)
    if sent is not None:
        text = f"{sent[0]} of {_names(instruction.shapes)} between devices"
        say("collective", text, place, sent[1] * times, times)
        return
    if opcode == "custom-call":
        _call(instruction, place, nbytes, times, say)
        return
    if nbytes < LEAST:
        return
    does = fused(module, instruction) - FREE
    shapes = instruction.shapes
    if (
        opcode.endswith("-start") and len(shapes) > 1
    ):  # (operand, result, ...) of an operation that overlaps with others
        shapes = (max(shapes, key=lambda shape: shape.nbytes),)
    result = _names(shapes)
    if (does and does <= _PLAIN and does & _ORDERINGS) or opcode == "copy-start":
        kind, text = _moved(module, kernel, does, result)
        say(kind, text, place, nbytes, times)
    elif does and does <= {"broadcast", "iota"}:
        say("broadcast", f"writes out a broadcast to {result}", place, nbytes, times)
    elif "dynamic-update-slice" in does:
        say("update", f"writes a slice into {result}", place, nbytes, times)
    elif "scatter" in does:
        say("update", f"scatters into {result}", place, nbytes, times)
    elif does & {"dynamic-slice", "gather"} and not does & (_PRODUCTS | {"reduce"}):
        verb = "gathers" if "gather" in does else "takes a slice at a computed index:"
        say("slice", f"{verb} {result}", place, nbytes, times)


def collective(instruction: Instruction) -> tuple[str, int] | None:
    """(kind, bytes of its result) of a collective; None for other instructions."""
    found = _COLLECTIVES.match(instruction.opcode)
    if found is None:
        return None
    if found[
        2
    ]:  # the start of an asynchronous pair yields (operand, result, ...): the result is the largest of them
        return found[1], max((shape.nbytes for shape in instruction.shapes), default=0)
    return found[1], instruction.nbytes


def _moved(module: Module, kernel: Kernel, does: set[str], result: str) -> tuple[str, str]:
    """Whether a copy keeps the order in memory."""
    instruction = kernel.instruction
    source = kernel.computation.instructions.get(instruction.operands[0]) if instruction.operands else None
    turned = "transpose" in does or (source is not None and _turned(source, instruction))
    if turned:
        return "transpose", f"transposes {result} in memory"
    if "convert" in does and source is not None:
        return "copy", f"converts {_names(source.shapes)} to {result}"
    if source is not None and source.opcode == "parameter" and kernel.computation.name == module.entry:
        return "copy", f"copies the argument {result}"
    if source is not None and source.opcode in ("while", "get-tuple-element"):
        return "copy", f"copies {result}, which a loop carries"
    return "copy", f"copies {result}"


def _turned(source: Instruction, result: Instruction) -> bool:
    if len(source.shapes) != 1 or len(result.shapes) != 1:
        return False
    before, after = source.shapes[0], result.shapes[0]
    if before.dims == after.dims:
        return _order(before) != _order(after)
    return False


def _order(shape: Shape) -> list[int]:
    """Dimensions minor first, without those of one element: their place in memory makes no difference."""
    order = [int(n) for n in shape.layout.split(",") if n]
    return [n for n in order if n < len(shape.dims) and shape.dims[n] != 1]


def _call(instruction: Instruction, place: Place | None, nbytes: int, times: int, say: _Say) -> None:
    target = instruction.target
    if not target or QUIET_CALLS.match(target):
        return
    if _CALLBACK.search(target):
        say("call", "calls back into Python, and the device waits", place, nbytes, times)
    else:
        say("call", f"custom call of {target}, of unknown cost", place, nbytes, times)


def _breaks(module: Module, traffic: Traffic) -> Iterator[tuple[str, str, Place | None, int, int]]:
    """Large values that one kernel writes to memory and another reads, with the reason why they are not fused, by
    line and reason."""
    by_name = {(kernel.computation.name, kernel.instruction.name): kernel for kernel in traffic.kernels}
    together: dict[tuple[Place | None, str, str], tuple[list[Shape], list[int]]] = {}
    for kernel in traffic.kernels:
        made, computation = kernel.instruction, kernel.computation
        size = sum(shape.nbytes for shape in made.shapes if shape.space == 0)
        if size < LEAST or made.root or collective(made) is not None or made.opcode == "copy-start":
            continue
        readers = _readers(computation, made)
        names = [(computation.name, user.name) for user in readers]
        kernels = [by_name[name] for name in names if name in by_name]
        why = _why(module, kernel, kernels) if kernels else None
        if why is not None:
            shapes, sums = together.setdefault((kernel.place, _lines(kernel, kernels), why), ([], [0, 0]))
            shapes += made.shapes
            sums[0] += size * (1 + len(kernels)) * kernel.times
            sums[1] += kernel.times
    for (place, where, why), (shapes, (nbytes, count)) in together.items():
        verb = "goes" if len(shapes) == 1 else "go"
        yield "fusion", f"{_names(shapes)} {verb} through memory to {where}: {why}", place, nbytes, count


def _readers(computation: Computation, made: Instruction) -> list[Instruction]:
    """The readers of a result, through instructions that only rename it."""
    found: dict[str, Instruction] = {}
    todo = [made]
    while todo:
        for user in computation.users.get(todo.pop().name, []):
            if user.opcode in ("bitcast", "get-tuple-element"):
                todo.append(user)
            elif user.opcode not in FREE:
                found[user.name] = user
    return list(found.values())


def _why(module: Module, made: Kernel, readers: Sequence[Kernel]) -> str | None:
    """Why a value leaves the chip; None for copies, which are reported separately."""
    does = fused(module, made.instruction)
    read = [fused(module, reader.instruction) for reader in readers]
    if does <= _PLAIN or all(one <= _PLAIN for one in read):
        return None
    if _is_product(does, made):
        if any(_is_product(one, reader) for one, reader in zip(read, readers, strict=True)):
            return "from one matrix product to another"
        return "the result of a matrix product"
    if any(_is_product(one, reader) for one, reader in zip(read, readers, strict=True)):
        return "read by a matrix product"
    if any(_COLLECTIVES.match(reader.instruction.opcode) for reader in readers):
        return "sent to other devices"
    if "custom-call" in does or any("custom-call" in one for one in read):
        return "a custom call is never fused"
    if any("sort" in one for one in (does, *read)):
        return "a sort is never fused"
    if any("scatter" in one for one in (does, *read)):
        return "a scatter reads all of it"
    if len(readers) > 1:
        return f"read by {len(readers)} kernels"
    if "reduce" in does or "reduce-window" in does:
        return "the result of a reduction"
    if any("reduce" in one for one in read):
        return "read by a reduction"
    return "not fused by the compiler"


def _is_product(does: set[str], kernel: Kernel) -> bool:
    return bool(does & _PRODUCTS) or bool(_PRODUCT_CALLS.search(kernel.instruction.target))


def _lines(made: Kernel, readers: Sequence[Kernel]) -> str:
    """The destinations of a value: lines of the same file by number only."""
    lines: dict[str, None] = {}
    for reader in readers:
        if reader.place is None:
            continue
        same = made.place is not None and made.place[0] == reader.place[0]
        file = "" if same else reader.place[0].rsplit("/", 1)[-1] + ":"
        lines[f"line {reader.place[1]}" if same else f"{file}{reader.place[1]}"] = None
    shown = list(lines)
    if not shown:
        return "another kernel"
    return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")


def _constants(module: Module) -> Iterator[tuple[str, str, Place | None, int, int]]:
    for computation in module:
        for one in computation.instructions.values():
            if one.opcode == "constant" and one.nbytes >= LEAST:
                yield (
                    "constant",
                    f"holds {_names(one.shapes)} as a constant",
                    module.place(one),
                    one.nbytes,
                    1,
                )


def _doubles(module: Module) -> Iterator[tuple[str, str, Place | None, int, int]]:
    """Results in float64, one fact per user line."""
    lines: dict[Place | None, list[int]] = {}
    for computation in module:
        for one in computation.instructions.values():
            if one.opcode in FREE or not any(shape.dtype in ("f64", "c128") for shape in one.shapes):
                continue
            entry = lines.setdefault(module.place(one), [0, 0])
            entry[0] += one.nbytes
            entry[1] += 1
    for place, (nbytes, count) in lines.items():
        yield "float64", "computes in float64", place, nbytes, count


def _names(shapes: Sequence[Shape]) -> str:
    """Shapes in words: equal ones once."""
    counts: dict[str, int] = {}
    for shape in sorted(shapes, key=lambda one: -one.nbytes):
        if shape.dims or len(shapes) == 1:
            counts[str(shape)] = counts.get(str(shape), 0) + 1
    parts = [name if count == 1 else f"{count} {name}" for name, count in counts.items()]
    return ", ".join(parts[:3]) + (" ..." if len(parts) > 3 else "")
