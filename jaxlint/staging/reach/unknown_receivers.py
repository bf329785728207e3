"""Method calls on unknown receivers: the project classes that define a method of that name, if they are few.

In `x.add_axis(index)` with an unknown `x`, no array, container or string has such a method, so `x` belongs to one of
the classes that do. The consequences are never certain.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from jaxlint.jaxapi.array_members import (
    ARRAY_ATTRIBUTES,
    ARRAY_METHODS,
    AXIS_METHODS,
    CONVERTING_METHODS,
    NUMPY_ONLY_METHODS,
    STATIC_ATTRIBUTES,
)
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.datamodel import DataModel
from jaxlint.staging.evaluator.expressions import Expressions
from jaxlint.staging.evaluator.failures import Contained
from jaxlint.staging.evaluator.instances import Instances
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.narrowing import Narrowing
from jaxlint.staging.evaluator.scopes import Guessing, Staged, WithoutNames
from jaxlint.staging.module import Module
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    BoundMethod,
    ClassValue,
    Function,
    Instance,
    OptionalName,
    Scope,
    StarArgument,
    Transformed,
    Unknown,
    Value,
    bound_to,
    join_all,
    uncertain,
    unknown_of,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.pytrees import is_pytree, tracer_in
from jaxlint.staging.values.stage import HOST, Stage, Why
from jaxlint.syntax.facts import (
    element_type,
    loops_over,
    named_type,
    parameter_annotations,
    positional_parameters,
)

MAX_CLASSES = 3  # classes that define the method independently of each other
MAX_FAMILY = 100  # classes that override each other's
# Methods of Python's own types, which an unknown object may be too, and methods that objects of every library have.
COMMON = (
    frozenset(name for kind in (str, bytes, list, dict, set, tuple, int, float, complex, slice) for name in dir(kind))
    | ARRAY_ATTRIBUTES
    | ARRAY_METHODS
    | CONVERTING_METHODS
    | NUMPY_ONLY_METHODS
    | STATIC_ATTRIBUTES
    | frozenset(
        ["at", "read", "write", "close", "open", "run", "start", "stop", "step", "reset", "apply", "init", "call", "main", "get_params", "set", "next", "send", "submit", "result", "wait", "put", "register", "forward", "save", "load", "log", "info", "debug", "warning", "error", "parse", "build", "name", "add_argument"]
    )
)  # fmt: skip


# A call of a method that a class leaves to subclasses: the method, its receiver and the stage.
LeftOpen = tuple[Function, Value, Call, Stage]
Awaited = tuple[Value, Call, Stage]  # the callee and the stage


class Receivers(Part):
    """Evaluates method calls on unknown receivers."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.calls = machine.part(Calls)
        self.instances = machine.part(Instances)
        self.data_model = machine.part(DataModel)
        self.expressions = machine.part(Expressions)
        self.narrowing = machine.part(Narrowing)
        # Classes with an object seen inside a stage.
        self.inside: dict[ast.AST, tuple[ClassValue, Why | None]] = {}
        # Calls of methods that a class leaves to subclasses.
        self.left_open: dict[ast.AST, list[LeftOpen]] = {}
        # calls that may have such an object as receiver, by class
        self.waiting: dict[ast.AST, list[Awaited]] = {}
        self.awaited: list[Awaited] = []
        # Classes by the library whose classes they derive from.
        self.extending: dict[str, list[ClassValue]] = {}
        # Project classes by the methods that they define.
        self.defining: dict[str, list[ClassValue]] = {}
        self.defining_common: dict[str, list[ClassValue]] = {}  # those that objects of every library have

    def call_on_unknown(self, base: Value, name: str, call: Call) -> Value | None:
        """The result of the method `name` of an unknown value; None if it could mean too much."""
        node, frame = call.node, call.frame
        is_call = name == "__call__"
        assert isinstance(node, ast.Call)
        if self.machine.exhausted() or (
            not is_call and (name in COMMON or name.startswith("__") or name not in self.defining)
        ):
            return None
        given = call.inputs
        traced = any(tracer_in(part) is not None for part in given)
        if not traced and not isinstance(base, Array):
            return None
        declared = self.declared_class(node.func if is_call else receiver_of(node.func), frame)
        if not is_call:
            found = self.possible_classes(name, declared, frame)
        else:
            found = self.family(declared, name, frame) if declared is not None else []
        classes = [cls for cls in found if takes(cls.namespace[name], call.args, call.kwargs)]
        if not traced:  # the only other possible tracer is the object itself
            classes = [cls for cls in classes if is_pytree(cls)]
        return self.call_one_of(classes, declared is not None, base, name, call)

    def call_one_of(
        self, classes: list[ClassValue], declared: bool, base: Value, name: str, call: Call
    ) -> Value | None:
        """Calls the method of each class that an unknown value may belong to, in a stage that is not certain."""
        frame = call.frame
        roots = [
            cls for cls in classes if not any(other is not cls and other in cls.mro() for other in classes)
        ]
        if not classes or len(roots) > (MAX_FAMILY if declared else MAX_CLASSES):
            return None
        doubted = [uncertain(part) for part in call.args]
        named = {key: uncertain(part) for key, part in call.kwargs.items()}
        with Staged(frame, replace(frame.stage, certain=False)), Guessing(self.machine):
            if len(classes) > MAX_CLASSES:
                if frame.module.is_test or len(classes) > MAX_FAMILY:
                    return None  # a test means one of them
                for cls in classes:
                    method = BoundMethod(cls.namespace[name], self.possible_instance(cls, base, frame))
                    self.call_implicitly_inside(cls, method, call.passing(doubted, named))
                return None
            results = [
                self.calls.call_value(
                    self.possible_method(cls, name, base, frame), call.passing(doubted, named)
                )
                for cls in classes
            ]
        result = uncertain(join_all(results))
        if isinstance(result, Array) and result.dtype and not declared:
            return replace(result, dtype="")  # it is unknown which method is meant
        return result

    def call_made_of(self, callee: Unknown, call: Call) -> Value:
        """Calls what an unknown value was made from, as a library's wrapper does, in a stage that is not certain."""
        frame = call.frame
        given = call.inputs
        if (
            not frame.stage.staged
            or self.machine.exhausted()
            or all(tracer_in(part) is None for part in given)
        ):
            self.machine.tracking.pass_to_unknown([callee, *given], call.node, frame)
            return unknown_of(given)
        doubted = [uncertain(part) for part in call.args]
        named = {key: uncertain(part) for key, part in call.kwargs.items()}
        with Staged(frame, replace(frame.stage, certain=False)), Guessing(self.machine):
            results = [self.calls.call_value(part, call.passing(doubted, named)) for part in callee.made_of]
        return uncertain(join_all(results))

    def call_overrides(self, function: Function, frame: Frame) -> None:
        """A call of a method that its class leaves to subclasses: evaluates theirs."""
        names = [parameter.arg for parameter in positional_parameters(function.node)]
        bound = frame.scope.variables
        receiver = bound[names[0]] if names else UNKNOWN
        if self.machine.guessing or not isinstance(receiver, Instance):
            return  # for an unknown receiver the whole family has been called
        args = [uncertain(bound[name]) for name in names[1:]]
        named = {p.arg: uncertain(bound[p.arg]) for p in function.node.args.kwonlyargs}
        traced = [tracer_in(part) is not None for part in (*args, *named.values())]
        key = (receiver.cls.node, function.node, frame.stage.key, *traced)
        if not any(traced) or key in self.data_model.implications:
            return
        self.data_model.implications.add(key)
        call = Call(args, named, function.node, frame)
        left_open = (function, receiver, call, replace(frame.stage, certain=False))
        self.left_open.setdefault(receiver.cls.node, []).append(left_open)
        for heir in self.instances.heirs.get(receiver.cls.node, [])[:MAX_FAMILY]:
            self.await_override(heir, left_open)

    def await_override(self, heir: ClassValue, left_open: LeftOpen) -> None:
        """Evaluates a subclass's version of an abstract method once it is called."""
        function, receiver, call, stage = left_open
        method = heir.namespace.get(function.name)
        if not isinstance(method, (Function, Transformed)) or not takes(method, call.args, call.kwargs):
            return
        if heir.module.is_test and heir.module is not call.frame.module:
            return
        leaves = receiver.staged if isinstance(receiver, Instance) else None
        owner = heir.prototype or self.possible_instance(heir, leaves or UNKNOWN, call.frame)
        self.awaited.append((BoundMethod(method, owner), call, stage))

    def note_subclass(self, cls: ClassValue) -> None:
        """Records a class by its base classes. Of a class created at every call of a function, the last one counts."""
        if cls.kind == "plain" and not cls.module.is_test:
            for library in {name.partition(".")[0] for name in cls.external_bases()}:
                self.extending.setdefault(library, []).append(cls)
        for base in cls.mro():
            if base is not cls:
                known = self.instances.heirs.setdefault(base.node, [])
                known[:] = [other for other in known if other.node is not cls.node]
                known.append(cls)
                for left_open in self.left_open.get(base.node, ()):
                    self.await_override(cls, left_open)

    def made(self, cls: ClassValue, frame: Frame) -> None:
        """An object of the class is created. If it is not a pytree, a stage captures it."""
        if (
            cls.node not in self.inside
            and not self.machine.guessing
            and (frame.stage.staged or not is_pytree(cls))
        ):
            self.enters_stage(cls, frame.stage.why)

    def enters_stage(self, cls: ClassValue, why: Why | None) -> None:
        """An object of the class is seen inside a stage."""
        if cls.node not in self.inside:
            for owner in cls.mro():
                self.inside.setdefault(owner.node, (owner, why))
                self.awaited.extend(self.waiting.pop(owner.node, ()))

    def call_implicitly_inside(self, cls: ClassValue, method: Value, call: Call) -> None:
        """Like `call_implicitly`, once an object of `cls` is seen inside a stage: one of many that a call may mean."""
        if cls.node in self.inside:
            self.data_model.call_implicitly(method, call)
            return
        traced = [tracer_in(part) is not None for part in call.inputs]
        key = (
            cls.node,
            id(method.function.node)
            if isinstance(method, BoundMethod) and isinstance(method.function, Function)
            else id(method),
            call.frame.stage.key,
            *traced,
        )
        if key not in self.data_model.implications:
            self.data_model.implications.add(key)
            self.waiting.setdefault(cls.node, []).append((method, call, call.frame.stage))

    def run_awaited(self) -> None:
        """Evaluates calls that waited for an object inside a stage."""
        while self.awaited:
            method, call, stage = self.awaited.pop()
            frame = call.frame
            with Contained(self.machine, frame.module, frame), Staged(frame, stage), Guessing(self.machine):
                self.data_model.call_implicitly(method, call)

    def possible_method(self, cls: ClassValue, name: str, base: Value, frame: Frame) -> Value:
        """The method `name` of `base`, assuming that it is an instance of `cls`."""
        return bound_to(cls.namespace[name], self.possible_instance(cls, base, frame), cls)

    def note_methods(self, cls: ClassValue) -> None:
        """Records a class by the methods that it defines. Of a class created at every call of a function, the last
        one counts."""
        self.note_subclass(cls)
        for name, member in cls.own_members():
            if name in AXIS_METHODS or name in ARRAY_METHODS:
                self.machine.array_like.add(name)
            if isinstance(member, (Function, Transformed)) and not name.startswith("__"):
                if isinstance(member, Function) and member.kind:
                    continue  # a property, or not a method of instances
                known = (self.defining_common if name in COMMON else self.defining).setdefault(name, [])
                known[:] = [other for other in known if other.node is not cls.node]
                known.append(cls)

    def with_method(self, name: str) -> list[ClassValue]:
        """The classes of the project, its tests left out, that define a method."""
        known = self.defining_common if name in COMMON else self.defining
        return [cls for cls in known.get(name, ()) if not cls.module.is_test]

    def possible_instance(self, cls: ClassValue, base: Value, frame: Frame) -> Value:
        if not is_pytree(cls):
            return Instance(cls, {}, True, getattr(base, "origin", None), ready=True)
        if isinstance(base, Array):
            return Instance(
                cls, {}, True, base.origin, ready=True, staged=replace(base, certain=False, tree=True)
            )
        return self.narrowing.some_instance(cls, base if isinstance(base, Unknown) else UNKNOWN, frame)

    def possible_classes(self, name: str, declared: ClassValue | None, frame: Frame) -> list[ClassValue]:
        """The classes that define the method, limited to those that an annotation allows."""
        found = [cls for cls in self.defining[name] if not cls.module.is_test or cls.module is frame.module]
        if declared is None:
            return found
        inherited = declared.lookup(name)
        return [cls for cls in found if declared in cls.mro() or cls.namespace[name] is inherited]

    def family(self, declared: ClassValue, name: str, frame: Frame) -> list[ClassValue]:
        """The class in an annotation and its subclasses, if they define the method."""
        return [
            cls
            for cls in (declared, *self.instances.heirs.get(declared.node, ()))
            if isinstance(cls.namespace.get(name), (Function, Transformed))
            and (not cls.module.is_test or cls.module is frame.module)
        ]

    def declared_class(self, node: ast.expr | None, frame: Frame) -> ClassValue | None:
        """The class in an annotation: of a parameter, a field, or the items that a loop iterates over."""
        if frame.function is None:
            return None
        if isinstance(node, ast.Name):
            annotation = parameter_annotations(frame.function.node).get(node.id)
            if annotation is not None:
                return self.class_named(annotation, frame.module, frame.function.scope)
            return self.declared_field(loops_over(frame.function.node).get(node.id), element_type, frame)
        return self.declared_field(node, named_type, frame)

    def declared_field(
        self, node: ast.expr | None, part: Callable[[ast.expr | None], ast.expr | None], frame: Frame
    ) -> ClassValue | None:
        """The class that `part` of a field's annotation names, as for `self.field`."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return None
        found = frame.scope.lookup(node.value.id)
        if found is None or not isinstance(found[0], Instance):
            return None
        for owner in found[0].cls.mro():
            if node.attr in owner.fields:
                annotation = part(owner.fields[node.attr].annotation)
                return self.class_named(annotation, owner.module, owner.scope) if annotation else None
        return None

    def class_named(self, annotation: ast.expr, module: Module, scope: Scope) -> ClassValue | None:
        """The project class that an annotation names."""
        value = self.annotated(annotation, module, scope)
        return value if isinstance(value, ClassValue) else None

    def annotated(self, annotation: ast.expr, module: Module, scope: Scope) -> Value:
        """The value of an annotation at its place."""
        with WithoutNames(self.machine, False):
            return self.expressions.eval(annotation, Frame(None, module, scope, HOST))


def receiver_of(func: ast.expr) -> ast.expr | None:
    """The receiver of a method."""
    return func.value if isinstance(func, ast.Attribute) else None


def takes(method: Value, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """Whether a method accepts these arguments."""
    if not isinstance(method, Function):
        return True
    arguments = method.node.args
    positional = positional_parameters(method.node)
    names = {parameter.arg for parameter in (*positional, *arguments.kwonlyargs)}
    open_ended = "**" in kwargs or any(isinstance(part, StarArgument) for part in args)
    if arguments.kwarg is None and not names.issuperset(
        name for name in kwargs if name != "**" and type(name) is not OptionalName
    ):
        return False
    if arguments.vararg is None and len(args) + 1 > len(positional):
        return False
    required = [parameter.arg for parameter in positional[: len(positional) - len(arguments.defaults)]]
    return open_ended or all(name in kwargs for name in required[len(args) + 1 :])
