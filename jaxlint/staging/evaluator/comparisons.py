"""Comparisons of abstract values: the results of `<`, `==`, `is` and `in`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from jaxlint.staging import events
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.datamodel import DataModel
from jaxlint.staging.evaluator.environment import by_environment, usually
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.operators import Operators, has_methods
from jaxlint.staging.values import (
    MISSING,
    UNKNOWN,
    Array,
    AtIndexer,
    BoundMethod,
    Choice,
    ClassValue,
    DictValue,
    DType,
    External,
    ExternalMethod,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Operation,
    Sentinel,
    Setting,
    Shim,
    Static,
    TupleValue,
    Unknown,
    Value,
    as_answer,
    constant,
    is_answer,
    is_none,
    is_text,
)
from jaxlint.staging.values.array_types import ARRAY_MODULES
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.dtypes import OPERATORS, dtype_named
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.truth import truth
from jaxlint.syntax.facts import reads_release, release_names

_ORDERINGS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


_OF_LIBRARY = (ExternalObject, ExternalMethod)


class Comparisons(Part):
    """Evaluates `<`, `==`, `is`, `in` and similar operators."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.data_model = machine.part(DataModel)
        self.conversions = machine.part(Conversions)
        self.operators = machine.part(Operators)

    def eval_compare(self, node: ast.Compare, frame: Frame) -> Value:
        """The value of a comparison, or of a chain of them."""
        left = self.machine.language.eval(node.left, frame)
        result: Value = UNKNOWN
        answer = is_answer(left)
        for position, (op, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.machine.language.eval(comparator, frame)
            answer = answer or is_answer(right)
            if isinstance(right, (External, *_OF_LIBRARY)) or isinstance(left, _OF_LIBRARY):
                event = events.ComparisonEvent(node, frame, left, op, right)
                self.machine.emit("comparison", event)
            known = self.machine.staging.compares_with_tracer_type(node, right, frame)
            if known is not None:
                return Static(known)
            result = self.compare_pair(left, right, op, node, frame)
            if position < len(node.ops) - 1:
                self.conversions.test(result, node, "chained comparison", frame)
            left = right
        if type(result) in (Static, Unknown) and truth(result) is None:
            if reads_release(node, release_names(frame.module.tree)):
                return Shim(kind="bool")
        return as_answer(result) if answer else result

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
        if has_methods(left) or has_methods(right):
            answer = self.data_model.compare_instances(left, op, right, node, frame)
            if answer is not None:
                return answer
        if any(isinstance(side, Static) and side.kind == "treedef" for side in (left, right)):
            return Static(kind="bool")  # Python compares structures
        if self.machine.exact and (isinstance(left, DType) or isinstance(right, DType)):
            names = dtype_named(left), dtype_named(right)
            if all(names) and isinstance(op, (ast.Eq, ast.NotEq)):
                return Static((names[0] == names[1]) == isinstance(op, ast.Eq))
        if _is_dtype_of_array(left) and _is_dtype_of_objects(right):
            return Static(isinstance(op, ast.NotEq))
        if is_text(left) or is_text(right) or is_none(left) or is_none(right):
            # An array never equals a string or None: the result is False, not an array.
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
            result = self.operators.array_result(frame, [left, right], node, role="bool")
            self.machine.tracking.made_by(result, OPERATORS[type(op)], Call([left, right], {}, node, frame))
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
            if self.machine.exact and all(isinstance(side, (NumpyArray, Static)) for side in (left, right)):
                made = Operation(OPERATORS[type(op)], (left, right), {}, node)
                return NumpyArray(dtype="bool", made=made)
            return UNKNOWN if isinstance(left, Unknown) or isinstance(right, Unknown) else NumpyArray()
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return UNKNOWN
        return Static(kind="bool")

    @staticmethod
    def are_perhaps_objects(left: Value, right: Value) -> bool:
        """Whether the operands may be objects, whose class Python asks: an array equals none of them."""
        tree, other = (left, right) if isinstance(left, Array) else (right, left)
        options = other.options if isinstance(other, Choice) else [other]
        if any(isinstance(option, Instance) for option in options):
            return True
        return isinstance(tree, Array) and tree.tree and isinstance(other, Unknown)

    def compare_items(self, left: Value, right: Value, node: ast.AST, frame: Frame) -> None:
        """Sequences are equal if their items are; Python needs the truth of each pair's comparison."""
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
                self.conversions.test(self.compare_pair(one, two, ast.Eq(), node, frame), node, "==", frame)
            return

    def look_for(
        self, item: Value, sequence: ListValue | TupleValue, how: str, node: ast.AST, frame: Frame
    ) -> None:
        """Python searches for an array among the items of a sequence and needs the truth of each comparison."""
        if not isinstance(item, Array) or item.tree:
            return
        if any(isinstance(part, (Static, Array)) and not is_text(part) for part in sequence.elements()):
            self.conversions.test(
                self.operators.array_result(frame, [item], node, role="bool"), node, how, frame
            )

    def membership(self, item: Value, container: Value, op: ast.cmpop, node: ast.AST, frame: Frame) -> Value:
        """The value of `item in container`."""
        answer = self.data_model.special(container, "__contains__", [item], node, frame)
        if answer is not None:
            self.conversions.test(answer, node, "in", frame)
            return Static(kind="bool")
        if isinstance(container, DictValue) or (
            isinstance(container, ListValue) and container.kind in ("set", "frozenset")
        ):
            self.conversions.convert(item, node, "hash", frame)
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
            result = self.operators.array_result(frame, [container], node, role="bool")
            self.conversions.test(result, node, "in", frame)
        elif isinstance(item, Array) and isinstance(container, (ListValue, TupleValue)):
            self.look_for(item, container, "in", node, frame)
        elif isinstance(container, (ListValue, TupleValue)) and container.items is not None:
            const, options = constant(item), constant(container)
            if const is not MISSING and options is not MISSING:
                return Static((const in options) == isinstance(op, ast.In))
        elif isinstance(constant(item), str) and isinstance(constant(container), str):
            return Static((constant(item) in constant(container)) == isinstance(op, ast.In))
        return Static(kind="bool")


def _is_dtype_of_array(value: Value) -> bool:
    return isinstance(value, Static) and value.kind == "dtype"


def _is_dtype_of_objects(value: Value) -> bool:
    """Whether it is NumPy's object dtype, which no JAX array has."""
    if isinstance(value, External):
        return value.name in ("builtins.object", "numpy.object_")
    return constant(value) in ("object", "O")


def _identical(left: Value, right: Value) -> bool | None:
    """The result of `left is right`. Arrays and containers are never None, True or False."""
    if is_none(right) or is_none(left):
        other = left if is_none(right) else right
        if is_none(other):
            return True
        if isinstance(other, Static):
            return None if other.const is MISSING and not other.kind else False
        if isinstance(other, Array):
            return None if other.tree or not other.certain else False
        return None if isinstance(other, Unknown) else False
    # A function may receive either: `if np_ is jnp:`.
    if type(left) is External and type(right) is External and {left.name, right.name} <= ARRAY_MODULES:
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
