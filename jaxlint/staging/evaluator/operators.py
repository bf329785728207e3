"""Operators on abstract values, and the arrays that operations return."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from jaxlint.staging import events
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.datamodel import UNARY, DataModel
from jaxlint.staging.evaluator.environment import converted
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.values import (
    ANSWER,
    UNKNOWN,
    Array,
    AtIndexer,
    ClassValue,
    DictValue,
    External,
    Instance,
    ListValue,
    NumpyArray,
    Operation,
    Reading,
    Setting,
    Shim,
    Static,
    TupleValue,
    Unknown,
    Value,
    constant,
    find_array,
    is_answer,
    is_none,
    is_text,
    join_all,
    update_dict,
)
from jaxlint.staging.values.array_types import members_of_type
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.dtypes import OPERATORS, dtype_of, numpy_result
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.gradient_flow import flow_in
from jaxlint.staging.values.measured import computed, joined_shapes
from jaxlint.staging.values.plain import Measured
from jaxlint.staging.values.stage import Why
from jaxlint.staging.values.truth import truth

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_RAISING = (ast.Pow, ast.LShift, ast.RShift)
_LARGEST, _HIGHEST = 1e18, 64  # bound on folded numbers and exponents
_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_DISPLAYS = (ast.List, ast.Tuple, ast.ListComp, ast.Constant, ast.JoinedStr)


class Operators(Part):
    """Evaluates `+`, `-`, `not` and the like."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.data_model = machine.part(DataModel)
        self.conversions = machine.part(Conversions)

    def eval_unaryop(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self.machine.language.eval(node.operand, frame)
        if isinstance(node.op, ast.Not):
            self.conversions.test(value, node.operand, "not", frame)
            known = truth(value)
            if known is not None:
                return Static(not known)
            if isinstance(value, Setting):
                return converted(value, operator.not_)
            if is_answer(value):
                return ANSWER
            return value if isinstance(value, Shim) else Static(kind="bool")
        answer = self.data_model.special(value, UNARY[type(node.op)], [], node, frame)
        if answer is not None:
            return answer
        const = constant(value)
        if isinstance(const, (int, float, complex)) and isinstance(node.op, ast.USub):
            return Static(-const)
        if isinstance(value, Static) and value.measured is not None and isinstance(node.op, ast.USub):
            return Static(measured=Measured("-", (value,)))
        if find_array(value, depth=1) is not None:
            result = self.array_result(frame, [value], node, like=value)
            self.machine.tracking.made_by(result, OPERATORS[type(node.op)], Call([value], {}, node, frame))
            return result
        if self.machine.exact and isinstance(value, NumpyArray):
            made = Operation(OPERATORS[type(node.op)], (value,), {}, node)
            return NumpyArray(dtype=value.dtype, made=made)
        return (
            NumpyArray()
            if isinstance(value, NumpyArray)
            else UNKNOWN
            if isinstance(value, Unknown)
            else Static()
        )

    def eval_binop(self, node: ast.BinOp, frame: Frame) -> Value:
        left = self.machine.language.eval(node.left, frame)
        right = self.machine.language.eval(node.right, frame)
        return self.binary(left, right, node.op, node, frame)

    def binary(self, left: Value, right: Value, op: ast.operator, node: ast.AST, frame: Frame) -> Value:
        """The value of `left op right`."""
        if has_methods(left) or has_methods(right):
            answer = self.data_model.operate(left, op, right, node, frame)
            if answer is not None:
                return answer
        kind = type(op)
        if kind is ast.BitOr:
            united = _united(left, right, frame)
            if united is not None:
                return united
        elif kind is ast.Mod:
            if isinstance(left, Static) and is_text(left):
                return self.format_text(left, right, node, frame)
        elif kind is ast.Add:
            if _may_concatenate(left, right):
                return UNKNOWN  # `[first] + states`, where the states may be a list
        elif kind is ast.Mult and self.is_repeated_by_tracer(left, right, node, frame):
            return UNKNOWN
        if isinstance(left, (Array, AtIndexer)) or isinstance(right, (Array, AtIndexer)):
            like = left if type(left) is Array else right if isinstance(left, Static) else None
            like = None if kind is ast.MatMult else like
            result = self.array_result(frame, [left, right], node, like=like)
            self.machine.tracking.made_by(result, OPERATORS[kind], Call([left, right], {}, node, frame))
            return result
        if type(left) is DictValue or type(right) is DictValue:
            # No operator takes a dict and a number. (`|` of two dicts is above.)
            self.machine.tracking.made_by(
                Array(False, certain=False), OPERATORS[kind], Call([left, right], {}, node, frame)
            )
            return UNKNOWN
        if isinstance(left, Static) and isinstance(right, Static):
            if type(left) is Reading and type(right) is Reading and kind is ast.Sub:
                return self.machine.tracking.elapsed(right, left, node, frame)
            return _fold(left, right, op)
        sequence = None
        if kind is ast.Add:
            sequence = _concatenated(left, right, frame)
        elif kind is ast.Mult:
            sequence = _repeated(left, right)
            sequence = _repeated(right, left) if sequence is None else sequence
        if sequence is not None:
            return sequence
        measured = computed(_SYMBOLS.get(kind, ""), left, right)
        return _of_numpy(left, right, node, kind) if measured is None else Unknown(measured=measured)

    def format_text(self, text: Static, given: Value, node: ast.AST, frame: Frame) -> Value:
        """`text % given`."""
        for part in given.elements() if type(given) is TupleValue else [given]:
            numeric = isinstance(text.const, str) and _numeric_format(text.const)
            self.conversions.convert(part, node, "format" if numeric else "str", frame)
        return Static(kind="str")

    def is_repeated_by_tracer(self, left: Value, right: Value, node: ast.AST, frame: Frame) -> bool:
        """Whether `left * right` repeats a sequence by a traced count. Emits an event if the program writes it."""
        sequence, count = (right, left) if type(left) is Array else (left, right)
        if type(count) is not Array or not count.staged or count.tree:
            return False
        if not isinstance(sequence, (ListValue, TupleValue)) and not is_text(sequence):
            return False
        # A value that only arrives as a sequence may belong to a class with its own `*`.
        if type(node) is ast.BinOp and isinstance(node.left if count is right else node.right, _DISPLAYS):
            self.machine.emit("shape", events.ShapeEvent(node, frame, count, "*", "the repetition"))
        return True

    def array_result(
        self,
        frame: Frame,
        inputs: list[Value],
        node: ast.AST,
        *,
        role: str = "",
        like: Value | None = None,
        name: str = "",
    ) -> Array:
        """The result of an array operation on `inputs`: a tracer if an input is one or the stage is abstract."""
        first = None
        device = None
        for value in inputs:
            found = find_array(value)
            if found is not None and found.staged:
                if found.certain:
                    first = found
                    break
                first = first or found
            elif found is not None and (device is None or not device.certain):
                device = found
        origin = like.like or like.origin if isinstance(like, Array) else None
        jitted = next((a.jitted for a in (first, device) if a is not None and a.jitted), "")
        if first is not None and (first.certain or not frame.stage.abstract or not frame.stage.certain):
            result = Array(True, first.why, certain=first.certain, role=role, like=origin)
        elif frame.stage.abstract:
            # An array function returns a tracer here for any input; an operator only if an operand is an array.
            what = "an operation in"
            if name:
                what = f"{name} in" if " " in name else f"`{name}` in"
            why = Why(what, cause=frame.stage.why)
            certain = frame.stage.certain and (
                bool(name) or (first is None and device is not None and device.certain)
            )
            result = Array(True, why, certain=certain, role=role, like=origin)
        else:
            # The result of an operator on a probable array is no more certain than the operand.
            certain = bool(name) or device is None or device.certain
            result = Array(
                False,
                certain=certain,
                role=role,
                like=origin,
                jitted=jitted,
                why=device.why if device is not None else None,
            )
        if self.machine.differentiating:
            result.flow = flow_in(inputs)
        return result


def _united(left: Value, right: Value, frame: Frame) -> Value | None:
    """The result of `left | right` for types or mappings; None for anything else."""
    if _is_type(left) and _is_type(right):
        return TupleValue([*members_of_type(left), *members_of_type(right)])
    if type(left) is DictValue and type(right) is DictValue:
        both = DictValue(dict(left.items), left.element, frame.stage, left.optional)
        update_dict(both, right, conditional=False)
        return both
    if type(left) is DictValue:
        return DictValue({}, UNKNOWN, frame.stage)  # the other operand is a mapping too
    if type(right) is DictValue:
        return DictValue(dict(right.items), UNKNOWN, frame.stage)
    return None


def _concatenated(left: Value, right: Value, frame: Frame) -> Value | None:
    """The result of `left + right` for two tuples or two lists; None for anything else."""
    if type(left) is TupleValue and type(right) is TupleValue:
        if left.items is not None and right.items is not None:
            return TupleValue([*left.items, *right.items])
        joined = join_all([*left.elements(), *right.elements()])
        measured = joined_shapes([left, right])
        if not left.items or right.items is not None:
            return TupleValue(None, joined, measured=measured)
        return TupleValue(None, joined, head=tuple(left.items), tail=right.element, measured=measured)
    if type(left) is ListValue and type(right) is ListValue:
        if left.items is not None and right.items is not None:
            return ListValue([*left.items, *right.items], stage=frame.stage)
        head = left.head if left.items is None else (*left.items, *right.head)
        return ListValue(None, join_all([*left.elements(), *right.elements()]), stage=frame.stage, head=head)
    return None


def _repeated(sequence: Value, count: Value) -> Value | None:
    """The result of `sequence * count`; None if it is not a sequence."""
    if not isinstance(sequence, (ListValue, TupleValue)):
        return None
    number = constant(count)
    if isinstance(number, int) and sequence.items is not None and 0 <= number * len(sequence.items) <= 64:
        items = sequence.items * number
        return ListValue(items, join_all(items)) if type(sequence) is ListValue else TupleValue(items)
    element = join_all(sequence.elements())
    return ListValue(None, element) if type(sequence) is ListValue else TupleValue(None, element)


def _of_numpy(left: Value, right: Value, node: ast.AST, kind: type[ast.operator]) -> Value:
    """The result of an operator with a NumPy operand; unknown if there is none."""
    if type(left) is not NumpyArray and type(right) is not NumpyArray:
        return UNKNOWN
    if isinstance(right if type(left) is NumpyArray else left, Unknown):
        return UNKNOWN
    made = Operation(OPERATORS[kind], (left, right), {}, node)
    return NumpyArray(dtype=numpy_result(dtype_of(left), dtype_of(right)), made=made)


def _may_concatenate(left: Value, right: Value) -> bool:
    pairs = ((left, right), (right, left))
    return any(isinstance(a, (ListValue, TupleValue)) and isinstance(b, Array) and b.tree for a, b in pairs)


def _is_type(value: Value) -> bool:
    """Whether a value is a type, or several, in the form that `isinstance` accepts."""
    if isinstance(value, TupleValue):
        return bool(value.items) and all(map(_is_type, value.items or ()))
    return isinstance(value, (External, ClassValue)) or is_none(value)


def _numeric_format(text: str) -> bool:
    """Whether a %-format has a conversion that needs a number."""
    plain = text.replace("%%", "")
    return any(
        chunk.lstrip("0123456789.+-# ")[:1] in ("d", "f", "g", "e", "i", "x", "F", "G", "E")
        for chunk in plain.split("%")[1:]
    )


def has_methods(value: Value) -> bool:
    """Whether the class of a value may define operators: an object, or a named tuple of a known class."""
    return type(value) is Instance or (type(value) is TupleValue and value.cls is not None and value.exact)


def _fold(left: Static, right: Static, op: ast.operator) -> Value:
    """Arithmetic on constants, kept small."""
    one, two = left.const, right.const
    action = _ARITHMETIC.get(type(op))
    numbers = (int, float, complex)
    if (
        action is not None
        and isinstance(one, numbers)
        and isinstance(two, numbers)
        and abs(one) < _LARGEST
        and abs(two) < (_LARGEST if type(op) not in _RAISING else _HIGHEST)
    ):
        try:
            return Static(action(one, two))
        except (ArithmeticError, ValueError, TypeError):
            return Static()
    if is_text(left) and is_text(right) and isinstance(op, ast.Add):
        return Static(kind="str")
    kinds = {left.kind or type(one).__name__, right.kind or type(two).__name__}
    for widest, narrower in (("complex", {"complex", "float", "int"}), ("float", {"float", "int"})):
        if widest in kinds and kinds <= narrower:
            return Static(kind=widest)
    integral = kinds == {"int"} and not isinstance(op, ast.Div)
    measured = None
    if left.measured is not None or right.measured is not None:
        measured = computed(_SYMBOLS.get(type(op), ""), left, right)
    return Static(kind="int" if integral else "", measured=measured)
