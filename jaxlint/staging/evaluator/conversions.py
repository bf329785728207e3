"""Python operations that a tracer cannot answer: truth, numbers, text, hashes, sizes."""

from __future__ import annotations

import ast

from jaxlint.staging import events
from jaxlint.staging.evaluator.machine import Part
from jaxlint.staging.values import (
    Array,
    AtIndexer,
    BoundMethod,
    DictValue,
    Function,
    Instance,
    ListValue,
    TupleValue,
    Value,
    find_array,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.frame import Frame

# Conversions that fail under a gradient. `int`, `bool` and `.item` work there.
_NEED_NUMBERS = frozenset({"float", "complex", "tolist", "format"})


class Conversions(Part):
    """Emits events for values that are tested, converted to Python numbers or text, hashed, or used as sizes."""

    def convert(self, value: Value, node: ast.AST, how: str, frame: Frame) -> None:
        """A value is converted to a Python number or text, or hashed ("hash")."""
        if isinstance(value, AtIndexer):
            value = value.array
        if how == "hash" and not (isinstance(value, Array) and value.staged and not value.tree):
            return
        if isinstance(value, Array):
            needs_number = how in _NEED_NUMBERS or how.startswith("math.")
            carrying = self.machine.tracking.differentiated([value]) if needs_number else None
            if frame.catching and (needs_number or how in ("int", "index", "item")):
                _note_raised(value, frame)
            self.machine.emit(
                "convert", events.ConvertEvent(node, frame, carrying or value, how, carrying is not None)
            )
        elif how in ("print", "str", "format") and isinstance(value, (DictValue, TupleValue, ListValue)):
            found = find_array(value, False, 2)
            if found is not None:
                self.machine.emit("convert", events.ConvertEvent(node, frame, found, how))

    def read_on_host(self, how: str, values: list[Value], node: ast.AST, frame: Frame) -> None:
        """The function `how` writes or sends values from the host. Tracers have their own events."""
        for value in values:
            found = find_array(value, False, 2)
            if found is not None and not found.staged:
                self.machine.emit("convert", events.ConvertEvent(node, frame, found, how))
                return

    def read_index(self, index: Value, node: ast.Subscript, frame: Frame) -> None:
        """A container of the host is indexed, so an array in the index is read on the host. Tracers have their own events."""
        parts = index.elements() if type(index) is TupleValue else [index]
        apart = isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == len(parts)
        for position, part in enumerate(parts):
            if type(part) is Array and not part.staged and not part.tree:
                place = (
                    node.slice.elts[position] if apart and isinstance(node.slice, ast.Tuple) else node.slice
                )
                self.machine.emit("convert", events.ConvertEvent(place, frame, part, "index"))
                return

    def test(self, value: Value, node: ast.AST, how: str, frame: Frame) -> None:
        """Python needs the truth of a value."""
        if type(value) is Array:
            if value.role != "ref":  # an nnx variable is an object, and true
                if frame.catching and not value.tree:
                    _note_raised(value, frame)
                self.machine.emit("test", events.TestEvent(node, frame, value, how))
        elif type(value) is Instance:
            method = value.cls.lookup("__bool__")
            if type(method) is Function:
                self.machine.language.call_value(BoundMethod(method, value), Call([], {}, node, frame))

    def shape_argument(self, value: Value, name: str, what: str, node: ast.AST, frame: Frame) -> None:
        """A count or measure (a shape, a length, an axis) is `value`, or each of its parts."""
        parts = value.elements() if isinstance(value, (TupleValue, ListValue)) else [value]
        for part in parts:
            if isinstance(part, (TupleValue, ListValue)):
                self.shape_argument(part, name, what, node, frame)
            elif isinstance(part, Array) and part.staged:
                self.machine.emit("shape", events.ShapeEvent(node, frame, part, name, what))
                return


def _note_raised(value: Array, frame: Frame) -> None:
    """In a `try`: a tracer skips the rest of the body and runs the handler."""
    if value.staged and not value.certain:
        frame.perhaps_raised = True
    elif value.staged:
        found = (len(frame.guards) + len(frame.loops), len(frame.returns))
        if frame.raised is None or found < frame.raised:
            frame.raised = found
