"""Assignments: names, attributes, items and unpacking."""

from __future__ import annotations

import ast
from typing import Any

from jaxlint.staging import events
from jaxlint.staging.evaluator.access import Access
from jaxlint.staging.evaluator.container_methods import ContainerMethods
from jaxlint.staging.evaluator.containers import Containers
from jaxlint.staging.evaluator.datamodel import DataModel
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.instances import Instances
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.evaluator.scopes import (
    Assigning,
)
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    DictValue,
    Instance,
    ListValue,
    NumpyArray,
    Origin,
    Static,
    TupleValue,
    Unknown,
    Value,
    constant,
    counts_on,
    find_array,
    join,
    join_all,
    shortened,
    stand_in,
    without_number,
)
from jaxlint.staging.values.copies import fresh
from jaxlint.staging.values.forms import row
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.measured import name_size, unpacked_shape
from jaxlint.staging.values.pytrees import is_pytree
from jaxlint.staging.values.stage import Stage
from jaxlint.syntax.facts import (
    dotted,
    place_of,
    steps_on,
)


class Assignments(Part):
    """Binds and unbinds targets."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.access = machine.part(Access)
        self.function_calls = machine.part(FunctionCalls)
        self.instances = machine.part(Instances)
        self.containers = machine.part(Containers)
        self.data_model = machine.part(DataModel)
        self.container_methods = machine.part(ContainerMethods)
        self.operators = machine.part(Operators)

    def exec_assign(self, node: ast.Assign, frame: Frame) -> None:
        with Assigning(frame, node):
            value = self.machine.language.eval(node.value, frame)
        if frame.stage.staged and type(node.value) is ast.BinOp and steps_on(node):
            self.note_side_effect(node.targets[0], value, frame)
        elif type(value) is Static and frame.repeats() and type(node.value) is ast.BinOp and steps_on(node):
            value = without_number(value)  # another one in each iteration
        if isinstance(value, (Unknown, Array)):
            value = self.as_before(node, value, frame)
        shared = (
            self.machine.tracking.held(node.value, value, frame)
            if self.machine.donates and not frame.stage.staged
            else None
        )
        for target in node.targets:
            self.assign(target, value, frame, node)
        if shared is not None:
            for target in node.targets:
                self.machine.tracking.bind_buffers(target, shared, frame)
        elif self.machine.donates and len(node.targets) > 1 and not frame.stage.staged:
            self.machine.tracking.bind_together(node.targets, value, frame)

    def as_before(self, node: ast.Assign, value: Unknown | Array, frame: Frame) -> Value:
        """`model = prepare(model)` with an unknown `prepare`: still a model, with other contents."""
        target, call = node.targets[0], node.value
        if not (type(target) is ast.Name and type(call) is ast.Call and call.args):
            return value
        given = call.args[0]
        if not (type(given) is ast.Name and given.id == target.id) or not is_unclear(value):
            return value
        found = frame.scope.lookup(target.id)
        before = found[0] if found is not None else None
        if type(before) is not Instance or not is_pytree(before.cls):
            return value
        fields = {name: stand_in(part) for name, part in before.fields.items()}
        staged = value if type(value) is Array and value.staged else before.staged
        return Instance(before.cls, fields, True, ready=before.ready, staged=staged)

    def exec_annassign(self, node: ast.AnnAssign, frame: Frame) -> None:
        self.function_calls.annotation(node.annotation, frame)
        if node.value is not None:
            self.assign(node.target, self.machine.language.eval(node.value, frame), frame, node)

    def exec_augassign(self, node: ast.AugAssign, frame: Frame) -> None:
        value = self.machine.language.eval(node.value, frame)
        if isinstance(node.target, ast.Subscript):
            base = self.machine.language.eval(node.target.value, frame)
            index = self.machine.language.eval(node.target.slice, frame)
            current = self.access.subscript(base, index, node.target, frame)
            if frame.stage.staged:
                self.note_count_in(base, value, node.target, frame)
            combined = self.operators.binary(current, value, node.op, node, frame)
            self.container_methods.store_item(base, index, combined, node.target, node, frame, node.op)
            return
        if frame.stage.staged:
            self.note_side_effect(node.target, value, frame)
        current = self.machine.language.eval(node.target, frame)
        if isinstance(current, ListValue) and isinstance(node.op, ast.Add):
            self.container_methods.extend_list(current, value, node, frame)
            return
        if isinstance(current, NumpyArray) and current.shares:
            self.machine.emit("store", events.StoreEvent(node, frame, current, value, node.target, node.op))
        result = self.data_model.operate_in_place(current, node.op, value, node, frame)
        if counts_on(current, result) and frame.repeats() and not frame.stage.staged:
            result = without_number(result)  # another one in each iteration
        self.assign(node.target, result, frame, node)

    def note_side_effect(self, target: ast.expr, value: Value, frame: Frame) -> None:
        """Emits an event if traced code increments a counter outside the trace."""
        if not isinstance(value, Static) or not frame.stage.certain or frame.catching:
            return
        if isinstance(target, ast.Name):
            scope = frame.scope.target_scope(target.id)
            if scope is not frame.scope and self.outlives_stage(scope, frame):
                where = f"the outer variable `{target.id}`"
                self.machine.emit("side_effect", events.SideEffectEvent(target, frame, where))
        elif isinstance(target, ast.Attribute):
            base = self.machine.language.eval(target.value, frame)
            plain = isinstance(base, Instance) and base.cls.is_ordinary
            if isinstance(base, Instance) and plain and self.instances.made_outside(base, frame):
                where = f"the attribute `{ast.unparse(target)}`"
                self.machine.emit("side_effect", events.SideEffectEvent(target, frame, where))

    def note_count_in(self, container: Value, value: Value, target: ast.Subscript, frame: Frame) -> None:
        """Emits an event if traced code counts in a dict or list outside the trace: `calls["f"] += 1`."""
        if not isinstance(value, Static) or not frame.stage.certain or frame.catching:
            return
        if isinstance(container, (DictValue, ListValue)) and container.stage is not frame.stage:
            name = self.container_methods.container_name(container, frame)
            if name and getattr(container.stage, "kind", "") == "host":
                self.machine.emit("side_effect", events.SideEffectEvent(target, frame, name))

    def exec_delete(self, node: ast.Delete, frame: Frame) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                frame.scope.variables.pop(target.id, None)
                self.machine.tracking.forget_place(target.id, frame)
            elif isinstance(target, ast.Subscript):
                base = self.machine.language.eval(target.value, frame)
                self.machine.language.eval(target.slice, frame)
                if isinstance(base, ListValue):
                    shortened(base)
                if self.machine.donates and (place := place_of(target)):
                    self.machine.tracking.forget_place(place, frame)

    def exec_global(self, node: ast.Global, frame: Frame) -> None:
        frame.scope.globals.update(node.names)

    def exec_nonlocal(self, node: ast.Nonlocal, frame: Frame) -> None:
        frame.scope.nonlocals.update(node.names)

    def assign(self, target: ast.expr, value: Value, frame: Frame, node: ast.AST) -> None:
        if type(target) is ast.Name:
            self.assign_name(target, value, frame)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value, frame, node)
        elif type(target) is ast.Attribute:
            base = self.machine.language.eval(target.value, frame)
            self.instances.set_attribute(base, target.attr, value, target, frame)
            if self.machine.donates:
                self.machine.tracking.forget_place(place_of(target), frame)
        elif type(target) is ast.Subscript:
            base = self.machine.language.eval(target.value, frame)
            index = self.machine.language.eval(target.slice, frame)
            if not self.put_into_object(target, constant(index), value, frame):
                self.container_methods.store_item(base, index, value, target, node, frame, None)
            if self.machine.donates and type(target.slice) is ast.Constant:
                self.machine.tracking.forget_place(place_of(target), frame)
        elif type(target) is ast.Starred:
            self.assign(target.value, value, frame, node)

    def put_into_object(self, target: ast.Subscript, name: object, value: Value, frame: Frame) -> bool:
        """`x.__dict__["name"] = value`: tests and caches thereby set what the class would compute."""
        place = target.value
        if not isinstance(place, ast.Attribute) or place.attr != "__dict__" or not dotted(place):
            return False
        if not isinstance(name, str):
            return False
        holder = self.machine.language.eval(place.value, frame)
        if isinstance(holder, Instance) and not frame.stage.staged:
            known = holder.fields.get(name)
            holder.fields[name] = value if known is None or not frame.guards else join(known, value)
        return isinstance(holder, Instance)

    def assign_name(self, target: ast.Name, value: Value, frame: Frame) -> None:
        scope = frame.scope.target_scope(target.id)
        if scope is not frame.scope and frame.stage.staged and not frame.catching:
            array = find_array(value, True)
            if array is not None and self.outlives_stage(scope, frame):
                self.machine.emit(
                    "leak", events.LeakEvent(target, frame, value, f"the outer variable `{target.id}`")
                )
        if isinstance(value, Unknown) and value.origin is None:
            value = Unknown(
                Origin(target.id),
                value.flow,
                made_of=value.made_of,
                answer=value.answer,
                measured=value.measured,
            )
        elif type(value) is Array and value.origin is not None:
            if value.role == "key" or value.origin.name.startswith("part "):
                value.origin.name = target.id  # messages name a key as the program does
        elif type(value) is Unknown or (type(value) is Static and value.measured is not None):
            name_size(value, target.id)
        scope.variables[target.id] = value
        if self.machine.arrays_seen is not None:
            self.machine.arrays_seen.bind(target, value, frame)
        if self.machine.donates:
            self.machine.tracking.forget_place(target.id, frame)

    def outlives_stage(self, scope: Any, frame: Frame) -> bool:
        """Whether `scope` belongs to a call outside the innermost trace that still runs or has left a closure."""
        home: Stage | None = scope.stage
        current: Frame | None = frame
        while current is not None:
            if current.scope is scope:
                home = current.home
                break
            current = current.caller
        if home is None:
            return True
        return home is not frame.home and not (home.staged and frame.home.kind == home.kind)

    def unpack(self, target: ast.Tuple | ast.List, value: Value, frame: Frame, node: ast.AST) -> None:
        answer = self.data_model.special(value, "__iter__", [], node, frame)
        value = self.machine.staging.transformed_pair(value, node, frame) if answer is None else answer
        count = len(target.elts)
        star = next((i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)), None)
        measured = type(value) is TupleValue and value.measured is not None
        if star is None and (measured or type(value) is Array):
            self.machine.emit("unpack", events.UnpackEvent(target, frame, value, count))
        if type(value) is TupleValue and value.measured is not None and star is None:
            certain = not (frame.guards or frame.asked_kinds or frame.catching)
            sizes = unpacked_shape(value, count, certain)
            if sizes is not None:
                value = TupleValue(sizes)
        if isinstance(value, (TupleValue, ListValue)) and value.items is not None:
            items = value.items
            if star is None and len(items) == count:
                for part, item in zip(target.elts, items, strict=True):
                    self.assign(part, item, frame, node)
                return
            if star is not None and len(items) >= count - 1:
                tail = count - star - 1
                head, rest = items[:star], items[star : len(items) - tail]
                last = items[len(items) - tail :] if tail else []
                for part, item in zip(target.elts[:star], head, strict=True):
                    self.assign(part, item, frame, node)
                self.assign(target.elts[star], ListValue(list(rest), join_all(rest)), frame, node)
                for part, item in zip(target.elts[star + 1 :], last, strict=True):
                    self.assign(part, item, frame, node)
                return
            value = UNKNOWN  # it raises, or the value is not what it seems
        for position, part in enumerate(target.elts):
            if isinstance(part, ast.Starred):
                element = self.part_of(value, None, part, frame)
                self.assign(part.value, ListValue(None, element), frame, node)
            else:
                self.assign(part, self.part_of(value, position, part, frame), frame, node)

    def part_of(self, value: Value, position: int | None, node: ast.AST, frame: Frame) -> Value:
        """The value at `position` of the unpacked value."""
        if isinstance(value, (TupleValue, ListValue)):
            return fresh(value.element)
        if type(value) is Array:
            exact = not value.tree
            # A fresh split gives new keys at every evaluation; a part of a parameter is the same each time.
            origin = (
                value.origin.child(position) if value.origin is not None and position is not None else None
            )
            if origin is None:
                origin = Origin(f"part {position}")
                origin.several = position is None
            return Array(
                value.staged,
                value.why,
                tree=value.tree,
                certain=value.certain,
                origin=origin,
                # A Ref is not iterable: what a kernel unpacks is a pytree of Refs.
                role=value.role if value.role in ("key", "ref") else "",
                jitted=value.jitted,
                dtype=value.dtype if exact else "",
                flow=value.flow,
                form=row(value) if exact else None,
            )
        if isinstance(value, Unknown):
            origin = value.origin.child(position) if value.origin and position is not None else None
            return Unknown(origin, value.flow)
        if type(value) is Instance:
            return UNKNOWN
        if isinstance(value, Static):
            return Static(kind="int") if value.kind == "shape" else Static()
        return self.containers.element_of(value, node, frame)


def is_unclear(value: Unknown | Array) -> bool:
    """Whether the value may be anything, an array or not."""
    return type(value) is Unknown or (isinstance(value, Array) and value.tree and not value.certain)
