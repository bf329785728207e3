"""Transformations: what `jax.jit(f)` creates from `f`, and what a call of it does."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cache

from jaxlint.jaxapi.names import canonical, public_class
from jaxlint.jaxapi.transforms import (
    CALLERS,
    CONTROL_FLOW,
    DIFFERENTIATION,
    JIT_KINDS,
    PRIMITIVE_RULES,
    TRANSFORMS,
    Transform,
)
from jaxlint.staging import events
from jaxlint.staging.evaluator.access import Access
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.expressions import Expressions
from jaxlint.staging.evaluator.external_models import calls, calls_of_made
from jaxlint.staging.evaluator.foreign_decorators import is_foreign, name_of_decorator
from jaxlint.staging.evaluator.introspection import Introspection
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.pytest_names import FIXTURE, PARAMETRISERS
from jaxlint.staging.evaluator.scopes import Decorating, StartingWithKeys, Undispatched
from jaxlint.staging.module import Module
from jaxlint.staging.tracking.gradients import Gradients
from jaxlint.staging.transforms.controlflow import ControlFlow
from jaxlint.staging.transforms.creation import Creation
from jaxlint.staging.transforms.lifting import Lifting
from jaxlint.staging.transforms.staged_arguments import StagedArguments
from jaxlint.staging.transforms.staged_calls import StagedCalls
from jaxlint.staging.values import (
    CALLABLE,
    UNKNOWN,
    BoundMethod,
    Choice,
    ClassValue,
    External,
    ExternalMethod,
    ExternalObject,
    Function,
    Instance,
    Partial,
    StarArgument,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    innermost,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.keys import ConsumedKeys
from jaxlint.staging.values.labels import label_of, short_source
from jaxlint.staging.values.stage import Why

_PLAIN_DECORATORS = frozenset(
    {
        "flax.linen.compact",
        "flax.linen.nowrap",
        "flax.nnx.nowrap",
        "haiku.transparent",
        "abc.abstractmethod",
        "typing.overload",
        "typing.no_type_check",
        "typing.final",
    }
)


def is_staging(name: str) -> bool:
    """Whether a canonical name is that of a transformation or of control flow."""
    return name in TRANSFORMS or name in CONTROL_FLOW


@cache
def _modelled_names() -> frozenset[str]:
    """The short names of library functions that have models, wherever the library defines them."""
    return frozenset(name.rpartition(".")[2] for name in (*calls.names(), *TRANSFORMS, *CONTROL_FLOW))


def stages_elsewhere(decorator: Value) -> bool:
    """Whether it is another library's `jit`, such as numba's: its function does not receive the caller's values."""
    name = name_of_decorator(decorator)
    return name.startswith("numba.") or (name.rpartition(".")[2] in JIT_KINDS and is_foreign(decorator))


class Transforming(Part):
    """Evaluates transformations."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.access = machine.part(Access)
        self.calls = machine.part(Calls)
        self.control_flow = machine.part(ControlFlow)
        self.creation = machine.part(Creation)
        self.expressions = machine.part(Expressions)
        self.gradients = machine.part(Gradients)
        self.introspection = machine.part(Introspection)
        self.lifting = machine.part(Lifting)
        self.staged_arguments = machine.part(StagedArguments)
        self.staged_calls = machine.part(StagedCalls)

    # -- making a transformed function

    def decorate(
        self,
        decorator: ast.expr,
        value: Value,
        node: ast.FunctionDef | ast.AsyncFunctionDef,
        frame: Frame,
    ) -> Value:
        """The value of `@decorator` over `value`."""
        if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter"):
            owner = self.expressions.eval(decorator.value, frame)
            if isinstance(owner, Function) and owner.kind == "property":
                if decorator.attr == "setter" and isinstance(value, Function):
                    owner.setter = value
                return owner
        applied = self.expressions.eval(decorator, frame)
        if isinstance(applied, External):
            name = canonical(applied.name)
            if name in ("builtins.staticmethod", "builtins.classmethod", "builtins.property"):
                return self.introspection.method_kind(name[9:], value)
            if name == FIXTURE:
                return self.introspection.method_kind("fixture", value)
            if name == "functools.cached_property":
                if isinstance(value, Function):
                    value.cached = True
                return self.introspection.method_kind("property", value)
            if name in _PLAIN_DECORATORS or (name not in TRANSFORMS and name not in _CALLED_DECORATORS):
                return UNKNOWN if stages_elsewhere(applied) else value
        made_by = decorator.func if isinstance(decorator, ast.Call) and type(applied) is Unknown else None
        if stages_elsewhere(self.expressions.eval(made_by, frame) if made_by is not None else applied):
            return UNKNOWN
        if isinstance(applied, ExternalObject) and isinstance(value, Function):
            if applied.name in PARAMETRISERS:
                function: Value | None = value
                while isinstance(function, Function):  # a wrapper passes on the table's result
                    function.tables.append(applied)
                    function = function.wraps
                return value
            if applied.name == FIXTURE:
                return self.introspection.method_kind("fixture", value)
            if canonical(applied.name) in PRIMITIVE_RULES:
                self.creation.add_rule(canonical(applied.name), value, node, frame)
                return value
        with Decorating(frame, decorator):
            result = self.calls.call_value(applied, Call([value], {}, node, frame))
        if isinstance(result, (Function, Transformed, Partial, BoundMethod, Instance, ClassValue)):
            return result
        if isinstance(result, ExternalObject) and result.name in calls_of_made:
            return result
        if isinstance(result, TupleValue) and result.cls is not None:
            return result  # a record of functions, such as an optimiser
        return value

    def call_staging(self, name: str, call: Call, own: Value | None = None) -> Value | None:
        """The result of a transformation or control flow; None for another function, which has traced its arguments."""
        if name in TRANSFORMS:
            return self.apply_transform(name, call, own)
        if name in CONTROL_FLOW:
            return self.control_flow.control_flow(name, call, own)
        if call.args and isinstance(call.args[0], CALLABLE):
            self.creation.add_rule(name, call.args[0], call.node, call.frame)
        if name in CALLERS:
            self.control_flow.call_back(name, call)
        return None

    def is_stand_in(self, first: Value, fallback: Value) -> bool:
        """Whether an import falls back on a transformation, and the first choice is unknown."""
        if not isinstance(first, External) or not isinstance(fallback, External):
            return False
        known = TRANSFORMS.get(canonical(fallback.name))
        return known is not None and known.staged and canonical(first.name) not in TRANSFORMS

    def known_as(self, module: Module, name: str, value: Value | None) -> str:
        """The canonical name of a library function that `module` of this library defines as `name`; or ""."""
        public = f"{module.name}.{name}"
        if is_staging(canonical(public)):
            return public
        if name in _modelled_names() and isinstance(value, Function):
            public = public_class(module.name, name)
            # (`map` and the like in haiku's modules are separate functions; those of `stateful` are canonical.)
            if (public in calls and public.partition(".")[0] not in ("jax", "numpy")) or (
                is_staging(public) and not public.startswith("haiku.")
            ):
                return public
        return ""

    def apply_transform(self, name: str, call: Call, own: Value | None = None) -> Value:
        """The result of calling a transformation; `own`: the project's own code for it."""
        args, kwargs, frame = call.args, call.kwargs, call.frame
        spec = TRANSFORMS[name]
        target = args[0] if args else next((kwargs[k] for k in TARGET_KEYWORDS if k in kwargs), None)
        if target is None or isinstance(target, StarArgument):
            return Partial(External(name, own), [], kwargs)
        if isinstance(target, Transformed) and target.nesting >= _MAX_NESTING:
            return UNKNOWN  # a caller that asks for the function visits each of them
        if spec.kind == "partial":
            return Partial(target, args[1:], kwargs)
        if spec.kind in ("wrap", "hk.wrap"):
            given = None if own is None else self.staged_calls.run_library_code(own, call)
            return _wrapped(spec, name, target, given)
        decorator = (
            frame.decorator if isinstance(call.node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
        )
        transformed = self.make_transformed(spec, name, target, call, decorator)
        if own is not None:
            lifts = spec.kind in ("nn.lift", "nn.jit")
            transformed.attributes["own"] = self.staged_calls.run_library_code(own, call, odd=lifts)
        self.machine.emit("transform", events.TransformEvent(call.node, frame, transformed, decorator))
        if name == "flax.nnx.jit_partial" and len(args) > 1:
            return Partial(transformed, args[1:], {})
        if spec.kind in ("nn.lift", "nn.jit"):
            lifted = self.lifted_classes(transformed, target)
            if lifted is not None:
                return lifted
        self.note_creation(transformed, spec, name, frame)
        return transformed

    def make_transformed(
        self,
        spec: Transform,
        name: str,
        target: Value,
        call: Call,
        decorator: ast.expr | None,
    ) -> Transformed:
        """The transformed function, with the reason why its calls are traced."""
        node, frame = call.node, call.frame
        options = {key: value for key, value in call.kwargs.items() if key not in TARGET_KEYWORDS}
        for key, value in zip(_POSITIONAL_OPTIONS.get(spec.kind, ()), call.args[1:], strict=False):
            options[key] = value
        label = label_of(target)
        if label == "the function" and isinstance(node, ast.Call) and node.args:
            label = short_source(node.args[0])
        api = (
            name.replace("flax.linen", "nn")
            .replace("flax.nnx", "nnx")
            .replace("equinox", "eqx")
            .replace("haiku", "hk")
        )
        text = (
            f"`{label}` is decorated with `{api}`"
            if decorator is not None
            else f"`{label}` is passed to `{api}`"
        )
        place = decorator if decorator is not None else node
        outer = frame.stage.why if frame.stage.staged else None
        transformed = Transformed(
            spec.kind,
            api,
            target,
            options,
            node,
            frame.module,
            Why(text, frame.module, place, outer, function=label, api=api),
            label,
        )
        transformed.attributes["spec"] = ExternalObject(name)
        return transformed

    def lifted_classes(self, transformed: Transformed, target: Value) -> Value | None:
        """The result of a lifted transformation for a module class, or for each of several; None for a function."""
        if isinstance(target, ClassValue):
            return self.lifting.lift_class(transformed, target)
        if isinstance(target, Choice):
            classes = [option for option in target.options if isinstance(option, ClassValue)]
            if len(classes) == len(target.options):
                return Choice([self.lifting.lift_class(transformed, cls) for cls in classes], target.every)
        return None

    def note_creation(self, transformed: Transformed, spec: Transform, name: str, frame: Frame) -> None:
        """Records functions under a gradient, and functions to evaluate without a visible call."""
        if spec.kind in DIFFERENTIATION:
            differentiated = innermost(transformed.target)[0]
            if differentiated is not None:
                self.gradients.gradient_roots.add(differentiated.node)
        staged = spec.staged or (
            spec.kind in DIFFERENTIATION and not name.startswith(("flax.nnx", "equinox"))
        )
        if staged and not self.machine.guessing and not frame.replaceable:
            self.creation.creations.append((transformed, frame, tuple(self.machine.tested)))

    # -- calling a transformed function

    def transformed_attribute(self, base: Transformed, name: str, node: ast.AST, frame: Frame) -> Value:
        if base.kind == "hk.transform" and name in ("init", "apply"):
            result = Transformed(
                f"hk.{name}",
                f"{base.api}.{name}",
                base.target,
                {},
                base.node,
                base.module,
                base.why,
                base.label,
            )
            result.attributes.update(base.attributes)
            if "own" in base.attributes:
                result.attributes["own"] = self.access.attribute(
                    base.attributes["own"], name, node, frame, True
                )
            spec = base.attributes.get("spec")
            if isinstance(spec, ExternalObject) and spec.name.endswith("with_state"):
                result.attributes["stateful"] = Static(True)
            return result
        if name in ("__wrapped__", "fun", "__func__"):
            return base.target
        return ExternalMethod(base, name)

    def transformed_pair(self, base: Value, node: ast.AST, frame: Frame) -> Value:
        """`init, apply = hk.transform(f)`: haiku's result is a pair; any other value stays unchanged."""
        if not isinstance(base, Transformed) or base.kind != "hk.transform":
            return base
        return TupleValue([self.transformed_attribute(base, name, node, frame) for name in ("init", "apply")])

    def call_transformed_method(self, base: Transformed, name: str, call: Call) -> Value:
        """Evaluates methods of a transformed function: `.lower`, `.trace`, `.defvjp` ..."""
        own = base.attributes.get("own")
        if own is not None and name.startswith("def"):
            for option in own.options if isinstance(own, Choice) else [own]:
                self.staged_calls.run_library_code(
                    self.access.attribute(option, name, call.node, call.frame, True), call
                )
        rules = [
            *call.args,
            *(call.kwargs[rule] for rule in _RULES.get(name, ())[len(call.args) :] if rule in call.kwargs),
        ]
        if name in _RULES and rules:
            named = dict(zip(_RULES[name], rules, strict=False))
            told = events.DerivativeRulesEvent(
                call.node, call.frame, base, named, "symbolic_zeros" in call.kwargs
            )
            self.machine.emit("derivative_rules", told)
        if name == "def_fwd":  # of equinox, whose rule receives the perturbed arguments
            base.attributes["perturbed"] = UNKNOWN
        if name in ("defvjp", "def_fwd") and rules:
            base.attributes["fwd"] = rules[0]
            if len(rules) > 1:
                base.attributes["bwd"] = rules[1]
            return Static(None)
        if name in ("defjvp", "def_jvp") and rules:
            base.attributes["jvp"] = rules[0]
            return rules[0]
        if name in ("defjvps", "def_bwd") and rules:
            if name == "def_bwd":
                base.attributes["bwd"] = rules[0]
            return rules[0]
        if name in ("lower", "trace", "eval_shape") and base.kind in JIT_KINDS:
            with (
                StartingWithKeys(call.frame, ConsumedKeys()),
                Undispatched(self.machine.ledger),
            ):  # nothing runs, and no key is consumed
                self.staged_calls.call_jitted(base, call)
            names, certain = self.staged_arguments.static_parameters(
                base, self.staged_arguments.signature(base.target)
            )
            if name == "lower" and not names and certain:
                return ExternalObject("jax.stages.Lowered", [base])
        return UNKNOWN


def _wrapped(spec: Transform, name: str, target: Value, own: Value | None) -> Value:
    """The result of a transformation that passes the function through. `own`: the result of the project's own code
    for it."""
    if spec.kind == "wrap":
        if isinstance(target, Function) and name.startswith("functools."):
            target.cached = True
        return target
    if not isinstance(target, Transformed):
        return target
    changed = {} if own is None else {"own": own}
    return replace(target, attributes={**target.attributes, "without_rng": Static(True), **changed})


# The keyword under which a transformed function is passed.
_MAX_NESTING = 50  # nested transformations
TARGET_KEYWORDS = ("fun", "f", "fn", "target", "pyfunc", "kernel", "body")
_POSITIONAL_OPTIONS: dict[str, tuple[str, ...]] = {
    "vmap": ("in_axes", "out_axes"),
    "pmap": ("axis_name",),
    "grad": ("argnums", "has_aux"),
    "value_and_grad": ("argnums", "has_aux"),
    "jacobian": ("argnums", "has_aux"),
    "custom": ("nondiff_argnums",),
    "checkpoint": ("prevent_cse",),
}
_RULES = {"defvjp": ("fwd", "bwd"), "defjvp": ("jvp",)}  # the parameters of the functions that register them
_CALLED_DECORATORS = frozenset(
    {"jax.experimental.pallas.when", "functools.partial", "functools.singledispatch", *PRIMITIVE_RULES}
)
