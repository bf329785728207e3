"""Attributes and subscripts: the values of `base.name` and `base[index]`."""

from __future__ import annotations

import ast
from dataclasses import replace

from jaxlint.jaxapi.names import APPLY_FN
from jaxlint.staging import events
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.datamodel import DataModel
from jaxlint.staging.evaluator.instances import Instances
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.values import (
    CONTENT,
    MISSING,
    UNKNOWN,
    Array,
    AtIndexer,
    BoundMethod,
    Choice,
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
    Origin,
    Partial,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    constant,
    find_array,
    hashable,
    in_turn,
    join_all,
)
from jaxlint.staging.values.copies import fresh
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.measured import part_of_shape


def _part_of_partial(partial: Partial, name: str) -> Value:
    """The value of `partial.func` and the like."""
    if name == "func":
        return partial.function
    if name == "args":
        return TupleValue(list(partial.args))
    return DictValue(partial.kwargs) if name == "keywords" else UNKNOWN


class Access(Part):
    """Evaluates attributes and subscripts."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.instances = machine.part(Instances)
        self.data_model = machine.part(DataModel)
        self.conversions = machine.part(Conversions)
        self.external_names: dict[tuple[str, str], External] = {}  # attributes of JAX and its ecosystem
        self.read: set[str] = set()  # attributes of unknown values that traced code read

    def eval_attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        return self.attribute_of(self.machine.language.eval(node.value, frame), node, frame)

    def attribute_of(self, base: Value, node: ast.Attribute, frame: Frame) -> Value:
        """The value of the attribute expression `node`, whose base has been evaluated."""
        if node.attr in self.machine.watched_attributes:
            self.machine.emit("attribute", events.AttributeEvent(node, frame, base, node.attr))
        if (type(base) is Unknown or (type(base) is Array and base.tree)) and frame.stage.staged:
            self.read.add(node.attr)
        return self.attribute(base, node.attr, node, frame)

    def attribute(self, base: Value, name: str, node: ast.AST, frame: Frame, quiet: bool = False) -> Value:
        """The value of `base.name`."""
        if type(base) is External:
            value = self.external_attribute(base, name, frame)
            if not quiet and type(value) is External and self.machine.wants_names:
                self.machine.name_event(value, node, frame)
            return value
        if type(base) is ModuleValue:
            return self.module_attribute(base, name, frame)
        if type(base) is Unknown:
            if name == "apply_fn":
                return ExternalObject(APPLY_FN)
            return Unknown(base.origin.child(name) if base.origin is not None else None, base.flow)
        if type(base) is Array or type(base) is NumpyArray:
            return self.machine.arrays.array_attribute(base, name, node, frame)
        if type(base) is Instance:
            return self.instances.instance_attribute(base, name, node, frame)
        if type(base) is ClassValue:
            return self.instances.class_attribute(base, name, node, frame)
        if isinstance(base, (ListValue, DictValue, TupleValue)):
            if type(base) is TupleValue and base.cls is not None:
                return self.instances.named_tuple_attribute(base, name, node, frame)
            if type(base) is TupleValue and base.items is None and type(base.element) is Array:
                return base.element if name not in ("index", "count") else ExternalMethod(base, name)
            return ExternalMethod(base, name)
        if type(base) is Transformed:
            return self.machine.staging.transformed_attribute(base, name, node, frame)
        if type(base) is AtIndexer:
            return ExternalMethod(base, name)
        if type(base) is ExternalObject:
            return self.machine.language.external_object_attribute(base, name, node, frame)
        if type(base) is Choice:
            joined = join_all([self.attribute(option, name, node, frame, quiet) for option in base.options])
            return replace(joined, every=base.every) if type(joined) is Choice else joined
        if isinstance(base, Static):
            return ExternalMethod(base, name) if not isinstance(base.const, type(None)) else UNKNOWN
        if type(base) is Function:
            found = base.defaults.get(f".{name}")
            if found is None and name == "__wrapped__":
                # an unseen decorator usually returns something like what it wraps
                return base.wraps or (replace(base, cached=False) if base.cached else base)
            return found if found is not None else UNKNOWN
        if type(base) is Partial:
            return _part_of_partial(base, name)
        if type(base) is BoundMethod and name in ("__self__", "__func__"):
            return base.receiver if name == "__self__" else base.function
        return UNKNOWN

    def external_attribute(self, base: External, name: str, frame: Frame) -> Value:
        known = self.external_names.get((base.name, name))
        if known is not None:
            return known
        if name == "__dict__":
            return UNKNOWN
        dotted = f"{base.name}.{name}"
        foreign = not self.machine.arrays.is_described(base.name)
        if foreign and name != "__name__":
            found = self.machine.project.find(dotted, frame.module)
            if found is not None:
                return self.machine.module_value(found)
        modelled = self.machine.arrays.attribute_of_module(base.name, name)
        if modelled is not None:
            return modelled
        made = External(dotted)
        if not foreign:  # equal for every module
            self.external_names[base.name, name] = made
        return made

    def module_attribute(self, base: ModuleValue, name: str, frame: Frame) -> Value:
        self.machine.language.run_module(base.module)
        value = base.scope.variables.get(name)
        known_as = self.machine.staging.known_as(base.module, name, value)
        if known_as:  # the library itself is analysed: its definitions mean what their models say
            return External(known_as, value)
        if value is not None:
            return value
        if base.module.is_package:
            child = self.machine.project.find_relative(1, name, base.module)
            if child is not None:
                return self.machine.module_value(child)
        return base.scope.from_star(name) or UNKNOWN

    def eval_subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        base = self.machine.language.eval(node.value, frame)
        index = self.machine.language.eval(node.slice, frame)
        return self.subscript(base, index, node, frame)

    def subscript(self, base: Value, index: Value, node: ast.Subscript, frame: Frame) -> Value:
        """The value of `base[index]`."""
        if isinstance(base, (Array, AtIndexer, NumpyArray)):
            return self.machine.arrays.array_item(base, index, node, frame)
        if isinstance(base, (ListValue, TupleValue)):
            return self.sequence_item(base, index, node, frame)
        if type(base) is DictValue:
            return self.dict_item(base, index, node, frame)
        if isinstance(base, Unknown):
            const = constant(index)
            if const is not MISSING and hashable(const) and base.origin is not None:
                return Unknown(base.origin.child(const), base.flow)
            return Unknown(Origin("item"), base.flow)
        if type(base) is Instance:
            answer = self.data_model.special(base, "__getitem__", [index], node, frame)
            if answer is not None:
                return answer
            if CONTENT in base.fields:
                return self.subscript(base.fields[CONTENT], index, node, frame)
            if base.staged is not None:
                return base.staged
        if type(base) is Transformed and base.kind == "pallas":
            return UNKNOWN
        if type(base) is External:
            return self.machine.arrays.item_of_external(base, index, node, frame)
        text = isinstance(base, Static) and isinstance(base.const, str)
        if text or (type(base) is ExternalObject and base.name == "builtins.range"):
            self.check_sequence_index(base, index, node, frame)
        if isinstance(base, Static) and base.kind == "shape":
            return Static(kind="int")
        if isinstance(base, ClassValue):
            return base  # a parametrised type
        return UNKNOWN

    def sequence_item(
        self, base: ListValue | TupleValue, index: Value, node: ast.Subscript, frame: Frame
    ) -> Value:
        """An item of a list or tuple, or a slice of it."""
        self.check_sequence_index(base, index, node, frame)
        const = constant(index)
        if type(base) is TupleValue and base.measured is not None:
            return part_of_shape(base, index)
        if base.items is not None and isinstance(const, int) and not isinstance(const, bool):
            if -len(base.items) <= const < len(base.items):
                return base.items[const]
            return UNKNOWN
        if type(base) is TupleValue and base.tail is not None and isinstance(const, int) and const >= 0:
            return base.head[const] if const < len(base.head) else fresh(base.tail)
        if type(index) is ExternalObject and index.name == "builtins.slice":
            return _slice(base, index)
        picked = fresh(base.element if base.items is None else join_all(base.items))
        if base.items is not None and isinstance(index, Unknown) and type(picked) is Array:
            picked.certain = False  # the element may not exist, as behind `i < len(args)`
        return picked

    def dict_item(self, base: DictValue, index: Value, node: ast.Subscript, frame: Frame) -> Value:
        """The value of a dict under a key."""
        const = constant(index)
        if isinstance(index, Static) and index.one_of and base.element is None:
            return in_turn(base.items[key] for key in index.one_of if key in base.items)
        if type(index) is Array and index.staged and base.items:
            self.machine.emit("index", events.IndexEvent(node, frame, base, index, "dict"))
        if const is not MISSING and hashable(const) and const in base.items:
            return base.items[const]
        if base.element is not None:
            known = const is not MISSING and hashable(const)
            element = base.element if known else join_all(base.elements())
            if isinstance(element, (Array, Unknown)) and element.origin is not None and known:
                # The value of one key, not of another.
                element = replace(element, origin=element.origin.child(const))
            return element
        return join_all(base.items.values()) if const is MISSING and base.items else UNKNOWN

    def check_sequence_index(self, base: Value, index: Value, node: ast.Subscript, frame: Frame) -> None:
        if find_array(index, True, 1) is not None:
            self.machine.emit("index", events.IndexEvent(node, frame, base, index, "list"))
        self.conversions.read_index(index, node, frame)
        self.check_slice(base, index, node, frame)

    def check_slice(self, base: Value, part: Value, node: ast.Subscript, frame: Frame) -> None:
        """Emits an event for a traced bound of a slice, in an index or in a part of it."""
        if type(part) is ExternalObject and part.name == "builtins.slice":
            for bound in part.args:
                if find_array(bound, True, 0) is not None:
                    self.machine.emit("index", events.IndexEvent(node, frame, base, bound, "slice"))


def _slice(base: ListValue | TupleValue, index: ExternalObject) -> Value:
    bounds = [constant(bound) for bound in index.args]
    known = all(bound is None or isinstance(bound, int) for bound in bounds)
    if base.items is not None and known and bounds[2:] != [0]:  # Python raises for a step of zero
        items = base.items[slice(*bounds)]
        return TupleValue(items) if isinstance(base, TupleValue) else ListValue(items, join_all(items))
    element = base.element if base.items is None else join_all(base.items)
    if isinstance(base, TupleValue):
        return TupleValue(None, element)
    from_start = known and bounds[0] in (None, 0) and bounds[2:] in ([], [None], [1])
    kept = base.head[: bounds[1]] if from_start and (bounds[1] is None or bounds[1] > 0) else ()
    return ListValue(None, element, head=kept)
