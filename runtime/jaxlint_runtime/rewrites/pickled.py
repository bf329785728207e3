"""Whether two pickles hold the same values. They are read as data: nothing in them is imported or called.

The bytes of equal values may differ, since a pickle refers back to identical objects: two equal strings may be one
object or two. So its operations are executed on nodes, and these are compared. Numbers may differ by rounding; the
identity of lists, dicts and objects must agree.
"""

from __future__ import annotations

import math
import pickletools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_MARK = object()
_MOST = 2_000_000  # operations that are read
_FLOATS = {"f2": "<f2", "f4": "<f4", "f8": "<f8", "c8": "<c8", "c16": "<c16"}


@dataclass(eq=False, slots=True)
class Node:
    """Anything but a number, string or bytes: a container, an imported object ("global"), or the result of a call
    ("call")."""

    kind: str
    parts: list[Any] = field(default_factory=list)


def unpickled(data: bytes) -> list[Any] | None:
    """The values of the pickles in `data`; None if it is something else, or contains unknown operations."""
    found: list[Any] = []
    place = 0
    try:
        while place < len(data):
            if data[place : place + 1] != b"\x80":
                return None
            value, length = _one(data[place:])
            found.append(value)
            place += length
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, UnicodeError):
        return None
    return found or None


def same_values(
    left: Any, right: Any, relative: float, rounded: Callable[[bytes, bytes, float], bool]
) -> bool:
    """Whether two results of `unpickled` are equal. `rounded`: whether bytes of unknown format differ only by
    rounding."""
    try:
        return _Comparison(relative, rounded).same(left, right, None)
    except RecursionError:
        return False


# ---- reading ----


def _one(data: bytes) -> tuple[Any, int]:
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    for count, (opcode, argument, place) in enumerate(pickletools.genops(data)):
        if count > _MOST:
            raise ValueError("too long")
        name = opcode.name
        if name == "STOP":
            (value,) = stack
            return value, (place or 0) + 1
        if name in ("PROTO", "FRAME"):
            continue
        if name in ("PUT", "BINPUT", "LONG_BINPUT"):
            memo[int(argument or 0)] = stack[-1]
        elif name == "MEMOIZE":
            memo[len(memo)] = stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(memo[int(argument or 0)])
        else:
            _step(name, argument, stack)
    raise ValueError("it has no end")


def _step(name: str, argument: Any, stack: list[Any]) -> None:
    """One operation, except memo operations."""
    if name in _CONSTANTS:
        stack.append(_CONSTANTS[name])
    elif name in _LITERALS:
        stack.append(bytearray(argument) if name == "BYTEARRAY8" else argument)
    elif name == "MARK":
        stack.append(_MARK)
    elif name in _EMPTY:
        stack.append(Node(_EMPTY[name]))
    elif name in _MARKED:
        parts = _to_mark(stack)
        stack.append(Node(_MARKED[name], parts))
    elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
        number = int(name[-1])
        parts = stack[-number:]
        del stack[-number:]
        stack.append(Node("tuple", parts))
    elif name in ("APPENDS", "SETITEMS", "ADDITEMS"):
        parts = _to_mark(stack)
        stack[-1].parts.extend(parts)
    elif name in ("APPEND", "SETITEM"):
        number = 1 if name == "APPEND" else 2
        parts = stack[-number:]
        del stack[-number:]
        stack[-1].parts.extend(parts)
    elif name == "GLOBAL":
        stack.append(Node("global", argument.split(" ", 1)))
    elif name == "STACK_GLOBAL":
        member, module = stack.pop(), stack.pop()
        stack.append(Node("global", [module, member]))
    elif name in ("REDUCE", "NEWOBJ"):
        arguments, callee = stack.pop(), stack.pop()
        stack.append(Node("call", [callee, arguments]))
    elif name == "NEWOBJ_EX":
        keywords, arguments, callee = stack.pop(), stack.pop(), stack.pop()
        stack.append(Node("call", [callee, arguments, keywords]))
    elif name == "BUILD":
        state = stack.pop()
        stack[-1].parts.append(Node("state", [state]))
    elif name == "POP":
        stack.pop()
    elif name == "POP_MARK":
        _to_mark(stack)
    elif name == "DUP":
        stack.append(stack[-1])
    else:  # extensions, persistent identifiers, out-of-band buffers
        raise ValueError(name)


def _to_mark(stack: list[Any]) -> list[Any]:
    parts: list[Any] = []
    while (one := stack.pop()) is not _MARK:
        parts.append(one)
    return parts[::-1]


_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_LITERALS = frozenset(
    [
        "INT",
        "BININT",
        "BININT1",
        "BININT2",
        "LONG",
        "LONG1",
        "LONG4",
        "FLOAT",
        "BINFLOAT",
        "SHORT_BINBYTES",
        "BINBYTES",
        "BINBYTES8",
        "BYTEARRAY8",
        "UNICODE",
        "SHORT_BINUNICODE",
        "BINUNICODE",
        "BINUNICODE8",
    ]
)
_EMPTY = {"EMPTY_LIST": "list", "EMPTY_TUPLE": "tuple", "EMPTY_DICT": "dict", "EMPTY_SET": "set"}
_MARKED = {"LIST": "list", "TUPLE": "tuple", "DICT": "dict", "FROZENSET": "frozenset"}
_FIXED = frozenset({"tuple", "frozenset", "global", "state"})
_VALUES = frozenset({"datetime", "decimal", "fractions", "pathlib", "uuid"})  # modules with immutable objects


# ---- comparing ----


class _Comparison:
    def __init__(self, relative: float, rounded: Callable[[bytes, bytes, float], bool]) -> None:
        self._relative, self._rounded = relative, rounded
        self._ours: dict[int, Node] = {}
        self._theirs: dict[int, Node] = {}
        self._known: set[tuple[int, int]] = set()

    def same(self, left: Any, right: Any, numbers: str | None) -> bool:
        """Compares two values. `numbers`: the NumPy dtype of the bytes below, if there is one."""
        if type(left) is not type(right):
            return False
        if isinstance(left, float):
            both_nan = math.isnan(left) and math.isnan(right)
            return both_nan or math.isclose(left, right, rel_tol=self._relative)
        if isinstance(left, bytes | bytearray):
            return left == right or self._close(bytes(left), bytes(right), numbers)
        if isinstance(left, list):
            return len(left) == len(right) and all(map(self.same, left, right, [numbers] * len(left)))
        if not isinstance(left, Node):
            return bool(left == right)
        if left.kind != right.kind or len(left.parts) != len(right.parts):
            return False
        if _is_mutable(left) or _is_mutable(right):
            if id(left) in self._ours or id(right) in self._theirs:
                return self._ours.get(id(left)) is right and self._theirs.get(id(right)) is left
            self._ours[id(left)], self._theirs[id(right)] = right, left
        elif (id(left), id(right)) in self._known:
            return True
        else:
            self._known.add((id(left), id(right)))
        dtype = _dtype_in(left) or numbers
        if left.kind in ("set", "frozenset"):
            return self._same_members(left.parts, right.parts)
        return all(self.same(a, b, dtype) for a, b in zip(left.parts, right.parts, strict=True))

    def _same_members(self, left: list[Any], right: list[Any]) -> bool:
        """Sets are unordered: those of strings differ in order between runs."""
        plain = [one for one in (*left, *right) if isinstance(one, str | int | bytes)]
        if len(plain) == len(left) + len(right):
            return {(type(one), one) for one in left} == {(type(one), one) for one in right}
        return all(self.same(a, b, None) for a, b in zip(left, right, strict=True))

    def _close(self, left: bytes, right: bytes, numbers: str | None) -> bool:
        import numpy as np  # not at the top: the command line runs without it

        if len(left) != len(right):
            return False
        if numbers is None or len(left) % np.dtype(numbers).itemsize:
            return self._rounded(left, right, self._relative)
        from jaxlint_runtime.rewrites.file_contents import apart

        return apart(np.frombuffer(left, numbers), np.frombuffer(right, numbers)) <= self._relative


def _is_mutable(node: Node) -> bool:
    """Whether the identity of two objects matters: a change of one shows in the other."""
    callee = node.parts[0] if node.kind == "call" and isinstance(node.parts[0], Node) else None
    if callee is not None and callee.kind == "global":
        return callee.parts[0] not in _VALUES and callee.parts[1] not in ("dtype", "scalar")
    return node.kind not in _FIXED


def _dtype_in(node: Node) -> str | None:
    """The dtype beside the bytes of a NumPy array or number."""
    for part in node.parts if node.kind == "tuple" else ():
        if not isinstance(part, Node) or part.kind != "call" or not isinstance(part.parts[0], Node):
            continue
        callee, (name, *_) = part.parts[0], (part.parts[1].parts or [None])
        swapped = any(">" in state.parts[0].parts for state in part.parts[2:] if state.kind == "state")
        if callee.parts == ["numpy", "dtype"] and not swapped:
            return _FLOATS.get(str(name))
    return None
