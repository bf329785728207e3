"""What occupies memory at a compiled program's peak: the buffers that its compiler assigned, if it reports them.

The compiler reports which value lies where in which allocation. The schedule, which is the order of the text, shows
when it is alive. Values of called computations count for the calling instruction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.inspection.hlo import Computation, Instruction, Module, Place
from jaxlint_runtime.inspection.memory_timeline import Alive
from jaxlint_runtime.inspection.protobuf import numbers, parts

# Their results are views of their operands, or the same buffers after a loop has written to them.
_VIEWS = frozenset({"bitcast", "get-tuple-element", "tuple", "while", "conditional", "opt-barrier", "call"})
_ALIVE = 8  # groups that are listed
# Fields of xla/service/hlo.proto: of a BufferAssignment, an allocation, a slot in it, a logical buffer, a module.
_BUFFERS, _ALLOCATIONS = 1, 3
_INDEX, _SIZE, _THREAD_LOCAL, _PARAMETER, _LIVE_OUT, _PLACES, _CONSTANT = 1, 2, 3, 5, 7, 9, 12
_STANDING = {_PARAMETER: "argument", _CONSTANT: "constant", _LIVE_OUT: "output"}
_DEFINED_AT, _INSTRUCTION_ID = 3, 4
_COMPUTATIONS, _INSTRUCTIONS, _NAME, _ID = 3, 2, 1, 35


@dataclass(frozen=True, slots=True)
class Assigned:
    """The moment of the peak. `peak` is bytes in all allocations, `alive` the live values in them, largest first."""

    peak: int
    operation: str
    place: Place | None
    alive: tuple[Alive, ...]


@dataclass(frozen=True, slots=True)
class _Value:
    """One temporary buffer: its place, and the first and the last instruction that need it."""

    instruction: Instruction
    allocation: int
    offset: int
    size: int
    first: int
    last: int


def assigned(compiled: Any, module: Module) -> Assigned | None:
    """The peak of a `jax.stages.Compiled` whose optimised HLO is `module`; None if the compiler does not report it."""
    try:
        plan = compiled.memory_analysis().serialized_buffer_assignment_proto
        (program,) = compiled.runtime_executable().hlo_modules()
        names = _names(program.as_serialized_hlo_module_proto())
        made = {numbers(buffer)[_INDEX]: _maker(buffer, names) for buffer in parts(plan, _BUFFERS)}
    except Exception:  # not every backend reports them
        return None
    entry = module.computations.get(module.entry)
    if not plan or entry is None:
        return None
    alive: dict[tuple[str, Place | None, str], list[int]] = {}
    temporaries: list[bytes] = []
    peak = 0
    for allocation in parts(plan, _ALLOCATIONS):
        known = numbers(allocation)
        if _THREAD_LOCAL in known:
            continue
        peak += known.get(_SIZE, 0)
        standing = next((what for field, what in _STANDING.items() if field in known), None)
        if standing is None:
            temporaries.append(allocation)
        else:
            _add(alive, ("", None, standing), known.get(_SIZE, 0))
    values = _values(temporaries, made, module, entry)
    if not values:
        return None
    moment = max(range(len(entry.instructions)), key=lambda n: sum(size for _, size in _held(values, n)))
    for value, size in _held(values, moment):
        shape = max(value.instruction.shapes, key=lambda one: one.nbytes, default="")
        _add(alive, (str(shape), module.place(value.instruction), value.instruction.opcode), size)
    found = [Alive(shape, size, count, place, what) for (shape, place, what), (size, count) in alive.items()]
    found.sort(key=lambda one: -one.nbytes)
    at = list(entry.instructions.values())[moment]
    return Assigned(peak, at.opcode, module.place(at), tuple(found[:_ALIVE]))


def _add(groups: dict[Any, list[int]], key: Any, size: int) -> None:
    entry = groups.setdefault(key, [0, 0])
    entry[0] += size
    entry[1] += 1


def _names(program: bytes) -> dict[int, str]:
    """The names of all instructions, by number."""
    found = {}
    for computation in parts(program, _COMPUTATIONS):
        for instruction in parts(computation, _INSTRUCTIONS):
            found[numbers(instruction)[_ID]] = parts(instruction, _NAME)[0].decode()
    return found


def _maker(buffer: bytes, names: dict[int, str]) -> str:
    """The name of the instruction whose result is in a buffer; "" if unknown."""
    (place,) = parts(buffer, _DEFINED_AT)
    return names.get(numbers(place).get(_INSTRUCTION_ID, 0), "")


def _values(
    temporaries: Sequence[bytes], made: dict[int, str], module: Module, entry: Computation
) -> list[_Value]:
    order = {name: number for number, name in enumerate(entry.instructions)}
    homes = {name: computation for computation in module for name in computation.instructions}
    callers = _callers(module, entry)
    found = []
    for allocation in temporaries:
        index = numbers(allocation).get(_INDEX, 0)
        for place in map(numbers, parts(allocation, _PLACES)):
            home = homes.get(made.get(place.get(1, 0), ""))
            if home is None:
                continue
            instruction = home.instructions[made[place.get(1, 0)]]
            if home is entry:
                first = order[instruction.name]
                last = _last_use(entry, instruction, order)
            elif home.name in callers:
                first = last = order[callers[home.name]]
            else:
                continue
            found.append(_Value(instruction, index, place.get(2, 0), place.get(3, 0), first, last))
    return found


def _callers(module: Module, entry: Computation) -> dict[str, str]:
    """For each computation, the instruction of the entry computation that calls it, directly or indirectly."""
    found: dict[str, str] = {}
    for instruction in entry.instructions.values():
        waiting = list(instruction.called.values())
        while waiting:
            name = waiting.pop()
            if name in found or name not in module.computations:
                continue
            found[name] = instruction.name
            for inner in module.computations[name].instructions.values():
                waiting += inner.called.values()
    return found


def _last_use(entry: Computation, instruction: Instruction, order: dict[str, int]) -> int:
    """The last instruction of the schedule that reads a value, through its views."""
    last, waiting, seen = order[instruction.name], [instruction], {instruction.name}
    while waiting:
        for user in entry.users.get(waiting.pop().name, ()):
            last = max(last, order[user.name])
            if user.opcode in _VIEWS and user.name not in seen:
                seen.add(user.name)
                waiting.append(user)
    return last


def _held(values: Sequence[_Value], moment: int) -> list[tuple[_Value, int]]:
    """The live values at one moment, each with the bytes that no later value shares with it."""
    alive = [value for value in values if value.first <= moment <= value.last]
    alive.sort(key=lambda value: (value.allocation, value.offset, -value.first))
    found, allocation, end = [], -1, 0
    for value in alive:
        if value.allocation != allocation:
            allocation, end = value.allocation, 0
        free = value.offset + value.size - max(value.offset, end)
        if free > 0:
            found.append((value, free))
            end = value.offset + value.size
    return found
