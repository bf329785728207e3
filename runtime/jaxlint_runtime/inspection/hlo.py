"""Parses optimised HLO text: instructions with shapes, operands, called computations and the user's line.

Every backend provides the text, with or without its device. Lines come from the frame tables at its head, or from
`source_file` and `source_line` in versions that write those.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Place = tuple[str, int, str]  # file, line, function

_HERE = Path(__file__).resolve().parent.parent  # versions are replayed by code in here
_ITEM_BITS = {"pred": 8, "token": 0, "opaque": 0}
_SHAPE = re.compile(r"\b(pred|token|opaque|[a-z]+\d+[a-z0-9]*)\[([\d,<=]*)\](?:\{([\d,]*)([^}]*)\})?")
_SPACE = re.compile(r"S\((\d+)\)")
_NAME = re.compile(r"%([\w.\-]+)")
_HEAD = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\{$")
_LEFT = re.compile(r"^\s*(ROOT )?%?([\w.\-]+) = ")
_OP_NAME = re.compile(r'op_name="((?:[^"\\]|\\.)*)"')
_FRAME = re.compile(r"stack_frame_id=(\d+)")
_SOURCE = re.compile(r'source_file="([^"]*)" source_line=(\d+)')
_CALLED = re.compile(r"\b(calls|body|condition|to_apply|true_computation|false_computation)=%?([\w.\-]+)")
_BRANCHES = re.compile(r"\bbranch_computations=\{([^}]*)\}")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')
_TARGET = re.compile(r'custom_call_target="([^"]*)"')
_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
_ROW = re.compile(r"^(\d+) (.*)$")
_FIELD = re.compile(r"(\w+)=(\d+)")


@dataclass(frozen=True, slots=True)
class Shape:
    """One array: element type, sizes, and the order of its dimensions in memory, minor first ("" if not given).

    `space` is its memory: 0 is the device's main memory, others are on the chip or on the host.
    """

    dtype: str
    dims: tuple[int, ...]
    layout: str = ""
    space: int = 0

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.dims)

    @property
    def nbytes(self) -> int:
        """Bytes, without padding."""
        return math.ceil(self.size * bits(self.dtype) / 8)

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.dims))}]"


@dataclass(slots=True)
class Instruction:
    """One instruction; `shapes` has one entry for an array and several for a tuple."""

    name: str
    opcode: str
    shapes: tuple[Shape, ...]
    operands: tuple[str, ...]
    attributes: str
    root: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes of its result."""
        return sum(shape.nbytes for shape in self.shapes)

    @property
    def op_name(self) -> str:
        """The name stack of its original operation; "" if it has none."""
        found = _OP_NAME.search(self.attributes)
        return found[1] if found else ""

    @property
    def called(self) -> dict[str, str]:
        """The computations that it calls, by their roles; branches are numbered."""
        roles = dict(_CALLED.findall(self.attributes))
        branches = _BRANCHES.search(self.attributes)
        if branches:
            roles.update((f"branch {n}", name) for n, name in enumerate(_NAME.findall(branches[1])))
        return roles

    @property
    def trips(self) -> int | None:
        """The iterations of a loop, if the compiler knows them."""
        found = _TRIPS.search(self.attributes)
        return int(found[1]) if found else None

    @property
    def target(self) -> str:
        """The target of a custom call."""
        found = _TARGET.search(self.attributes)
        return found[1] if found else ""


@dataclass
class Computation:
    """Instructions in program order."""

    name: str
    instructions: dict[str, Instruction] = field(default_factory=dict)

    @functools.cached_property
    def users(self) -> dict[str, list[Instruction]]:
        """For each instruction, the instructions that read its result."""
        found: dict[str, list[Instruction]] = {}
        for instruction in self.instructions.values():
            for operand in dict.fromkeys(instruction.operands):
                found.setdefault(operand, []).append(instruction)
        return found

    @property
    def root(self) -> Instruction | None:
        """The instruction whose result the computation returns."""
        return next((one for one in self.instructions.values() if one.root), None)

    @property
    def parameters(self) -> list[Instruction]:
        """The parameters by their number."""
        found = [one for one in self.instructions.values() if one.opcode == "parameter"]
        return sorted(found, key=lambda one: int(one.operands[0]))


@dataclass(slots=True)
class Module:
    """A compiled program."""

    entry: str = ""
    computations: dict[str, Computation] = field(default_factory=dict)
    frames: dict[int, list[Place]] = field(default_factory=dict)  # innermost first

    def place(self, instruction: Instruction) -> Place | None:
        """The user's line: the innermost that is not in an installed package, otherwise the innermost."""
        found = _FRAME.search(instruction.attributes)
        if found:
            return own(self.frames.get(int(found[1]), []))
        source = _SOURCE.search(instruction.attributes)
        return (source[1], int(source[2]), "") if source else None

    def turns(self, computation: Computation, loop: Instruction) -> int | None:
        """The iterations of a loop in `computation`: as the compiler reports, otherwise from a counter that starts at
        0."""
        if loop.trips is not None:
            return loop.trips
        condition = self.computations.get(loop.called.get("condition", ""))
        test = condition.root if condition is not None else None
        if (
            condition is None
            or test is None
            or test.opcode != "compare"
            or "direction=LT" not in test.attributes
        ):
            return None
        counter, limit = (condition.instructions.get(name) for name in (*test.operands, "", "")[:2])
        start = computation.instructions.get(loop.operands[0]) if loop.operands else None
        if (
            counter is None
            or counter.opcode != "get-tuple-element"
            or start is None
            or start.opcode != "tuple"
        ):
            return None
        index = re.search(r"index=(\d+)", counter.attributes)
        first = computation.instructions.get(start.operands[int(index[1])]) if index else None
        while first is not None and first.opcode in ("copy", "bitcast"):
            first = computation.instructions.get(first.operands[0])
        whole = first is not None and limit is not None and first.opcode == limit.opcode == "constant"
        if not whole or first is None or limit is None or first.operands != ("0",):
            return None
        return int(limit.operands[0]) if limit.operands[0].isdigit() else None

    def __iter__(self) -> Iterator[Computation]:
        return iter(self.computations.values())


def own(frames: list[Place]) -> Place | None:
    """The innermost frame in user code, otherwise the innermost of all; None if there is none."""
    for frame in frames:
        path = Path(frame[0])
        installed = {"site-packages", "dist-packages"} & set(path.parts) or path.is_relative_to(_HERE)
        if not frame[0].startswith("<") and not installed:
            return frame
    return frames[0] if frames else None


@functools.cache
def bits(dtype: str) -> int:
    """Bits of an element: of `bf16`, `f8e4m3fn`, `s4`, `c64`, `pred`; 0 if it is not a number."""
    if dtype in _ITEM_BITS:
        return _ITEM_BITS[dtype]
    digits = re.match(r"[a-z]+(\d+)", dtype)
    return int(digits[1]) if digits else 0


def shapes_of(text: str) -> tuple[Shape, ...]:
    """The arrays in a shape in HLO's notation."""
    return tuple(
        Shape(dtype, tuple(int(n.lstrip("<=")) for n in dims.split(",") if n), layout, _space(tiling))
        for dtype, dims, layout, tiling in _SHAPE.findall(text)
    )


def _space(tiling: str) -> int:
    found = _SPACE.search(tiling)
    return int(found[1]) if found else 0


def parse(text: str) -> Module:
    """Parses a module. Unknown lines are skipped, never an error: texts differ by version."""
    module = Module()
    tables: dict[str, dict[int, str]] = {name: {} for name in _TABLES}
    table: dict[int, str] | None = None
    current: Computation | None = None
    for line in text.splitlines():
        if line in tables:
            table, current = tables[line], None
        elif line.endswith("{") and " = " not in line.split("(", 1)[0] and (head := _HEAD.match(line)):
            current, table = Computation(head[2]), None
            module.computations[head[2]] = current
            if head[1]:
                module.entry = head[2]
        elif line == "}":
            current = None
        elif current is not None:
            instruction = _instruction(line)
            if instruction is not None:
                current.instructions[instruction.name] = instruction
        elif table is not None and (row := _ROW.match(line)):
            table[int(row[1])] = row[2]
    module.frames = _frames(tables)
    return module


def _instruction(line: str) -> Instruction | None:
    left = _LEFT.match(line)
    if left is None:
        return None
    rest = line[left.end() :]
    end = _closing(rest, 0) + 1 if rest.startswith("(") else rest.find(" ")
    if end <= 0:
        return None
    shape, rest = rest[:end], rest[end:].lstrip()
    opening = rest.find("(")
    closing = _closing(rest, opening)
    if opening <= 0 or closing < 0:
        return None
    inside = rest[opening + 1 : closing]
    opcode = rest[:opening]
    operands = (inside.strip(),) if opcode in ("parameter", "constant") else tuple(_NAME.findall(inside))
    return Instruction(left[2], opcode, shapes_of(shape), operands, rest[closing + 1 :], bool(left[1]))


def _closing(text: str, opening: int) -> int:
    """The position of the parenthesis that closes the one at `opening`; -1 if there is none."""
    depth = 0
    for found in re.finditer(r"[()]", text[opening:] if opening >= 0 else ""):
        depth += 1 if found[0] == "(" else -1
        if depth == 0:
            return opening + found.start()
    return -1


def _frames(tables: dict[str, dict[int, str]]) -> dict[int, list[Place]]:
    """Each frame with its callers, innermost first. A parent's number is one more than its own."""
    names = {number: text.strip('"') for number, text in tables["FileNames"].items()}
    functions = {number: text.strip('"') for number, text in tables["FunctionNames"].items()}
    places: dict[int, Place] = {}
    for number, text in tables["FileLocations"].items():
        fields = dict(_FIELD.findall(text))
        file = names.get(int(fields.get("file_name_id", 0)), "")
        function = functions.get(int(fields.get("function_name_id", 0)), "")
        places[number] = (file, int(fields.get("line", 0)), function)
    links: dict[int, tuple[int, int]] = {}
    for number, text in tables["StackFrames"].items():
        fields = dict(_FIELD.findall(text))
        links[number] = (int(fields.get("file_location_id", 0)), int(fields.get("parent_frame_id", 0)))
    return {number: _stack(number, links, places) for number in links}


def _stack(number: int, links: dict[int, tuple[int, int]], places: dict[int, Place]) -> list[Place]:
    found: list[Place] = []
    seen: set[int] = set()
    while number in links and number not in seen:
        seen.add(number)
        location, parent = links[number]
        if location in places:
            found.append(places[location])
        number = parent - 1
    return found
