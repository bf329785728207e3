"""Calls of builtins: what they give, and which of them ask for a truth, a number or a static length."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jaxlint.jaxapi.functions import (
    ARRAY_ATTRIBUTES,
    ARRAY_METHODS,
    CONCRETE_ATTRIBUTES,
    OTHER_ATTRIBUTES,
    SPECIAL_METHODS,
    STATIC_ATTRIBUTES,
)
from jaxlint.staging import events
from jaxlint.staging.calls import StarArgument
from jaxlint.staging.datamodel import ASKING
from jaxlint.staging.frame import Frame
from jaxlint.staging.machine import Machine
from jaxlint.staging.syntax_facts import dotted, positional_parameters
from jaxlint.staging.values import (
    ANY_NAME,
    CALLABLE,
    MISSING,
    UNKNOWN,
    Array,
    BoundMethod,
    ClassValue,
    DictValue,
    External,
    ExternalMethod,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    ModuleValue,
    NumpyArray,
    Partial,
    Shim,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    bound_to,
    constant,
    find_array,
    in_turn,
    join,
    join_all,
    parts_of,
)

_BUILTIN_TYPES = {
    f"builtins.{kind.__name__}": kind
    for kind in (int, float, complex, bool, str, bytes, tuple, list, dict, set, frozenset)
}
_HOLDERS = ((TupleValue, tuple), (ListValue, list), (DictValue, dict))
# Types of libraries of which nothing that Python makes on its own is an instance.
_ALONE = frozenset(
    {"functools.partial", "jax.Array", "jax.numpy.ndarray", "jax.core.Tracer", "numpy.ndarray"}
)
_COMPARING_BUILTINS = frozenset({"any", "all", "max", "min", "sorted"})


class BuiltinCalls(Machine):
    """The builtin part of the interpreter."""

    def call_builtin(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        first = args[0] if args else UNKNOWN
        if isinstance(first, Instance) and name in ASKING:
            answer = self.special(first, ASKING[name], args[1:] if name == "round" else [], node, frame)
            if answer is not None:
                return answer
        if name in ("float", "int", "complex"):
            self.convert(first, node, name, frame)
            const = constant(first)
            if isinstance(const, (int, float)) and not isinstance(const, bool) and len(args) == 1:
                try:
                    return Static(
                        float(const) if name == "float" else int(const) if name == "int" else complex(const)
                    )
                except (ValueError, OverflowError):
                    return Static()
            return Static(kind=name)
        if name == "bool":
            self.convert(first, node, name, frame)
            return Static(kind="bool")
        if name in _COMPARING_BUILTINS:
            return self.comparing_builtin(name, args, kwargs, node, frame)
        if name == "range":
            for value in args:
                if isinstance(value, Array) and value.staged:
                    self.emit("shape", events.ShapeEvent(node, frame, value, "range", "a bound"))
                elif isinstance(value, Array):
                    self.convert(value, node, "range", frame)
            return ExternalObject("builtins.range", args, node=node)
        if name == "sum" and len(args) > 1 and isinstance(args[1], (ListValue, TupleValue)):
            # Sequences that are put behind each other.
            parts = [self.element_of(first, node, frame), args[1]]
            held = [item for part in parts for item in parts_of(part)] or [UNKNOWN]
            joined = join_all(held) if all(isinstance(p, (ListValue, TupleValue)) for p in parts) else UNKNOWN
            return ListValue(None, joined) if isinstance(args[1], ListValue) else TupleValue(None, joined)
        if name in ("abs", "round", "pow", "divmod", "sum"):
            arrays = [a for a in args if find_array(a) is not None]
            if arrays:
                result = self.array_result(frame, args, node)
                return TupleValue([result, result]) if name == "divmod" else result
            return (
                NumpyArray()
                if any(isinstance(a, NumpyArray) for a in args)
                else Static()
                if args
                else UNKNOWN
            )
        if name == "reversed" and isinstance(first, ExternalObject) and first.name == "builtins.range":
            return first  # the same numbers, as many
        if name in ("list", "tuple", "set", "frozenset", "reversed", "iter"):
            return self.to_sequence(name, first, node, frame) if args else _empty_sequence(name, frame)
        if name == "zip":
            return self.zipped(args, node, frame)
        if name == "enumerate":
            if (
                isinstance(first, (ListValue, TupleValue))
                and first.items is not None
                and len(first.items) <= 16
            ):
                pairs: list[Value] = [TupleValue([Static(i), v]) for i, v in enumerate(first.items)]
                return TupleValue(pairs)
            steps = isinstance(first, ListValue) and first.kind == "steps"
            counted = TupleValue([Static(kind="int"), self.element_of(first, node, frame)])
            return ListValue(None, counted, "steps" if steps else "iterator")
        if name == "map":
            results = [
                self.call_value(first, [self.element_of(a, node, frame) for a in args[1:]], {}, node, frame)
            ]
            return ListValue(None, join_all(results), "iterator")
        if name == "filter":
            if len(args) > 1 and not (isinstance(first, Static) and first.const is None):
                kept = self.call_value(first, [self.element_of(args[1], node, frame)], {}, node, frame)
                self.test(kept, node, "filter", frame)
            return ListValue(
                None, self.element_of(args[1], node, frame) if len(args) > 1 else UNKNOWN, "iterator"
            )
        if name == "next":
            return (
                self.element_of(first, node, frame) if isinstance(first, (ListValue, TupleValue)) else UNKNOWN
            )
        if name == "dict":
            base = first if isinstance(first, DictValue) else None
            known = {k: v for k, v in kwargs.items() if k != "**"}
            if args and base is None:
                pair = self.element_of(first, node, frame)
                inner = (
                    pair.items[1]
                    if isinstance(pair, TupleValue) and pair.items and len(pair.items) == 2
                    else UNKNOWN
                )
                names = pair.items[0] if isinstance(pair, TupleValue) and pair.items else UNKNOWN
                if isinstance(names, Static) and names.one_of:  # `dict(zip(("a", "b"), values))`
                    each: dict[object, Value] = {key: self.fresh(inner) for key in names.one_of}
                    return DictValue({**each, **known}, None, frame.stage)
                return DictValue(dict(known), inner, frame.stage)
            if base is None:
                return DictValue(known, None, frame.stage)
            return DictValue({**base.items, **known}, base.element, frame.stage, base.optional - known.keys())
        if name == "len":
            if isinstance(first, (TupleValue, ListValue)) and first.items is not None and not frame.loops:
                return Static(len(first.items))
            return Static(kind="int")
        if name == "isinstance":
            for kind in args[1].elements() if len(args) > 1 and isinstance(args[1], TupleValue) else args[1:]:
                self.implied(kind, "__instancecheck__", [first], node, frame)
            return self.isinstance_result(first, args[1] if len(args) > 1 else UNKNOWN)
        if name == "hasattr" and isinstance(first, Array) and first.certain and len(args) > 1:
            attr = constant(args[1])
            if first.staged and attr in CONCRETE_ATTRIBUTES:
                return Static(False)
            if isinstance(attr, str) and not first.tree:
                if attr in STATIC_ATTRIBUTES or attr in ARRAY_METHODS or attr in ARRAY_ATTRIBUTES:
                    return Static(True)
                if attr in SPECIAL_METHODS:
                    return Static(True)
                if not attr.startswith("_") and attr not in OTHER_ATTRIBUTES:
                    return Static(False)
        if name == "callable":
            return _truth(_is_callable(first))
        if name in ("hasattr", "issubclass"):
            library = name == "hasattr" and isinstance(first, (External, ModuleValue))
            return Shim(kind="bool") if library else Static(kind="bool")
        if name == "getattr":
            attr = constant(args[1]) if len(args) > 1 else MISSING
            if len(args) > 1 and isinstance(args[1], Static) and args[1].one_of:
                found = [self.attribute(first, n, node, frame, quiet=True) for n in args[1].one_of]
                return in_turn(value for value in found if not isinstance(value, Unknown))
            if isinstance(attr, str):
                value = self.attribute(first, attr, node, frame, quiet=True)
                return join(value, args[2]) if len(args) > 2 else value
            return first.fields.get(ANY_NAME, UNKNOWN) if isinstance(first, Instance) else UNKNOWN
        if name in ("setattr", "object.__setattr__"):
            attr = constant(args[1]) if len(args) == 3 else MISSING
            if isinstance(attr, str) and isinstance(node, ast.Call):
                self.set_attribute(first, attr, args[2], node, frame)
            elif len(args) == 3 and isinstance(first, Instance) and first.staged is None:
                self.implied(first, "__setattr__", [UNKNOWN, args[2]], node, frame)
                if self.leaks_into(first, args[2], frame):
                    self.emit("leak", events.LeakEvent(node, frame, args[2], "an attribute of the object"))
                first.staged = find_array(args[2], True)  # under a name that is not known
                for field, stored in list(first.fields.items()):
                    if not isinstance(stored, CALLABLE):
                        first.fields[field] = join(stored, args[2])
                first.fields[ANY_NAME] = in_turn([*filter(None, [first.fields.get(ANY_NAME)]), args[2]])
            return Static(None)
        if name == "super":
            return self.super_object(args, frame)
        if name == "type":
            return first.cls if isinstance(first, Instance) else Static(kind="type")
        if name in ("staticmethod", "classmethod", "property"):
            return self.method_kind(name, first)
        if name == "slice":
            return ExternalObject(
                "builtins.slice", [Static(None), *args, Static(None)][:3] if len(args) == 1 else args
            )
        if name in ("str", "repr", "format"):
            self.convert(first, node, "str", frame)
            return Static(kind="str")
        if name == "print":
            for value in args:
                self.convert(value, node, "print", frame)
            return Static(None)
        if name in ("hash", "hex", "oct", "bin", "chr"):
            self.convert(first, node, name, frame)
            return Static(kind="int" if name == "hash" else "str")
        if name == "vars":
            return DictValue({}, UNKNOWN, frame.stage)
        if name in ("id", "ord", "dir", "input", "bytes"):
            return Static()
        return UNKNOWN

    def comparing_builtin(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        """`any`, `all`, `max`, `min`, `sorted` ask for the truth of elements or of comparisons between them."""
        if len(args) == 1:
            elements = (
                [self.element_of(args[0], node, frame)]
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
        if "key" in kwargs:
            elements = [self.call_value(kwargs["key"], elements[:1], {}, node, frame)]
        for element in elements:
            if isinstance(element, Array) and not (single and name not in ("any", "all")):
                self.test(
                    self.array_result(frame, [element], node, role="bool") if not element.tree else element,
                    node,
                    name,
                    frame,
                )
                break
        if name in ("any", "all"):
            if name == "any" and _asks_for_tracers(node) and all(constant(e) is True for e in elements):
                return Static(True)  # where each that there is is a tracer, nobody asks of none
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
        items = value.items if isinstance(value, (ListValue, TupleValue)) else None
        if items is not None and name in ("list", "tuple", "reversed", "iter"):
            ordered = list(reversed(items)) if name == "reversed" else list(items)
            return (
                TupleValue(ordered)
                if name == "tuple"
                else ListValue(ordered, join_all(ordered), stage=frame.stage)
            )
        element = self.element_of(value, node, frame)
        if name == "tuple":
            return TupleValue(None, element)
        return ListValue(None, element, name if name in ("set", "frozenset") else "list", stage=frame.stage)

    def zipped(self, args: list[Value], node: ast.AST, frame: Frame) -> Value:
        if len(args) == 1 and isinstance(args[0], StarArgument):  # `zip(*rows)` turns rows into columns
            row = args[0].element
            if isinstance(row, TupleValue) and row.items is not None:
                return TupleValue([TupleValue(None, part) for part in row.items])
        columns = [a.items if isinstance(a, (ListValue, TupleValue)) else None for a in args]
        known = [column for column in columns if column is not None]
        if len(known) == len(args) and known and max(len(c) for c in known) <= 16:
            return TupleValue([TupleValue(list(row)) for row in zip(*known, strict=False)])
        return ListValue(None, TupleValue([self.element_of(a, node, frame) for a in args]), "iterator")

    def isinstance_result(self, value: Value, kinds: Value) -> Value:
        """What `isinstance` gives for a tracer or a concrete array, where it is certain."""
        options = kinds.elements() if isinstance(kinds, TupleValue) else [kinds]
        names = [option.name if isinstance(option, External) else "" for option in options]
        if not isinstance(value, Array):
            return _truth(_is_instance(value, options))
        if value.staged and any(name.endswith("Tracer") for name in names):
            return Static(True)  # what is asked for is no container, and who asks knows that there are both
        if not value.certain:
            return Static(kind="bool")
        if value.tree:
            # A container, or tracers: no leaf of a staged pytree is a NumPy array, a Python number or text.
            never = (
                "builtins.int",
                "builtins.float",
                "builtins.bool",
                "builtins.str",
                "builtins.bytes",
                "numpy.",
            )
            return (
                Static(False)
                if value.staged and all(n.startswith(never) for n in names)
                else Static(kind="bool")
            )
        if any(name.endswith("Tracer") for name in names):
            return Static(kind="bool")
        if any(name in ("jax.Array", "jax.numpy.ndarray") for name in names):
            return Static(True)
        plain = ("builtins.", "numpy.", "numbers.", "typing.", "collections.")
        if all(
            name.startswith(plain) or isinstance(o, ClassValue)
            for name, o in zip(names, options, strict=True)
        ):
            return Static(False)
        return Static(kind="bool")

    def super_object(self, args: list[Value], frame: Frame) -> Value:
        if len(args) == 2 and isinstance(args[0], ClassValue):
            return ExternalObject("builtins.super", args)  # `super(cls, instance)` names both
        current: Frame | None = frame
        while current is not None and (current.function is None or current.function.cls is None):
            current = current.caller
        if current is None or current.function is None or current.function.cls is None:
            return UNKNOWN
        parameters = positional_parameters(current.function.node)
        found = frame.scope.lookup(parameters[0].arg) if parameters else None
        receiver = found[0] if found else UNKNOWN
        return ExternalObject("builtins.super", [current.function.cls, receiver])

    def super_attribute(self, base: ExternalObject, name: str) -> Value:
        cls, receiver = base.args[0], base.args[1]
        assert isinstance(cls, ClassValue)
        order = receiver.cls.mro() if isinstance(receiver, Instance) else []
        parents = order[order.index(cls) + 1 :] if cls in order else cls.mro()[1:]
        for parent in parents:
            member = parent.namespace.get(name)
            if isinstance(member, (Function, Transformed)):
                return bound_to(
                    member, receiver, receiver.cls if isinstance(receiver, Instance) else receiver
                )
            if member is not None:
                return member
        return ExternalMethod(base, name)

    def method_kind(self, name: str, value: Value) -> Value:
        if isinstance(value, Function):
            value.kind = name
        elif isinstance(value, Transformed):
            value.attributes[name] = Static(True)
        return value


def _asks_for_tracers(node: ast.AST) -> bool:
    """`any(isinstance(leaf, Tracer) for leaf in leaves)`."""
    over = node.args[0] if isinstance(node, ast.Call) and node.args else None
    test = over.elt if isinstance(over, (ast.GeneratorExp, ast.ListComp)) else None
    return (
        isinstance(test, ast.Call)
        and dotted(test.func) == "isinstance"
        and len(test.args) == 2
        and dotted(test.args[1]).endswith("Tracer")
    )


def _truth(known: bool | None) -> Static:
    return Static(kind="bool") if known is None else Static(known)


def _is_callable(value: Value) -> bool | None:
    if isinstance(value, (Function, BoundMethod, Partial, Transformed, ClassValue)):
        return True
    if isinstance(value, Static):
        return False if value.const is not MISSING or value.kind in ("int", "float", "bool", "str") else None
    if isinstance(value, (TupleValue, ListValue, DictValue, NumpyArray)):
        return False
    return False if isinstance(value, Array) and not value.tree else None


def _is_instance(value: Value, options: Sequence[Value]) -> bool | None:
    """`isinstance` of what is not an array, where it is certain."""
    cls = value.cls if isinstance(value, (Instance, TupleValue)) else None
    if isinstance(value, TupleValue) and not value.exact:
        return None
    if cls is not None:
        mine = {id(parent.node) for parent in cls.mro()}
        if any(isinstance(option, ClassValue) and id(option.node) in mine for option in options):
            return True
        # A parameter may hold an instance of a subclass; a named tuple hardly does.
        plain = isinstance(value, TupleValue) and all(isinstance(option, ClassValue) for option in options)
        return False if plain else None
    kinds = [_BUILTIN_TYPES.get(option.name) if isinstance(option, External) else None for option in options]
    # Of which types what Python itself defines can be no instance.
    others = [option for option, kind in zip(options, kinds, strict=True) if kind is None]
    partial = any(isinstance(option, External) and option.name == "functools.partial" for option in others)
    known = all(_stands_alone(option) for option in others)
    if isinstance(value, Static) and value.const is not MISSING and value.const is not None:
        if isinstance(value.const, tuple(kind for kind in kinds if kind is not None)):
            return True
        return False if known else None
    if isinstance(value, (Function, BoundMethod, Partial)):
        if isinstance(value, Partial) and partial:
            return True
        return False if known else None
    for holder, own in _HOLDERS:
        if isinstance(value, holder) and (not isinstance(value, ListValue) or value.kind == "list"):
            if own in kinds:
                return True
            return False if known else None
    return None


def _stands_alone(option: Value) -> bool:
    """Whether only what is made by this class, or by one that derives from it, is an instance of it."""
    if isinstance(option, External):
        return option.name in _ALONE
    if not isinstance(option, ClassValue) or option.meta is not None:
        return False
    return all(base in ("typing.Generic", "builtins.object") for base in option.external_bases())


def _empty_sequence(name: str, frame: Frame) -> Value:
    if name == "tuple":
        return TupleValue([])
    return ListValue([], kind=name if name in ("set", "frozenset") else "list", stage=frame.stage)
