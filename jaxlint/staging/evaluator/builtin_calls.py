"""Calls of builtins: their results, and which of them need a truth, a number or a static length."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from jaxlint.staging import events
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.containers import Containers
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.datamodel import ASKING, DataModel
from jaxlint.staging.evaluator.environment import converted
from jaxlint.staging.evaluator.folded_builtins import folded
from jaxlint.staging.evaluator.introspection import Builtin, Introspection
from jaxlint.staging.evaluator.loops import Loops
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.shapes.exact import numbers_of
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    DictValue,
    ExternalObject,
    Instance,
    ListValue,
    NumpyArray,
    Setting,
    StarArgument,
    Static,
    TupleValue,
    Value,
    constant,
    find_array,
    join_all,
    parts_of,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.copies import fresh
from jaxlint.staging.values.frame import MAX_UNROLLED, Frame
from jaxlint.staging.values.measured import length_of

_COMPARING_BUILTINS = frozenset({"any", "all", "max", "min", "sorted"})

_MOST_PAIRS = 16  # that `zip` gives one by one


class BuiltinCalls(Part):
    """Evaluates calls of builtins."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.calls = machine.part(Calls)
        self.containers = machine.part(Containers)
        self.data_model = machine.part(DataModel)
        self.conversions = machine.part(Conversions)
        self.operators = machine.part(Operators)
        self.loops = machine.part(Loops)
        self.builtins: dict[str, Builtin] = {
            **machine.part(Introspection).builtins,
            **dict.fromkeys(_NUMBERS, self.number_call),
            **dict.fromkeys(_PLAIN, self.plain_call),
            **dict.fromkeys(_COMPARING_BUILTINS, self.comparing_builtin),
            **dict.fromkeys(("abs", "round", "pow", "divmod"), self.arithmetic_call),
            "sum": self.sum_call,
            "print": self.print_call,
            "range": self.range_call,
            "slice": self.slice_call,
            **dict.fromkeys(("list", "tuple", "set", "frozenset", "reversed", "iter"), self.sequence_call),
            "zip": self.zip_call,
            "enumerate": self.enumerate_call,
            "map": self.map_call,
            "filter": self.filter_call,
            "next": self.next_call,
            "dict": self.dict_call,
            "len": self.len_call,
            "exec": self.exec_call,
        }

    def call_builtin(self, name: str, call: Call) -> Value:
        args = call.args
        first = args[0] if args else UNKNOWN
        if isinstance(first, Instance) and name in ASKING:
            answer = self.data_model.special(
                first, ASKING[name], args[1:] if name == "round" else [], call.node, call.frame
            )
            if answer is not None:
                return answer
        if isinstance(first, Setting) and name in _CONVERSIONS and len(args) == 1:
            return converted(first, _CONVERSIONS[name])
        if self.machine.exact and (known := folded(name, call, self.operators)) is not None:
            return known
        builtin = self.builtins.get(name)
        return UNKNOWN if builtin is None else builtin(name, call)

    # -- numbers and text

    def number_call(self, name: str, call: Call) -> Value:
        first = call.args[0] if call.args else UNKNOWN
        self.conversions.convert(first, call.node, name, call.frame)
        const = constant(first)
        if isinstance(const, (int, float, str)) and not isinstance(const, bool) and len(call.args) == 1:
            try:
                return Static(_NUMBERS[name](const))
            except (ValueError, OverflowError):
                return Static()
        return Static(kind=name)

    def plain_call(self, name: str, call: Call) -> Value:
        """A builtin that needs the value and returns one of a known type."""
        self.conversions.convert(
            call.args[0] if call.args else UNKNOWN, call.node, "str" if name in _TEXTS else name, call.frame
        )
        return Static(kind=_PLAIN[name])

    def print_call(self, name: str, call: Call) -> Value:
        for value in call.args:
            self.conversions.convert(value, call.node, "print", call.frame)
        return Static(None)

    def arithmetic_call(self, name: str, call: Call) -> Value:
        args = call.args
        if any(find_array(a) is not None for a in args):
            result = self.operators.array_result(call.frame, args, call.node)
            return TupleValue([result, result]) if name == "divmod" else result
        if any(isinstance(a, NumpyArray) for a in args):
            return NumpyArray()
        return Static() if args else UNKNOWN

    def sum_call(self, name: str, call: Call) -> Value:
        args = call.args
        if len(args) < 2 or not isinstance(args[1], (ListValue, TupleValue)):
            return self.arithmetic_call(name, call)
        # Concatenated sequences.
        parts = [self.containers.element_of(args[0], call.node, call.frame), args[1]]
        held = [item for part in parts for item in parts_of(part)] or [UNKNOWN]
        joined = join_all(held) if all(isinstance(p, (ListValue, TupleValue)) for p in parts) else UNKNOWN
        return ListValue(None, joined) if isinstance(args[1], ListValue) else TupleValue(None, joined)

    def exec_call(self, name: str, call: Call) -> Value:
        """`exec` binds its names in the dicts that it receives."""
        for names in [*call.args[1:], *call.kwargs.values()]:
            if isinstance(names, DictValue):
                names.items.clear()
                names.element = UNKNOWN
        return Static(None)

    # -- sequences and dicts

    def range_call(self, name: str, call: Call) -> Value:
        node = call.node
        for value in call.args:
            if isinstance(value, Array) and value.staged:
                self.machine.emit("shape", events.ShapeEvent(node, call.frame, value, "range", "a bound"))
            elif isinstance(value, Array):
                self.conversions.convert(value, node, "range", call.frame)
        return ExternalObject("builtins.range", call.args, node=node)

    def slice_call(self, name: str, call: Call) -> Value:
        bounds = [Static(None), *call.args, Static(None)][:3] if len(call.args) == 1 else call.args
        return ExternalObject("builtins.slice", bounds)

    def sequence_call(self, name: str, call: Call) -> Value:
        first = call.args[0] if call.args else UNKNOWN
        if name == "reversed" and isinstance(first, ExternalObject) and first.name == "builtins.range":
            return first  # the same numbers, in the same quantity
        return (
            self.to_sequence(name, first, call.node, call.frame)
            if call.args
            else _empty_sequence(name, call.frame)
        )

    def items_of(self, value: Value) -> list[Value] | None:
        """The items of `value`, if each is known."""
        known = self.containers.known_items(value)
        return [] if known is None and self.loops.trip_count(value) == 0 else known

    def enumerate_call(self, name: str, call: Call) -> Value:
        first = call.args[0] if call.args else UNKNOWN
        items = self.items_of(first)
        if items is not None and len(items) <= 16:
            return TupleValue([TupleValue([Static(i), v]) for i, v in enumerate(items)])
        steps = isinstance(first, ListValue) and first.kind == "steps"
        counted = TupleValue([Static(kind="int"), self.containers.element_of(first, call.node, call.frame)])
        kind = "steps" if steps else "iterator"
        return ListValue(None, counted, kind, length=self.loops.trip_count(first))

    def map_call(self, name: str, call: Call) -> Value:
        args = call.args
        function = args[0] if args else UNKNOWN
        items = self.items_of(args[1]) if len(args) == 2 else None
        if items is not None and len(items) <= MAX_UNROLLED:
            mapped = [self.calls.call_value(function, call.passing([item], {})) for item in items]
            return ListValue(mapped, join_all(mapped), "iterator")
        elements = [self.containers.element_of(a, call.node, call.frame) for a in args[1:]]
        result = self.calls.call_value(function, call.passing(elements, {}))
        return ListValue(None, join_all([result]), "iterator")

    def filter_call(self, name: str, call: Call) -> Value:
        args, node, frame = call.args, call.node, call.frame
        if len(args) < 2:
            return ListValue(None, UNKNOWN, "iterator")
        if not (isinstance(args[0], Static) and args[0].const is None):
            kept = self.calls.call_value(
                args[0],
                call.passing([self.containers.element_of(args[1], node, frame)], {}),
            )
            self.conversions.test(kept, node, "filter", frame)
        return ListValue(None, self.containers.element_of(args[1], node, frame), "iterator")

    def next_call(self, name: str, call: Call) -> Value:
        known = bool(call.args) and isinstance(call.args[0], (ListValue, TupleValue))
        return self.containers.element_of(call.args[0], call.node, call.frame) if known else UNKNOWN

    def len_call(self, name: str, call: Call) -> Value:
        args = call.args
        if args and isinstance(args[0], (Array, NumpyArray)):
            numbers = numbers_of(args[0]) if self.machine.exact else None
            return Static(numbers[0]) if numbers else length_of(args[0])
        items = args[0].items if args and isinstance(args[0], (TupleValue, ListValue)) else None
        if items is None or call.frame.repeats():
            return Static(kind="int")
        return Static(len(items))

    def dict_call(self, name: str, call: Call) -> Value:
        frame = call.frame
        known = {k: v for k, v in call.kwargs.items() if k != "**"}
        if not call.args:
            return DictValue(known, None, frame.stage)
        base = call.args[0]
        if isinstance(base, DictValue):
            return DictValue(
                {**base.items, **known}, base.element, frame.stage, base.optional.difference(known)
            )
        pair = self.containers.element_of(base, call.node, frame)
        items = (pair.items or []) if isinstance(pair, TupleValue) else []
        inner = items[1] if len(items) == 2 else UNKNOWN
        if items and isinstance(items[0], Static) and items[0].one_of:  # `dict(zip(("a", "b"), values))`
            each: dict[object, Value] = {key: fresh(inner) for key in items[0].one_of}
            return DictValue({**each, **known}, None, frame.stage)
        return DictValue(dict(known), inner, frame.stage)

    def zip_call(self, name: str, call: Call) -> Value:
        args = call.args
        if len(args) == 1 and isinstance(args[0], StarArgument):  # `zip(*rows)` transposes rows into columns
            row = args[0].element
            if isinstance(row, TupleValue) and row.items is not None:
                return TupleValue([TupleValue(None, part) for part in row.items])
        columns = [self.items_of(value) for value in args]
        counts = [self.loops.trip_count(value) for value in args]
        if 0 in counts:
            return TupleValue([])
        # The rows of an array count as long as what they are paired with, such as keys, one for each layer.
        lengths = [len(column) for column in columns if column is not None]
        if self.machine.exact and lengths:
            lengths += [count for count in counts if count is not None]
        if lengths and min(lengths) <= _MOST_PAIRS:
            rows = [
                self._rows(value, min(lengths), call) if column is None else column
                for value, column in zip(args, columns, strict=True)
            ]
            if None not in rows:
                return TupleValue([TupleValue(list(row)) for row in zip(*rows, strict=False)])  # type: ignore[arg-type]
        known = [count for count in counts if count is not None]
        return ListValue(
            None,
            TupleValue([self.containers.element_of(a, call.node, call.frame) for a in args]),
            "iterator",
            length=min(known, default=None),
        )

    def _rows(self, value: Value, length: int, call: Call) -> list[Value] | None:
        """That many rows of an array; None for anything else."""
        if not isinstance(value, (Array, NumpyArray)) or (isinstance(value, Array) and value.tree):
            return None
        return [self.containers.element_of(value, call.node, call.frame) for _ in range(length)]

    def comparing_builtin(self, name: str, call: Call) -> Value:
        """`any`, `all`, `max`, `min`, `sorted` need the truth of elements or of comparisons between them."""
        args, node, frame = call.args, call.node, call.frame
        if len(args) == 1:
            elements = (
                [self.containers.element_of(args[0], node, frame)]
                if not isinstance(args[0], (ListValue, TupleValue))
                else args[0].elements()
            )
            single = (
                isinstance(args[0], (ListValue, TupleValue))
                and args[0].items is not None
                and len(args[0].items) < 2
            )
        else:
            elements, single = args, False
        if "key" in call.kwargs:
            elements = [self.calls.call_value(call.kwargs["key"], call.passing(elements[:1], {}))]
        for element in elements:
            if isinstance(element, Array) and not (single and name not in ("any", "all")):
                self.conversions.test(
                    self.operators.array_result(frame, [element], node, role="bool")
                    if not element.tree
                    else element,
                    node,
                    name,
                    frame,
                )
                break
        if name in ("any", "all"):
            decides = name == "any"
            known = isinstance(args[0], (ListValue, TupleValue)) and args[0].items is not None
            if known and any(constant(e) is decides for e in elements):
                return Static(decides)
            if name == "any" and self.machine.staging.finds_tracers(node, elements):
                return Static(True)
            if elements and all(constant(e) is (name == "all") for e in elements):
                return Static(name == "all")
            return Static(kind="bool")
        if name == "sorted":
            return ListValue(None, join_all(elements))
        consts = [constant(e) for e in elements]
        if consts and all(isinstance(c, (int, float)) for c in consts) and len(args) > 1:
            return Static(max(consts) if name == "max" else min(consts))
        if elements and all(isinstance(e, Static) for e in elements):
            return Static(
                kind="int"
                if all(
                    isinstance(c, int) or (isinstance(e, Static) and e.kind == "int")
                    for c, e in zip(consts, elements, strict=True)
                )
                else ""
            )
        return join_all(elements)

    def to_sequence(self, name: str, value: Value, node: ast.AST, frame: Frame) -> Value:
        items = self.items_of(value)
        if items is not None and name in ("list", "tuple", "reversed", "iter"):
            ordered = list(reversed(items)) if name == "reversed" else list(items)
            return (
                TupleValue(ordered)
                if name == "tuple"
                else ListValue(ordered, join_all(ordered), stage=frame.stage)
            )
        element = self.containers.element_of(value, node, frame)
        if name == "tuple":
            return TupleValue(None, element)
        return ListValue(None, element, name if name in ("set", "frozenset") else "list", stage=frame.stage)


def _empty_sequence(name: str, frame: Frame) -> Value:
    if name == "tuple":
        return TupleValue([])
    return ListValue([], kind=name if name in ("set", "frozenset") else "list", stage=frame.stage)


_NUMBERS: dict[str, Callable[[float | str], object]] = {"float": float, "int": int, "complex": complex}
_CONVERSIONS: dict[str, Callable[[Any], object]] = {**_NUMBERS, "bool": bool, "str": str}
_TEXTS = frozenset({"str", "repr", "format"})
_PLAIN = {
    **dict.fromkeys([*_TEXTS, "hex", "oct", "bin", "chr"], "str"),
    "hash": "int",
    "bool": "bool",
}
