"""The communication of a compiled program between devices, collective by collective, with the bytes that one device
sends.

Bytes by the ring algorithms that bound bandwidth: of n devices, an all-reduce of R bytes sends 2 R (n-1)/n, an
all-gather or all-to-all with R bytes of results R (n-1)/n, a reduce-scatter with R bytes of results R (n-1), a
permute R. Loops count by their iterations.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jaxlint_runtime.inspection.executed_instructions import executed
from jaxlint_runtime.inspection.hlo import Computation, Instruction, Module, Place

KINDS = (
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "collective-permute",
    "ragged-all-to-all",
    "collective-broadcast",
)
_IOTA = re.compile(r"replica_groups=\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
_MESH = re.compile(r"replica_groups=mesh\[([^\]]*)\][^{]*?\{([^}]*)\}")
# An axis, or part of an axis, from an offset in steps.
_AXIS = re.compile(r"'([^']*)'(?::\((\d+)\)(\d+))?")
_LISTED = re.compile(r"replica_groups=\{((?:\{[\d,]*\},?)*)\}")
_PAIRS = re.compile(r"source_target_pairs=\{((?:\{\d+,\d+\},?)*)\}")
_LOOKS = frozenset(("dynamic-slice", "slice"))
_THROUGH = frozenset(("bitcast", "copy", "reshape", "get-tuple-element", "convert"))


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective, the number of runs (`times`) in a call, and the bytes that one device sends in one run."""

    kind: str
    result: int  # bytes of its result on one device
    groups: tuple[tuple[int, ...], ...]  # devices that participate together; () means all
    sent: float
    times: int
    place: Place | None
    op_name: str

    @property
    def nbytes(self) -> float:
        """Bytes that one device sends in a call of the program."""
        return self.sent * self.times


def collectives(module: Module, devices: int) -> tuple[Collective, ...]:
    """The collectives of a program for that many devices. A loop with an unknown number of iterations counts once."""
    return tuple(_collectives(module, devices))


def _collectives(module: Module, devices: int) -> Iterator[Collective]:
    for one in executed(module):
        for computation, instruction in _within(module, one.computation, one.instruction):
            kind = instruction.opcode.removesuffix("-start")
            if kind in KINDS:
                yield from _collective(module, computation, instruction, kind, one.times, devices)


def _within(
    module: Module, computation: Computation, instruction: Instruction
) -> Iterator[tuple[Computation, Instruction]]:
    """An instruction, or the sum in a fusion that ends in its slice: that is XLA's form of a reduce-scatter for TPUs.

    Other collectives in fusions are steps of an asynchronous collective, which is a separate instruction.
    """
    body = module.computations.get(instruction.called.get("calls", ""))
    if instruction.opcode != "fusion" or body is None:
        yield computation, instruction
    elif body.root is not None and body.root.opcode in _LOOKS and body.root.operands:
        summed = body.instructions.get(body.root.operands[0])
        if summed is not None and summed.opcode == "all-reduce":
            yield body, summed


def _collective(
    module: Module,
    computation: Computation,
    instruction: Instruction,
    kind: str,
    times: int,
    devices: int,
) -> Iterator[Collective]:
    groups = groups_of(instruction.attributes)
    size = max((len(group) for group in groups), default=devices)
    result = _result(instruction, kind)
    place, stack = module.place(instruction), instruction.op_name
    scattered = _scattered(module, computation, instruction, size) if kind == "all-reduce" else 0
    for one, nbytes in ((kind, result - scattered), ("reduce-scatter", scattered // size)):
        if nbytes:
            yield Collective(one, nbytes, groups, sent_bytes(one, nbytes, size), times, place, stack)


def _scattered(module: Module, computation: Computation, instruction: Instruction, size: int) -> int:
    """Bytes of sums of which each device takes its slice: XLA for TPUs and GPUs turns them into a reduce-scatter; on
    CPUs they stay."""
    users = computation.users.get(instruction.name, [])
    if len(instruction.shapes) == 1:
        whole = instruction.nbytes
        return whole if size > 1 and _share(module, computation, instruction, whole) >= size else 0
    found = 0
    for user in users:
        if user.opcode == "get-tuple-element" and _share(module, computation, user, user.nbytes) >= size > 1:
            found += user.nbytes
    return found


def sent_bytes(kind: str, result: float, devices: int) -> float:
    """Bytes that one of `devices` sends in a collective with `result` bytes of results."""
    if devices < 2:
        return 0.0
    if kind == "all-reduce":
        return 2 * result * (devices - 1) / devices
    if kind == "reduce-scatter":
        return result * (devices - 1)
    if kind in ("collective-permute", "collective-broadcast"):
        return float(result)
    return result * (devices - 1) / devices


def _result(instruction: Instruction, kind: str) -> int:
    sizes = [shape.nbytes for shape in instruction.shapes]
    if not instruction.opcode.endswith("-start"):
        return sum(sizes)
    if kind == "all-reduce":
        return sum(sizes)
    if kind == "collective-permute":
        return sizes[1] if len(sizes) > 1 else sum(sizes)
    return sum(sizes[len(sizes) // 2 :])  # (operands, results)


def _share(module: Module, computation: Computation, source: Instruction, whole: int) -> int:
    """The number of parts that a result is cut into if each of its readers only reads a slice; otherwise 1."""
    shares: list[int] = []
    waiting = [(source, user) for user in computation.users.get(source.name, ())]
    if source.root or not waiting:
        return 1
    while waiting:
        source, user = waiting.pop()
        if user.opcode in _THROUGH and not user.root:
            waiting += [(user, one) for one in computation.users.get(user.name, ())]
        elif user.opcode in _LOOKS and user.operands[0] == source.name:
            shares.append(whole // max(1, user.nbytes))
        elif user.opcode == "fusion":
            body = module.computations.get(user.called.get("calls", ""))
            if body is None:
                return 1
            inner = _looks(body, body.parameters[user.operands.index(source.name)])
            if not inner:
                return 1
            shares += [whole // max(1, one.nbytes) for one in inner]
        else:
            return 1
    return min(shares, default=1)


def _looks(body: Computation, parameter: Instruction) -> list[Instruction]:
    """The slices of a fusion's parameter; empty if it is also read otherwise."""
    found: list[Instruction] = []
    waiting = [(parameter, user) for user in body.users.get(parameter.name, ())]
    while waiting:
        source, user = waiting.pop()
        if user.opcode in _LOOKS and user.operands[0] == source.name:
            found.append(user)
        elif user.opcode in _THROUGH and not user.root:
            waiting += [(user, one) for one in body.users.get(user.name, ())]
        else:
            return []
    return found


def groups_of(attributes: str) -> tuple[tuple[int, ...], ...]:
    """The groups of devices of a collective, in any of HLO's spellings."""
    if found := _MESH.search(attributes):
        return _on_mesh(found[1], found[2])
    if found := _IOTA.search(attributes):
        shape = [int(n) for n in found[1].split(",")]
        dims = [int(n) for n in found[2].split(",")]
        order = [int(n) for n in found[3].split(",")] if found[3] else list(range(len(dims)))
        flat = _transposed(dims, order)
        width = shape[-1]
        return tuple(tuple(flat[n : n + width]) for n in range(0, len(flat), width))
    if found := _LISTED.search(attributes):
        return _lists(found[1])
    if found := _PAIRS.search(attributes):
        return _lists(found[1])
    return ()


def _on_mesh(mesh: str, axes: str) -> tuple[tuple[int, ...], ...]:
    """Groups along axes of a mesh whose devices are numbered in order: `'a'=4,'b'=2` and `'a'` or `'a':(1)2`."""
    sizes = {name: int(size) for name, size in re.findall(r"'([^']*)'=(\d+)", mesh)}
    names = list(sizes)
    dims: list[int] = []
    chosen: list[int] = []
    parts = {name: (before, size) for name, before, size in _AXIS.findall(axes)}
    for name in names:
        pieces = [sizes[name]]
        which = 0
        if parts.get(name, ("", ""))[1]:
            before, size = int(parts[name][0]), int(parts[name][1])
            pieces, which = [before, size, sizes[name] // (before * size)], 1
        if name in parts:
            chosen.append(len(dims) + which)
        dims += pieces
    others = [n for n in range(len(dims)) if n not in chosen]
    flat = _transposed(dims, [*others, *chosen])
    width = math.prod(dims[n] for n in chosen)
    return tuple(tuple(flat[n : n + width]) for n in range(0, len(flat), width))


def _lists(text: str) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(int(n) for n in inner.split(",") if n) for inner in re.findall(r"\{([\d,]*)\}", text) if inner
    )


def _transposed(dims: Sequence[int], order: Sequence[int]) -> list[int]:
    """The flattened `range` of all devices in shape `dims`, with its axes transposed."""
    strides = [math.prod(dims[n + 1 :]) for n in range(len(dims))]
    found = [0]
    for axis in order:
        found = [base + k * strides[axis] for base in found for k in range(dims[axis])]
    return found


def axes_of(groups: Sequence[Sequence[int]], names: Sequence[str], sizes: Sequence[int]) -> tuple[str, ...]:
    """The axes of a mesh (devices numbered in order) along which the members of the groups differ."""
    if not groups:
        return tuple(name for name, size in zip(names, sizes, strict=True) if size > 1)
    strides = [math.prod(sizes[n + 1 :]) for n in range(len(sizes))]
    found = set()
    for group in groups:
        for name, size, stride in zip(names, sizes, strides, strict=True):
            if len({device // stride % size for device in group}) > 1:
                found.add(name)
    return tuple(name for name in names if name in found)
