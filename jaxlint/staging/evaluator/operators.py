"""Operators and comparisons on abstract values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from jaxlint.jaxapi.dtypes import promote
from jaxlint.staging import events
from jaxlint.staging.evaluator.datamodel import UNARY, DataModel
from jaxlint.staging.evaluator.environment import by_environment, converted, usually
from jaxlint.staging.evaluator.externals import Externals
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.narrowing import members_of_type
from jaxlint.staging.values import (
    ANSWER,
    MISSING,
    UNKNOWN,
    Array,
    AtIndexer,
    BoundMethod,
    Choice,
    ClassValue,
    DictValue,
    External,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Reading,
    Sentinel,
    Setting,
    Shim,
    Static,
    TupleValue,
    Unknown,
    Value,
    as_answer,
    constant,
    find_array,
    is_answer,
    is_none,
    is_text,
    join_all,
    update_dict,
)
from jaxlint.staging.values.dtypes import OPERATORS, dtype_of
from jaxlint.staging.values.flow import flow_in
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import Why
from jaxlint.staging.values.truth import truth
from jaxlint.syntax.facts import dotted, is_release_test

_ORDERINGS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_DISPLAYS = (ast.List, ast.Tuple, ast.ListComp, ast.Constant, ast.JoinedStr)


class Operators(Part):
    """What `+`, `<`, `is`, `in` and the like give."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.data_model = machine.part(DataModel)
        self.externals = machine.part(Externals)

    def eval_unaryop(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self.machine.language.eval(node.operand, frame)
        if isinstance(node.op, ast.Not):
            self.externals.test(value, node.operand, "not", frame)
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
        if find_array(value, depth=1) is not None:
            result = self.array_result(frame, [value], node, like=value)
            self.machine.tracking.made_by(result, OPERATORS[type(node.op)], [value], {}, node, frame)
            return result
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
        if _has_methods(left) or _has_methods(right):
            answer = self.data_model.operate(left, op, right, node, frame)
            if answer is not None:
                return answer
        if isinstance(left, Static) and type(op) is ast.Mod and is_text(left):
            for part in right.elements() if type(right) is TupleValue else [right]:
                numeric = isinstance(left.const, str) and _numeric_format(left.const)
                self.externals.convert(part, node, "format" if numeric else "str", frame)
            return Static(kind="str")
        if type(op) is ast.BitOr and _is_type(left) and _is_type(right):
            return TupleValue([*members_of_type(left), *members_of_type(right)])
        if type(op) is ast.Add and _may_concatenate(left, right):
            return UNKNOWN  # `[first] + states`, where the states may be a list
        if type(op) is ast.Mult:
            sequence, count = (right, left) if type(left) is Array else (left, right)
            repeats = isinstance(sequence, (ListValue, TupleValue)) or is_text(sequence)
            if repeats and type(count) is Array and count.staged and not count.tree:
                # What only arrives as a sequence may be of a class with a product of its own.
                if type(node) is ast.BinOp and isinstance(
                    node.left if count is right else node.right, _DISPLAYS
                ):
                    self.machine.emit("shape", events.ShapeEvent(node, frame, count, "*", "the repetition"))
                return UNKNOWN
        if type(op) is ast.BitOr and ((type(left) is DictValue) != (type(right) is DictValue)):
            known = right if type(right) is DictValue else left
            assert type(known) is DictValue
            merged = dict(known.items) if known is right else {}
            return DictValue(merged, UNKNOWN, frame.stage)  # the other one is a mapping, too
        if isinstance(left, (Array, AtIndexer)) or isinstance(right, (Array, AtIndexer)):
            like = left if type(left) is Array else right if isinstance(left, Static) else None
            like = None if type(op) is ast.MatMult else like
            result = self.array_result(frame, [left, right], node, like=like)
            self.machine.tracking.made_by(result, OPERATORS[type(op)], [left, right], {}, node, frame)
            return result
        if isinstance(left, Static) and isinstance(right, Static):
            if type(left) is Reading and type(right) is Reading and type(op) is ast.Sub:
                return self.machine.tracking.elapsed(right, left, node, frame)
            return _fold(left, right, op)
        if type(op) is ast.Add:
            if type(left) is TupleValue and type(right) is TupleValue:
                if left.items is not None and right.items is not None:
                    return TupleValue([*left.items, *right.items])
                joined = join_all([*left.elements(), *right.elements()])
                if not left.items or right.items is not None:
                    return TupleValue(None, joined)
                return TupleValue(None, joined, head=tuple(left.items), tail=right.element)
            if type(left) is ListValue and type(right) is ListValue:
                if left.items is not None and right.items is not None:
                    return ListValue([*left.items, *right.items], stage=frame.stage)
                return ListValue(None, join_all([*left.elements(), *right.elements()]), stage=frame.stage)
        if type(op) is ast.Mult:
            for sequence, count in ((left, right), (right, left)):
                if isinstance(sequence, (ListValue, TupleValue)):
                    number = constant(count)
                    if (
                        isinstance(number, int)
                        and sequence.items is not None
                        and 0 <= number * len(sequence.items) <= 64
                    ):
                        items = sequence.items * number
                        return (
                            ListValue(items, join_all(items))
                            if type(sequence) is ListValue
                            else TupleValue(items)
                        )
                    element = join_all(sequence.elements())
                    if type(sequence) is ListValue:
                        return ListValue(None, element)
                    return TupleValue(None, element)
        if type(op) is ast.BitOr and type(left) is DictValue and type(right) is DictValue:
            both = DictValue(dict(left.items), left.element, frame.stage, left.optional)
            update_dict(both, right, conditional=False)
            return both
        if type(left) is NumpyArray or type(right) is NumpyArray:
            other = right if type(left) is NumpyArray else left
            if isinstance(other, Unknown):
                return UNKNOWN
            one, two = dtype_of(left), dtype_of(right)
            weak = one.endswith("*") or two.endswith("*") or one == two
            return NumpyArray(dtype=promote(one, two, wide=True) if weak else "")
        return UNKNOWN

    def eval_compare(self, node: ast.Compare, frame: Frame) -> Value:
        left = self.machine.language.eval(node.left, frame)
        result: Value = UNKNOWN
        answer = is_answer(left)
        for position, (op, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.machine.language.eval(comparator, frame)
            answer = answer or is_answer(right)
            known = self.asks_for_tracer_type(node, right, frame)
            if known is not None:
                return Static(known)
            result = self.compare_pair(left, right, op, node, frame)
            if position < len(node.ops) - 1:
                self.externals.test(result, node, "chained comparison", frame)
            left = right
        if type(result) in (Static, Unknown) and truth(result) is None and is_release_test(node):
            return Shim(kind="bool")
        return as_answer(result) if answer else result

    def asks_for_tracer_type(self, node: ast.Compare, kind: Value, frame: Frame) -> bool | None:
        """What `type(x) is DynamicJaxprTracer` and its like give; None for any other test."""
        if not (isinstance(kind, External) and kind.name.endswith("Tracer")):
            return None
        asked, op = node.left, node.ops[0]
        if len(node.ops) > 1 or not isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            return None
        if not (isinstance(asked, ast.Call) and dotted(asked.func) == "type" and len(asked.args) == 1):
            return None
        value = self.machine.language.eval(asked.args[0], frame)
        if not isinstance(value, Array) or not value.staged or not value.certain:
            return None
        return isinstance(op, (ast.Is, ast.Eq))

    def compare_pair(self, left: Value, right: Value, op: ast.cmpop, node: ast.AST, frame: Frame) -> Value:
        """The value of one comparison."""
        if type(left) is Setting or type(right) is Setting:
            return by_environment(self.compare_pair(usually(left), usually(right), op, node, frame))
        if isinstance(op, (ast.Is, ast.IsNot)):
            same = _identical(left, right)
            if same is None:
                return Static(kind="bool")
            return Static(same if isinstance(op, ast.Is) else not same)
        if isinstance(op, (ast.In, ast.NotIn)):
            return self.membership(left, right, op, node, frame)
        if _has_methods(left) or _has_methods(right):
            answer = self.data_model.compare_instances(left, op, right, node, frame)
            if answer is not None:
                return answer
        if any(isinstance(side, Static) and side.kind == "treedef" for side in (left, right)):
            return Static(kind="bool")  # Python compares structures
        if _is_dtype_of_array(left) and _is_dtype_of_objects(right):
            return Static(isinstance(op, ast.NotEq))
        if is_text(left) or is_text(right) or is_none(left) or is_none(right):
            # An array and a string or None are never equal: a plain False, not an array.
            array = left if type(left) is Array else right
            if type(array) is Array:
                text = right if array is left else left
                if array.why is not None and array.why.parameter and isinstance(constant(text), str):
                    self.machine.emit("text_comparison", events.TextComparisonEvent(node, frame, array))
                return Static(kind="bool")
        if isinstance(left, (Array, AtIndexer)) or isinstance(right, (Array, AtIndexer)):
            other = right if type(left) is Array else left
            if isinstance(other, (TupleValue, DictValue, External, ClassValue, Function)):
                return Static(kind="bool")
            if isinstance(op, (ast.Eq, ast.NotEq)) and self.are_perhaps_objects(left, right):
                return UNKNOWN
            result = self.array_result(frame, [left, right], node, role="bool")
            self.machine.tracking.made_by(result, OPERATORS[type(op)], [left, right], {}, node, frame)
            return result
        if isinstance(op, (ast.Eq, ast.NotEq)):
            self.compare_items(left, right, node, frame)
        one, two = constant(left), constant(right)
        if one is not MISSING and two is not MISSING:
            try:
                if isinstance(op, ast.Eq):
                    return Static(bool(one == two))
                if isinstance(op, ast.NotEq):
                    return Static(bool(one != two))
                return Static(bool(_ORDERINGS[type(op)](one, two)))
            except Exception:
                return Static(kind="bool")
        if type(left) is NumpyArray or type(right) is NumpyArray:
            return UNKNOWN if isinstance(left, Unknown) or isinstance(right, Unknown) else NumpyArray()
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return UNKNOWN
        return Static(kind="bool")

    @staticmethod
    def are_perhaps_objects(left: Value, right: Value) -> bool:
        """Whether what is compared may be objects, of which Python asks their class: an array is equal to none."""
        tree, other = (left, right) if isinstance(left, Array) else (right, left)
        options = other.options if isinstance(other, Choice) else [other]
        if any(isinstance(option, Instance) for option in options):
            return True
        return isinstance(tree, Array) and tree.tree and isinstance(other, Unknown)

    def compare_items(self, left: Value, right: Value, node: ast.AST, frame: Frame) -> None:
        """Sequences are equal when their items are, and Python asks for the truth of that, pair by pair."""
        sequences = (TupleValue, ListValue)
        if (
            not isinstance(left, sequences)
            or not isinstance(right, sequences)
            or type(left) is not type(right)
        ):
            return
        if left.items is None or right.items is None or len(left.items) != len(right.items):
            return
        for one, two in zip(left.items, right.items, strict=True):
            if one is two or (constant(one) is not MISSING and constant(one) == constant(two)):
                continue
            if all(isinstance(part, (Array, Static)) for part in (one, two)):
                self.externals.test(self.compare_pair(one, two, ast.Eq(), node, frame), node, "==", frame)
            return

    def look_for(
        self, item: Value, sequence: ListValue | TupleValue, how: str, node: ast.AST, frame: Frame
    ) -> None:
        """Python looks for an array among the items of a sequence, and asks whether it is equal to one of them."""
        if not isinstance(item, Array) or item.tree:
            return
        if any(isinstance(part, (Static, Array)) and not is_text(part) for part in sequence.elements()):
            self.externals.test(self.array_result(frame, [item], node, role="bool"), node, how, frame)

    def membership(self, item: Value, container: Value, op: ast.cmpop, node: ast.AST, frame: Frame) -> Value:
        answer = self.data_model.special(container, "__contains__", [item], node, frame)
        if answer is not None:
            self.externals.test(answer, node, "in", frame)
            return Static(kind="bool")
        if isinstance(container, DictValue) or (
            isinstance(container, ListValue) and container.kind in ("set", "frozenset")
        ):
            self.externals.convert(item, node, "hash", frame)
            written = isinstance(node, ast.Compare) and isinstance(node.comparators[-1], ast.Set)
            if isinstance(container, ListValue) and (isinstance(item, Array) or not written):
                return Static(kind="bool")
        if isinstance(container, DictValue):
            const = constant(item)
            if const is not MISSING and container.element is None:
                try:
                    known = const in container.items
                except TypeError:
                    return Static(kind="bool")
                if known and const not in container.optional:
                    return Static(isinstance(op, ast.In))
            return Static(kind="bool")
        if isinstance(container, Array) and not container.tree:
            result = self.array_result(frame, [container], node, role="bool")
            self.externals.test(result, node, "in", frame)
        elif isinstance(item, Array) and isinstance(container, (ListValue, TupleValue)):
            self.look_for(item, container, "in", node, frame)
        elif isinstance(container, (ListValue, TupleValue)) and container.items is not None:
            const, options = constant(item), constant(container)
            if const is not MISSING and options is not MISSING:
                return Static((const in options) == isinstance(op, ast.In))
        elif isinstance(constant(item), str) and isinstance(constant(container), str):
            return Static((constant(item) in constant(container)) == isinstance(op, ast.In))
        return Static(kind="bool")

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
        """The array that an array operation on `inputs` gives here: a tracer if one goes in or the stage is abstract."""
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
            # An array function gives a tracer here whatever goes in; an operator only when one side is an array.
            what = f"`{name}` runs" if name else "the operation runs"
            why = Why(f"{what} under `{frame.stage.kind}`", cause=frame.stage.why)
            certain = frame.stage.certain and (
                bool(name) or (first is None and device is not None and device.certain)
            )
            result = Array(True, why, certain=certain, role=role, like=origin)
        else:
            # What an operator makes of something that is only likely an array is no more certain.
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


def _may_concatenate(left: Value, right: Value) -> bool:
    pairs = ((left, right), (right, left))
    return any(isinstance(a, (ListValue, TupleValue)) and isinstance(b, Array) and b.tree for a, b in pairs)


def _is_type(value: Value) -> bool:
    """Whether a value is a type, or several, in the way `isinstance` takes them."""
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


def _is_dtype_of_array(value: Value) -> bool:
    return isinstance(value, Static) and value.kind == "dtype"


def _is_dtype_of_objects(value: Value) -> bool:
    """Whether it is NumPy's dtype of Python objects, which no JAX array has."""
    if isinstance(value, External):
        return value.name in ("builtins.object", "numpy.object_")
    return constant(value) in ("object", "O")


def _has_methods(value: Value) -> bool:
    """Whether the class of a value may say what operators do with it: an object, or a named tuple of a known class."""
    return type(value) is Instance or (type(value) is TupleValue and value.cls is not None and value.exact)


def _identical(left: Value, right: Value) -> bool | None:
    """What `left is right` gives; arrays and containers are never None, True or False."""
    if is_none(right) or is_none(left):
        other = left if is_none(right) else right
        if is_none(other):
            return True
        if isinstance(other, Static):
            return None if other.const is MISSING and not other.kind else False
        if isinstance(other, Array):
            return None if other.tree or not other.certain else False
        return None if isinstance(other, Unknown) else False
    modules = ("numpy", "jax.numpy")  # that a function may be given: `if np_ is jnp:`
    if type(left) is External and type(right) is External and {left.name, right.name} <= {*modules}:
        return left.name == right.name
    if isinstance(left, Static) and isinstance(right, Static):
        if left.const is MISSING or right.const is MISSING:
            return None
        return bool(
            left.const is right.const or (type(left.const) is type(right.const) and left.const == right.const)
        )
    if isinstance(left, Array) and isinstance(right, Static) and right.const is not MISSING and not left.tree:
        return False
    if _is_singleton(left) or _is_singleton(right):
        other = right if _is_singleton(left) else left
        made = (Instance, TupleValue, ListValue, DictValue, Function, BoundMethod, ClassValue)
        return False if isinstance(other, made) else None
    return None


def _is_singleton(value: Value) -> bool:
    return isinstance(value, Static) and (
        value.const is Ellipsis or isinstance(value.const, (bool, Sentinel))
    )


def _fold(left: Static, right: Static, op: ast.operator) -> Value:
    """Arithmetic on constants, kept small."""
    one, two = left.const, right.const
    action = _ARITHMETIC.get(type(op))
    numbers = (int, float, complex)
    if (
        action is not None
        and isinstance(one, numbers)
        and isinstance(two, numbers)
        and abs(one) < 1e9
        and abs(two) < 1e9
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
    return Static(kind="int" if integral else "")
