"""Attributes of instances and classes: reads and writes."""

from __future__ import annotations

import ast
from collections import deque

from jaxlint.jaxapi.names import canonical, public_class
from jaxlint.staging import events
from jaxlint.staging.evaluator.datamodel import DataModel
from jaxlint.staging.evaluator.frozen_classes import refusing
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.values import (
    ANY_NAME,
    CALLABLE,
    CONTENT,
    MISSING,
    UNKNOWN,
    Array,
    BoundMethod,
    Choice,
    ClassValue,
    DictValue,
    External,
    ExternalMethod,
    ExternalObject,
    Function,
    Instance,
    Partial,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    bound_to,
    counts_on,
    find_array,
    is_none,
    join,
    member_kind,
    some,
    without_number,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.class_models import (
    PLAIN,
    class_member,
    is_field_maker,
    model_of_class,
    test_member,
)
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.pytrees import is_kept
from jaxlint.staging.values.stores import opened
from jaxlint.syntax.facts import (
    dotted,
    last_name,
    nodes_of,
    positional_parameters,
    stored_and_returned,
    stores_what_it_gets,
)

WRITTEN_INIT = "dataclasses.dataclass.__init__"


class Instances(Part):
    """Evaluates the attributes of instances and classes."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.data_model = machine.part(DataModel)
        self.heirs: dict[ast.AST, list[ClassValue]] = {}  # the subclasses of each class

    def instance_attribute(self, base: Instance, name: str, node: ast.AST, frame: Frame) -> Value:
        if "__getattribute__" in self.data_model.hooks:
            self.data_model.implied(base, "__getattribute__", [Static(name)], node, frame)
        found = base.fields.get(name)
        if found is None and not base.ready and base.cls.model.set_up:
            self.run_setup(base, node, frame)
            found = base.fields.get(name)
        elif (
            type(found) is Array
            and found.staged
            and not frame.stage.staged
            and base.cls.model.set_up == "each use"
        ):
            # flax calls `setup` for each use of a module: what it stored in a trace stays there.
            if base.ready and base.staged is None:
                self.run_setup(base, node, frame)
                found = base.fields.get(name)
        if found is not None:
            return found
        member = self.class_member(base.cls, name)
        of_test = test_member(name) if base.cls.module.is_test else None
        if of_test is not None and _is_of_library(member, of_test):
            return External(of_test)
        if name in base.cls.model.members and _is_frameworks(base.cls, name):
            # The framework itself is analysed: its methods have their modelled meaning, and are evaluated in
            # addition.
            known = self.missing_attribute(base, name, node, frame)
            if isinstance(known, ExternalObject) and member is not None:
                known.own = BoundMethod(member, base)
            return known
        if isinstance(member, (Function, Transformed, Partial)):
            if member_kind(member) == "property":
                return self.read_property(base, name, member, node, frame)
            if name in base.cls.all_fields():
                return member  # the constructor stores the default in the object, where Python binds nothing
            return bound_to(member, base, base.cls)
        if isinstance(member, Choice) and all(map(_is_method, member.options)):
            # The result of the branches in the class body.
            return Choice([bound_to(option, base, base.cls) for option in member.options], member.every)
        if isinstance(member, Instance) and member.cls.lookup("__get__") is not None:
            return UNKNOWN  # a descriptor
        if member is not None:
            # None is the placeholder for what users of the class set.
            return UNKNOWN if base is base.cls.prototype and is_none(member) else member
        return self.missing_attribute(base, name, node, frame)

    def read_property(
        self, base: Instance, name: str, member: Function | Transformed | Partial, node: ast.AST, frame: Frame
    ) -> Value:
        result = self.machine.language.call_value(BoundMethod(member, base), Call([], {}, node, frame))
        if isinstance(member, Function) and member.cached and not frame.stage.staged:
            base.fields[name] = result  # a later trace receives the same value
        return result

    def class_member(self, cls: ClassValue, name: str) -> Value | None:
        """The class attribute of this name; a constant only if nothing in its module sets it to something else."""
        for owner in cls.mro():
            if name in owner.namespace:
                found = owner.namespace[name]
                if isinstance(found, ExternalObject) and is_field_maker(found.name):
                    return None
                if (
                    isinstance(found, Static)
                    and found.const is not MISSING
                    and name in owner.module.set_on_classes
                ):
                    return some(found.const)
                return found
        return None

    def missing_attribute(self, base: Instance, name: str, node: ast.AST, frame: Frame) -> Value:
        model = base.cls.model
        if name in model.members:
            return ExternalObject(model.members[name], [base] if name in model.bound_members else [])
        of_test = test_member(name) if base.cls.module.is_test else None
        if of_test is not None:
            return External(of_test)
        if name == "replace" and model.replaceable:
            return ExternalObject("dataclasses.replace", [base])
        if name == "_replace":
            return ExternalObject("dataclasses.replace", [base])
        if name == "__class__":
            return base.cls
        content = base.fields.get(CONTENT)
        if content is not None and hasattr(dict if isinstance(content, DictValue) else deque, name):
            return ExternalMethod(content, name)
        if not name.startswith("__"):
            answer = self.data_model.special(base, "__getattr__", [Static(name)], node, frame)
            if answer is not None and not isinstance(answer, Unknown):
                return answer
        if ANY_NAME in base.fields:
            return _one_of_the_bound(base.fields[ANY_NAME])
        if base.staged is not None and not is_kept(base.cls, name):
            array = base.staged
            return Array(array.staged, array.why, tree=True, certain=False)
        return Unknown(base.origin.child(name) if base.origin else None)

    def named_tuple_attribute(self, base: TupleValue, name: str, node: ast.AST, frame: Frame) -> Value:
        assert base.cls is not None
        names = list(base.cls.all_fields())
        if name in names and base.items is not None and len(base.items) == len(names):
            return base.items[names.index(name)]
        if name == "_replace":
            return ExternalObject("dataclasses.replace", [base])
        if name == "_fields":
            return TupleValue([Static(n) for n in names])
        member = self.class_member(base.cls, name)
        if isinstance(member, (Function, Transformed, Partial)):
            if member_kind(member) == "property":
                return self.machine.language.call_value(BoundMethod(member, base), Call([], {}, node, frame))
            return bound_to(member, base, base.cls)
        return member if isinstance(member, Static) else UNKNOWN

    def class_attribute(self, base: ClassValue, name: str, node: ast.AST, frame: Frame) -> Value:
        if base.kind == "enum":
            return _member(base)
        if name == "__init__" and base.constructor() is None and any(cls.filled for cls in base.mro()):
            return ExternalObject(WRITTEN_INIT, [base])
        member = self.class_member(base, name)
        if isinstance(member, Static) and _replaces_namespace(base):
            return UNKNOWN
        if member is not None:
            return BoundMethod(member, base) if member_kind(member) == "classmethod" else member
        if name == "__name__":
            return Static(kind="str")
        if name == "__new__":
            return External("builtins.object.__new__")
        known = class_member(map(canonical, base.external_bases()), name)
        if known is not None:
            return External(known)
        return UNKNOWN

    def set_attribute(
        self, base: Value, name: str, value: Value, target: ast.Attribute | ast.Call, frame: Frame
    ) -> None:
        """Evaluates `base.name = value`. `target` is the attribute, or the call of `setattr`."""
        if isinstance(base, (ClassValue, Function)):
            self.set_on_definition(base, name, value, target, frame)
        if isinstance(base, (Array, Unknown)) and base.origin is not None:
            base.origin.rebind(name)
        if isinstance(base, (Instance, TupleValue)) and isinstance(target, ast.Attribute):
            refused = refusing(base, name, frame, self.heirs)
            if refused is not None:
                self.machine.emit("field_store", events.FieldStoreEvent(target, frame, base, name, *refused))
        if not isinstance(base, Instance):
            return
        if base.cls.model.module and isinstance(target, ast.Attribute):
            self.machine.emit("module_store", events.ModuleStoreEvent(target, frame, base, name, value))
        if "__setattr__" in self.data_model.hooks:
            self.data_model.implied(base, "__setattr__", [Static(name), value], target, frame)
        if self.leaks_into(base, value, frame):
            holder = target.value if isinstance(target, ast.Attribute) else target.args[0]
            text = f"{dotted(holder) or 'the object'}.{name}"
            self.machine.emit("leak", events.LeakEvent(target, frame, value, f"the attribute `{text}`"))
            return
        member = base.cls.lookup(name)
        if isinstance(member, Function) and member.setter is not None:
            self.machine.language.call_function(
                member.setter, Call([base, value], {}, target, frame), frame.stage
            )
            return
        hook = base.cls.lookup("__setattr__")
        if isinstance(hook, Function) and not self.keeps_what_it_gets(base.cls, hook):
            if isinstance(value, Instance) or not isinstance(value, CALLABLE):
                value = join(value, UNKNOWN)  # the hook's result is stored
        known = base.fields.get(name)
        conditional = bool(frame.guards) or frame.repeats()
        if counts_on(known, value) and _reads_itself(target, frame) and _is_repeated(frame):
            value = without_number(value)  # another one in each iteration
        if base.published:
            opened(value)
        base.fields[name] = join(known, value) if known is not None and conditional else value

    def leaks_into(self, base: Instance, value: Value, frame: Frame) -> bool:
        """Whether `value` contains a tracer and is stored in an object from before the trace."""
        if not frame.stage.staged or not frame.stage.certain or frame.catching or frame.fills_what_is_made():
            return False
        if not (base.cls.is_ordinary or base.cls.model.by_reference) or base.staged is not None:
            return False
        array = find_array(value, True)
        return (
            array is not None
            and array.certain
            and self.made_outside(base, frame)
            and not self.is_filled_and_returned(base, frame)
        )

    def keeps_what_it_gets(self, cls: ClassValue, hook: Function) -> bool:
        """Whether a `__setattr__` stores the value unchanged, as those of the frameworks do."""
        return _is_frameworks(cls, "__setattr__") or stores_what_it_gets(hook.node)

    def set_on_definition(
        self,
        base: ClassValue | Function,
        name: str,
        value: Value,
        target: ast.Attribute | ast.Call,
        frame: Frame,
    ) -> None:
        """An attribute of a class or function lives as long as the scope of its definition."""
        if isinstance(base, ClassValue) and isinstance(value, (Function, Transformed, ClassValue)):
            base.namespace[name] = join(base.namespace.get(name, value), value) if frame.guards else value
        array = find_array(value, True)
        if array is not None and array.certain and frame.stage.staged and frame.stage.certain:
            if not frame.catching and self.machine.language.outlives_stage(base.scope, frame):
                where = f"the attribute `{base.name}.{name}`"
                self.machine.emit("leak", events.LeakEvent(target, frame, value, where))

    @staticmethod
    def is_filled_and_returned(base: Instance, frame: Frame) -> bool:
        """Whether the traced function fills the object from its arguments and returns the result."""
        current = frame
        while current.caller is not None and current.caller.home is frame.home:
            current = current.caller
        if current.function is None or current is frame:
            return False
        for name in stored_and_returned(current.function.node):
            found = current.scope.lookup(name)
            if found is not None and found[0] is base:
                return True
        return False

    def made_outside(self, base: Instance, frame: Frame) -> bool:
        """Whether the instance existed before the innermost trace began.

        It is bound in an outer frame or in the scope that defines the traced function, or an object bound there holds
        it.
        """
        current: Frame | None = frame
        while current is not None:
            outer = current.caller
            if outer is None or (outer.home is not frame.home and not outer.home.staged):
                around = [outer.scope] if outer is not None else []
                scope = current.scope.parent
                while scope is not None:
                    around.append(scope)
                    scope = scope.parent
                bound = (value for held in around for value in held.variables.values())
                return base is base.cls.prototype or any(_holds(value, base) for value in bound)
            current = outer
        return False

    def run_setup(self, instance: Instance, node: ast.AST, frame: Frame) -> None:
        instance.ready = True
        setup = instance.cls.lookup("setup")
        if isinstance(setup, Function):
            self.machine.language.call_function(setup, Call([instance], {}, node, frame), frame.stage)

    def module_call_method(self, instance: Instance) -> Value | None:
        if not instance.ready and instance.cls.model.set_up:
            setup = instance.cls.lookup("setup")
            if isinstance(setup, Function) and instance.cls.module.state == "done":
                instance.ready = False
        return instance.cls.lookup("__call__")

    def replace_fields(self, base: Value, kwargs: dict[str, Value]) -> Value:
        """`dataclasses.replace(base, **kwargs)` and similar functions."""
        if isinstance(base, Instance):
            return Instance(
                base.cls, {**base.fields, **kwargs}, base.open, base.origin, base.ready, base.staged
            )
        if isinstance(base, TupleValue) and base.cls is not None and base.items is not None:
            names = list(base.cls.all_fields())
            items = [kwargs.get(n, v) for n, v in zip(names, base.items, strict=False)]
            return TupleValue(items, cls=base.cls)
        if isinstance(base, Array):
            return Array(
                base.staged,
                base.why,
                tree=True,
                certain=base.certain,
                origin=base.origin.without(kwargs) if base.origin is not None else None,
                like=base.like or base.origin,
                jitted=base.jitted,
            )
        if isinstance(base, DictValue):
            return base
        return UNKNOWN


def _holds(value: Value, part: Instance, depth: int = 2) -> bool:
    """Whether a value is `part`, or an ordinary object that has it in an attribute."""
    if value is part:
        return True
    if (
        depth == 0
        or not isinstance(value, Instance)
        or value.staged is not None
        or value.cls.model is not PLAIN
    ):
        return False
    return any(_holds(field, part, depth - 1) for field in value.fields.values())


def _is_frameworks(cls: ClassValue, name: str) -> bool:
    """Whether a framework's base class defines `name`."""
    owner = next((owner for owner in cls.mro() if name in owner.namespace), None)
    return owner is not None and model_of_class(public_class(owner.module.name, owner.name)) is not None


def _is_of_library(member: Value | None, known_as: str) -> bool:
    """Whether the library itself is analysed, whose test cases have the property."""
    return isinstance(member, Function) and member.module.name.partition(".")[0] == known_as.partition(".")[0]


def _one_of_the_bound(value: Value) -> Value:
    """One value of several stored under different names: the name decides which arguments a function is bound to."""
    if isinstance(value, Choice) and any(isinstance(option, Partial) for option in value.options):
        return Choice(value.options)
    return value


def _is_method(member: Value) -> bool:
    return isinstance(member, (Function, Transformed, Partial)) and member_kind(member) != "property"


def _replaces_namespace(cls: ClassValue) -> bool:
    """Whether its metaclass builds a class from another namespace than the class body, like enumerations."""
    meta = next((owner.meta for owner in cls.mro() if isinstance(owner.meta, ClassValue)), None)
    new = meta.lookup("__new__") if meta is not None else None
    if not isinstance(new, Function):
        return False
    body = [parameter.arg for parameter in positional_parameters(new.node)][3:4]
    makes = [call for call in nodes_of(new.node, ast.Call) if last_name(call.func) == "__new__" and call.args]
    return any([last.id] != body if isinstance(last := call.args[-1], ast.Name) else True for call in makes)


def _member(cls: ClassValue) -> Static:
    """A member of an enum. Those of an `IntEnum` are numbers to JAX, and are traced."""
    integers = {"enum.IntEnum", "enum.IntFlag", "builtins.int"}
    return Static(kind="enum" if integers.isdisjoint(cls.external_bases()) else "int")


def _is_repeated(frame: Frame) -> bool:
    """Whether a loop of a frame, or of its callers, runs the code again and again."""
    return any(one.repeats() for one in (frame, *frame.callers()))


def _reads_itself(target: ast.Attribute | ast.Call, frame: Frame) -> bool:
    """Whether an assignment computes an attribute from itself: `self.index = (self.index + 1) % self.size`."""
    statement = frame.module.parents.get(target)
    if isinstance(statement, ast.AugAssign):
        return True
    value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    path = dotted(target)
    return value is not None and any(dotted(part) == path for part in nodes_of(value, ast.Attribute))
