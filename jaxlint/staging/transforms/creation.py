"""A transformed function without a call: evaluated with arguments made up from its signature."""

from __future__ import annotations

import ast

from jaxlint.jaxapi.transforms import JIT_KINDS, PRIMITIVE_RULES, TRANSPOSES, Transform
from jaxlint.staging import events
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.classes import Classes
from jaxlint.staging.evaluator.expressions import Expressions
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.scopes import ExpectingErrors, WithoutNames
from jaxlint.staging.reach.entry_points import Entry
from jaxlint.staging.tracking.meshes import bound_axes
from jaxlint.staging.transforms.boundary import Boundary
from jaxlint.staging.transforms.kernel_references import forms_of_references
from jaxlint.staging.transforms.specs import spec_of
from jaxlint.staging.transforms.staged_arguments import StagedArguments
from jaxlint.staging.values import (
    Array,
    ClassValue,
    DictValue,
    Function,
    Instance,
    ListValue,
    Origin,
    Scope,
    StarArgument,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    innermost,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.constants import constant_numbers
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.labels import label_of
from jaxlint.staging.values.stage import HOST, Stage, Why
from jaxlint.staging.values.tested import TestedItem
from jaxlint.syntax.facts import dotted, leaf_parameters, positional_parameters, sizes_of_kernel

# Annotations of values that are single arrays under a trace.
_LEAF_TYPES = frozenset({"bool", "int", "float", "Array", "ndarray"})


class Creation(Part):
    """Evaluates transformed functions without a call."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.boundary = machine.part(Boundary)
        self.calls = machine.part(Calls)
        self.function_calls = machine.part(FunctionCalls)
        self.classes = machine.part(Classes)
        self.entry = machine.part(Entry)
        self.expressions = machine.part(Expressions)
        self.staged_arguments = machine.part(StagedArguments)
        # Transformed functions that remain to be analysed.
        self.creations: list[tuple[Transformed, Frame, tuple[TestedItem, ...]]] = []

    def analyse_creation(self, t: Transformed, frame: Frame) -> None:
        """Evaluates the target under its transformation, with arguments made up from its signature."""
        function, skipped, bound_names = innermost(t.target)
        if function is None:
            return
        if t.kind == "primitive":
            self.analyse_rule(t, function, skipped, bound_names, frame)
            return
        if not spec_of(t).staged and t.kind != "checkify":
            self.analyse_differentiated(t, function, frame)
            return
        spec = spec_of(t)
        names = self.staged_arguments.signature(t.target)
        if t.kind == "pallas":
            args, kwargs = self.references(t, function, skipped, bound_names), dict[str, Value]()
        else:
            args, kwargs = self.creation_arguments(t, spec, function, skipped, bound_names, names)
        kind = t.kind if t.kind not in JIT_KINDS else "jit"
        # Not certain within a trace: it captures tracers of a call that need not run it.
        abstract, certain = spec.abstract or frame.stage.abstract, not frame.stage.staged
        stage = Stage(kind, abstract, certain, t.why, frame.stage, bound_axes(t))
        shell = Frame(None, t.module, Scope(frame.scope), stage, None, t.node, 0, "creation")
        with ExpectingErrors(self.machine, frame.module if frame.provokes_errors() else None):
            result = self.calls.call_value(t.target, Call(args, kwargs, t.node, shell))
        record = self.function_calls.records.get(function.node)
        inner = record.last if record is not None else None
        gradient = shell.takes_gradient or (inner is not None and inner.takes_gradient)
        bound = dict(zip(names, args, strict=False)) | kwargs
        told = events.StagedReturnEvent(t.node, shell, t, function, result, bound, gradient)
        self.machine.emit("staged_return", told)

    def references(
        self, t: Transformed, function: Function, skipped: int, bound_names: set[str]
    ) -> list[Value]:
        """The arguments of a Pallas kernel: mutable references, apart from its sizes."""
        known = bound_names | sizes_of_kernel(function.node)
        names = [p.arg for p in positional_parameters(function.node)[skipped:] if p.arg not in known]
        return [
            Array(True, self.staged_arguments.parameter_why(t, name), role="ref", form=form)
            for name, form in zip(names, forms_of_references(t, len(names), None), strict=True)
        ]

    def creation_arguments(
        self,
        t: Transformed,
        spec: Transform,
        function: Function,
        skipped: int,
        bound_names: set[str],
        names: list[str],
    ) -> tuple[list[Value], dict[str, Value]]:
        """The arguments of the target, whose innermost function is `function`. `names` are the parameters that a
        caller fills."""
        static, certain_statics = self.staged_arguments.static_parameters(t, names)
        parameters = positional_parameters(function.node)[skipped:]
        kwargs: dict[str, Value] = {}
        leaves = leaf_parameters(function.node)
        position = 0
        left_out = False
        at_once = self.calls.on_the_spot.get(t.node)
        passed = passed_at_once(at_once)
        given = arguments_at_once(at_once, names)
        leafless: dict[str, Value] = {
            name: empty for name, node in given.items() if (empty := _leafless(node)) is not None
        }
        literals = {
            name: Static(node.value) for name, node in given.items() if isinstance(node, ast.Constant)
        }
        offset = len(names) - len([p for p in parameters if p.arg not in bound_names])
        args = [
            self.wrapper_argument(t, name, name in static, certain_statics, leafless, literals)
            for name in names[: max(0, offset)]
        ]
        for parameter in [*parameters, *function.node.args.kwonlyargs]:
            if parameter.arg in bound_names:
                continue
            keyword = parameter in function.node.args.kwonlyargs
            if passed is not None and (keyword or position >= passed[0]) and parameter.arg not in passed[1]:
                # No call passes it anything, and the wrappers around the function do not pass on a default.
                if parameter.arg in function.defaults:
                    left_out = True
                    continue
                value: Value = Unknown(Origin(parameter.arg))
            elif parameter.arg in leafless:
                value = leafless[parameter.arg]
            else:
                value = self.creation_value(
                    t, spec, function, parameter, position, static, certain_statics, leaves
                )
                if isinstance(value, Unknown):  # it keeps its given value
                    value = literals.get(parameter.arg, value)
            if keyword or bound_names or left_out:
                kwargs[parameter.arg] = value
            else:
                args.append(value)
            position += 1
        rest = function.node.args.vararg
        if rest is not None and not bound_names and not kwargs:
            why = self.staged_arguments.parameter_why(t, rest.arg)
            args.append(StarArgument(Array(True, why, tree=True, certain=False)))
        return args, kwargs

    def wrapper_argument(
        self,
        t: Transformed,
        name: str,
        static: bool,
        certain: bool,
        leafless: dict[str, Value],
        literals: dict[str, Static],
    ) -> Value:
        """An argument for a parameter that the wrapper has before those of the function."""
        if static:
            return literals.get(name, Unknown(Origin(name)))
        if name in leafless:
            return leafless[name]
        why = self.staged_arguments.parameter_why(t, name)
        return Array(True, why, tree=True, certain=certain, origin=Origin(name))

    def add_rule(self, table: str, rule: Value, node: ast.AST, frame: Frame) -> None:
        """A primitive's rule, which JAX calls during tracing. It is evaluated after the module.

        `table`: the canonical name of the table or registration function; any other name does nothing.
        """
        if table not in PRIMITIVE_RULES:
            return
        label = label_of(rule)
        why = Why(
            f"`{label}` is a rule of a primitive in `{table}`",
            frame.module,
            node,
            function=label,
            how=f"a rule of a primitive in `{table}`",
        )
        t = Transformed("primitive", table, rule, {}, node, frame.module, why, label)
        self.creations.append((t, frame, ()))

    def analyse_rule(
        self, t: Transformed, function: Function, skipped: int, bound_names: set[str], frame: Frame
    ) -> None:
        """Evaluates a rule: its arguments contain tracers or dimensions, and the primitive's parameters are static."""
        positions = PRIMITIVE_RULES[t.api]
        parameters = positional_parameters(function.node)[skipped:]
        bare = t.target is function and not getattr(function.node, "decorator_list", ())
        if t.api == TRANSPOSES and bare and len(parameters) == 2 and function.node.args.vararg is None:
            # The cotangent, and the operand that is transposed (`ad.UndefinedPrimal`).
            positions = (0,)
        args: list[Value] = []
        for position, parameter in enumerate(parameters):
            if parameter.arg in bound_names or parameter.arg in function.defaults:
                break
            traced = positions is None or position in positions
            why = self.staged_arguments.parameter_why(t, parameter.arg)
            origin = Origin(parameter.arg)
            args.append(
                Array(True, why, tree=True, certain=False, origin=origin) if traced else Unknown(origin)
            )
        vararg = function.node.args.vararg
        if vararg is not None and positions is None:
            args.append(
                StarArgument(
                    Array(True, self.staged_arguments.parameter_why(t, vararg.arg), tree=True, certain=False)
                )
            )
        # Not certain: an eager derivative passes it concrete arrays.
        stage = Stage("primitive", True, False, t.why, frame.stage)
        shell = Frame(None, t.module, Scope(frame.scope), stage, None, t.node, 0, "creation")
        self.calls.call_value(t.target, Call(args, {}, t.node, shell))

    def analyse_differentiated(self, t: Transformed, function: Function, frame: Frame) -> None:
        """Evaluates a differentiated function without a call: the differentiated arguments are arrays, the rest is
        unknown."""
        if self.entry.is_reached(function) or function.module.source.path not in self.machine.entered:
            return
        numbers = constant_numbers(t.options["argnums"]) if "argnums" in t.options else (0,)
        names = self.staged_arguments.signature(t.target)
        leaves = leaf_parameters(function.node)
        arguments: list[Value] = []
        for position, name in enumerate(names):
            origin = Origin(name)
            wanted = position in (numbers or ())
            arguments.append(
                Array(False, tree=name not in leaves, certain=name in leaves, origin=origin)
                if wanted
                else Unknown(origin)
            )
        if len(arguments) == len(names) and names:
            shell = Frame(None, t.module, Scope(frame.scope), frame.stage, None, t.node, 0, "creation")
            self.calls.call_value(t.target, Call(arguments, {}, t.node, shell))

    def creation_value(
        self,
        t: Transformed,
        spec: Transform,
        function: Function,
        parameter: ast.arg,
        position: int,
        static: set[str],
        certain: bool,
        leaves: frozenset[str],
    ) -> Value:
        name = parameter.arg
        origin = Origin(name)
        first = (
            position == 0 and function.cls is not None and name == "self" and isinstance(t.target, Function)
        )
        if name in static or f"#{position}" in static:
            return (
                self.classes.prototype(function.cls, self.shell_frame(function))
                if first and function.cls
                else Unknown(origin)
            )
        if spec.kind in ("vmap", "shard_map"):
            mapped = self.staged_arguments.is_argument_mapped(t, position, name)
            if mapped is False:
                return Unknown(origin)
            certain = certain and bool(mapped)
        why = self.staged_arguments.parameter_why(t, name)
        if first and function.cls is not None:
            instance = self.classes.prototype(function.cls, self.shell_frame(function))
            return self.boundary.to_staged(instance, why, certain, spec.keeps_python)
        annotated = self.annotated_instance(parameter, function)
        if annotated is not None:
            staged = self.boundary.to_staged(annotated, why, certain, spec.keeps_python)
            if isinstance(staged, Instance):
                staged.origin = origin
            return staged
        if spec.keeps_python or name in function.defaults or (spec.kind == "nn.lift"):
            # A call may omit it: the default stays a Python value.
            return Array(True, why, tree=True, certain=False, origin=origin, mixed=True)
        tree = name not in leaves and dotted(parameter.annotation).rpartition(".")[2] not in _LEAF_TYPES
        rowless = name in self.staged_arguments.rowless.get(t.node, ())
        return Array(True, why, tree=tree and not rowless, certain=certain, origin=origin, rowless=rowless)

    def annotated_instance(self, parameter: ast.arg, function: Function) -> Value | None:
        """An instance of the pytree class in the annotation."""
        if not isinstance(parameter.annotation, (ast.Name, ast.Attribute)):
            return None
        frame = self.shell_frame(function)
        with WithoutNames(self.machine, False):
            cls = self.expressions.eval(parameter.annotation, frame)
        if isinstance(cls, ClassValue) and cls.model.pytree:
            return self.classes.prototype(cls, frame)
        if isinstance(cls, ClassValue) and cls.kind == "namedtuple":
            return TupleValue(
                [self.classes.declared_value(field, cls) for field in cls.all_fields().values()], cls=cls
            )
        return None

    def shell_frame(self, function: Function) -> Frame:
        """A frame for evaluating an expression in a function's defining scope."""
        return Frame(None, function.module, function.scope, HOST)


def passed_at_once(call: ast.Call | None) -> tuple[int, frozenset[str]] | None:
    """The number of positional arguments, and the names of the others, in a call; None if unknown."""
    if call is None:
        return None
    names = [keyword.arg for keyword in call.keywords]
    if None in names or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    return len(call.args), frozenset(filter(None, names))


def arguments_at_once(call: ast.Call | None, names: list[str]) -> dict[str, ast.expr]:
    """The arguments of a call by parameter (`names` are the positional ones), if known."""
    if passed_at_once(call) is None or call is None:
        return {}
    given = dict(zip(names, call.args, strict=False))
    given.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None})
    return given


def _leafless(node: ast.expr) -> Value | None:
    """A literal without leaves, so that it contains nothing to trace."""
    if isinstance(node, ast.Constant) and node.value is None:
        return Static(None)
    if isinstance(node, ast.Dict) and not node.keys:
        return DictValue({})
    if isinstance(node, ast.Tuple) and not node.elts:
        return TupleValue([])
    if isinstance(node, ast.List) and not node.elts:
        return ListValue([])
    return None
