"""Transformations: what `jax.jit(f)` makes of `f`, and what calling it does."""

from __future__ import annotations

import ast
from dataclasses import replace

from jaxlint.jaxapi.dtypes import canonical_dtype
from jaxlint.jaxapi.modules import SEQUENTIALS, holds_arrays
from jaxlint.jaxapi.names import canonical
from jaxlint.jaxapi.transforms import JIT_KINDS, PRIMITIVE_RULES, TRANSFORMS, Transform
from jaxlint.staging import events
from jaxlint.staging.calls import StarArgument, constant_names, constant_numbers, label_of, short_source
from jaxlint.staging.classes import PYTREE_KINDS
from jaxlint.staging.dispatching import GENERIC
from jaxlint.staging.entry import FIXTURE, PARAMETRISERS
from jaxlint.staging.frame import Frame
from jaxlint.staging.gradients import TANGENT, flow_in, marked
from jaxlint.staging.machine import Machine
from jaxlint.staging.meshes import bound_axes
from jaxlint.staging.pytrees import flattening, leaf_attributes
from jaxlint.staging.stage import Stage, Why
from jaxlint.staging.syntax_facts import positional_parameters
from jaxlint.staging.trees import registration
from jaxlint.staging.values import (
    CALLABLE,
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
    Field,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Origin,
    Partial,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    constant,
    join,
    map_parts,
    parts_of,
)

_TRACED_WITHOUT_JIT = frozenset({"vmap", "pmap", "checkpoint"})  # whatever `jax.disable_jit` says
_DIFFERENTIATION = frozenset({"grad", "value_and_grad", "jacobian"})
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


class Transforming(Machine):
    """The transformation half of the interpreter."""

    # -- making a transformed function

    def decorate(
        self,
        decorator: ast.expr,
        value: Value,
        node: ast.FunctionDef | ast.AsyncFunctionDef,
        frame: Frame,
    ) -> Value:
        """The value of `@decorator` over `value`."""
        applied = self.eval(decorator, frame)
        if isinstance(applied, External):
            name = canonical(applied.name)
            if name in ("builtins.staticmethod", "builtins.classmethod", "builtins.property"):
                return self.method_kind(name[9:], value)
            if name == FIXTURE:
                return self.method_kind("fixture", value)
            if name == "functools.cached_property":
                return self.method_kind("property", value)
            if name in _PLAIN_DECORATORS or (name not in TRANSFORMS and name not in _CALLED_DECORATORS):
                return value
        if isinstance(applied, ExternalObject) and isinstance(value, Function):
            if applied.name in PARAMETRISERS:
                function: Value | None = value
                while isinstance(function, Function):  # a wrapper hands on what the table gives
                    function.tables.append(applied)
                    function = function.wraps
                return value
            if applied.name == FIXTURE:
                return self.method_kind("fixture", value)
            if canonical(applied.name) in PRIMITIVE_RULES:
                self.add_rule(canonical(applied.name), value, node, frame)
                return value
        frame.facts["decorator"] = decorator
        result = self.call_value(applied, [value], {}, node, frame)
        frame.facts.pop("decorator", None)
        if isinstance(result, (Function, Transformed, Partial, BoundMethod, Instance, ClassValue)):
            return result
        if isinstance(result, ExternalObject) and result.name == GENERIC:
            return result
        return value

    def apply_transform(
        self,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
        own: Value | None = None,
    ) -> Value:
        """The result of calling a transformation; `own`: the project's own code for it."""
        spec = TRANSFORMS[name]
        target = (
            args[0] if args else next((kwargs[k] for k in ("fun", "f", "fn", "kernel") if k in kwargs), None)
        )
        if target is None or isinstance(target, StarArgument):
            return Partial(External(name, own), [], kwargs)
        if spec.kind == "wrap":
            if own is not None:
                self.aside(own, args, kwargs, node, frame)
            if isinstance(target, Function) and name.startswith("functools."):
                target.cached = True
            return target
        if spec.kind == "partial":
            return Partial(target, args[1:], kwargs)
        if spec.kind == "hk.wrap":
            if isinstance(target, Transformed):
                target.attributes["without_rng"] = Static(True)
            return target
        options = {key: value for key, value in kwargs.items() if key not in ("fun", "f", "fn", "kernel")}
        for key, value in zip(_POSITIONAL_OPTIONS.get(spec.kind, ()), args[1:], strict=False):
            options[key] = value
        decorator = (
            frame.facts.get("decorator")
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            else None
        )
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
        place = decorator if isinstance(decorator, ast.AST) else node
        outer = frame.stage.why if frame.stage.staged else None
        transformed = Transformed(
            spec.kind,
            api,
            target,
            options,
            node,
            frame.module,
            Why(text, frame.module, place, outer),
            label,
        )
        transformed.attributes["spec"] = ExternalObject(name)
        if own is not None:
            lifts = spec.kind in ("nn.lift", "nn.jit")
            self.beside += lifts
            transformed.attributes["own"] = self.aside(own, args, kwargs, node, frame)
            self.beside -= lifts
        self.emit(
            "transform",
            events.TransformEvent(
                node, frame, transformed, decorator if isinstance(decorator, ast.expr) else None
            ),
        )
        if name == "flax.nnx.jit_partial" and len(args) > 1:
            return Partial(transformed, args[1:], {})
        if spec.kind in ("nn.lift", "nn.jit") and isinstance(target, ClassValue):
            return self.lift_class(transformed, target)
        if spec.kind in _DIFFERENTIATION:
            differentiated = self.innermost(target)[0]
            if differentiated is not None:
                self.gradient_roots.add(differentiated.node)
        if spec.staged or (spec.kind in _DIFFERENTIATION and not name.startswith(("flax.nnx", "equinox"))):
            self.creations.append((transformed, frame))
        return transformed

    def spec_of(self, transformed: Transformed) -> Transform:
        spec = transformed.attributes.get("spec")
        assert isinstance(spec, ExternalObject)
        return TRANSFORMS[spec.name]

    # -- across a staging boundary

    def to_staged(self, value: Value, why: Why, certain: bool = True, keeps_python: bool = False) -> Value:
        """`value` as the staged function sees it: array leaves are tracers, structure stays Python."""
        if self.unjitted:
            return value
        if isinstance(value, Static):
            if (
                value.const is None
                or isinstance(value.const, (str, bytes))
                or value.kind in ("str", "key", "type", "enum", "dtype", "treedef")
            ):
                return value
            if keeps_python:
                return value
            if value.const is MISSING and not value.kind:
                return Array(True, why, tree=True, certain=False)
            return Array(True, why, certain=certain)
        if isinstance(value, Array):
            return Array(
                True,
                why,
                tree=value.tree,
                certain=certain
                and (value.certain or value.role == "declared"),  # whatever it is, a tracer now
                origin=value.origin,
                role="" if value.role == "declared" else value.role,
                mixed=value.mixed,
                dtype=value.dtype,
                flow=value.flow,
            )
        if isinstance(value, NumpyArray):
            return Array(True, why, certain=certain, dtype=canonical_dtype(value.dtype))
        if isinstance(value, StarArgument):
            return StarArgument(self.to_staged(value.element, why, certain, keeps_python))
        if isinstance(value, Unknown):
            # It may hold static fields, or be None: not certain enough to report on.
            return Array(True, why, tree=True, certain=False, origin=value.origin, flow=value.flow)
        if isinstance(value, (TupleValue, ListValue, DictValue)):
            return map_parts(value, lambda part: self.to_staged(part, why, certain, keeps_python))
        if isinstance(value, Instance):
            self.enters_stage(value.cls)
            return self.stage_instance(value, why, certain, keeps_python)
        if isinstance(value, Choice) and any(isinstance(option, Instance) for option in value.options):
            staged = [self.to_staged(option, why, certain, keeps_python) for option in value.options]
            return Choice(staged, value.every)
        if isinstance(value, ExternalObject) and _is_layer_with_arrays(value):
            return replace(value, staged=Array(True, why, tree=True, certain=certain))
        return value

    def stage_instance(self, value: Instance, why: Why, certain: bool, keeps_python: bool) -> Value:
        flatten = flattening(value.cls)
        leaves = leaf_attributes(flatten) if flatten is not None else None
        if (flatten is not None and not keeps_python) or (self.registers and registration(value.cls)):
            self.crossing.append(value.cls)
        if value.cls.kind not in PYTREE_KINDS and leaves is None:
            return (
                value
                if keeps_python or value.cls.kind not in ("plain", "dataclass")
                else _registered(value, why)
            )
        if id(value) in self.copying:
            return self.copying[id(value)]
        declared = value.cls.all_fields()
        fields: dict[str, Value] = {}
        leaf = Array(True, why, tree=True, certain=False)
        copy = Instance(value.cls, fields, True, value.origin, value.ready, leaf)
        self.copying[id(value)] = copy
        certain = certain and (flatten is None or leaves is not None)  # else it is not known what a leaf is
        plain_python = keeps_python or value.cls.kind == "nnx"
        for name, part in value.fields.items():
            static = declared[name].static if name in declared else False
            if leaves is not None:
                static = name not in leaves
            if (
                static
                and name in declared
                and self.boundary is not None
                and isinstance(part, (Array, NumpyArray, ListValue, DictValue))
            ):
                t, frame = self.boundary
                self.emit_static_field(value.cls, declared[name], part, t, frame)
            fields[name] = part if static else self.to_staged(part, why, certain, plain_python)
        for name, field in declared.items():
            if name not in fields and not (field.static if leaves is None else name not in leaves):
                fields[name] = Array(True, why, tree=True, certain=False)
        del self.copying[id(value)]
        return copy

    def emit_static_field(
        self, cls: ClassValue, field: Field, value: Value, t: Transformed, frame: Frame
    ) -> None:
        """A field of a static kind holds something that cannot be hashed; told in the file of the class that declares it."""
        declaring = next((known for known in cls.mro() if known.fields.get(field.name) is field), cls)
        owner = Frame(None, declaring.module, declaring.scope, frame.stage, frame, t.node)
        self.emit("static_field", events.StaticFieldEvent(field.node, owner, cls, field.name, value, t))

    def to_device(self, value: Value, jitted: str, keeps_python: bool = False) -> Value:
        """The result of a staged call as the host sees it: concrete arrays. Modules of nnx keep Python values."""
        if keeps_python and isinstance(value, (Static, Unknown)):
            return value
        if isinstance(value, Array):
            return Array(
                False,
                None,
                tree=value.tree,
                certain=value.certain,
                jitted=jitted,
                role=value.role if value.role in ("key", "variables") else "",
                dtype=value.dtype,
                flow=value.flow,
            )
        if isinstance(value, Unknown):
            return Array(False, None, tree=True, certain=False, jitted=jitted)
        if isinstance(value, Static) and value.const is not None and not isinstance(value.const, str):
            return Array(False, None, jitted=jitted)
        if isinstance(value, (TupleValue, ListValue, DictValue)):
            return map_parts(value, lambda part: self.to_device(part, jitted, keeps_python))
        if isinstance(value, Instance):
            declared = value.cls.all_fields()
            keeps_python = value.cls.kind == "nnx"
            if id(value) in self.copying:
                return self.copying[id(value)]  # modules of nnx may hold each other
            copy = self.copying[id(value)] = Instance(value.cls, {}, True, None, value.ready)
            for k, v in value.fields.items():
                static = k in declared and declared[k].static
                copy.fields[k] = v if static else self.to_device(v, jitted, keeps_python)
            del self.copying[id(value)]
            return copy
        return value

    # -- calling a transformed function

    def call_transformed(
        self,
        t: Transformed,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """The result of calling `t` in `frame`."""
        if self.unjitted and t.kind in _TRACED_WITHOUT_JIT:
            unjitted, self.unjitted = self.unjitted, 0
            try:
                return self.call_transformed(t, args, kwargs, node, frame)
            finally:
                self.unjitted = unjitted
        own = t.attributes.get("own")
        if own is not None:
            self.beside += t.kind == "nn.lift"
            self.aside(own, args, kwargs, node, frame)
            self.beside -= t.kind == "nn.lift"
        kind = t.kind
        if kind in JIT_KINDS:
            return self.call_jitted(t, args, kwargs, node, frame)
        if kind in _DIFFERENTIATION:
            return self.call_differentiated(t, args, kwargs, node, frame)
        if kind in ("vmap", "shard_map", "nnx.scan"):
            return self.call_mapped(t, args, kwargs, node, frame)
        if kind in ("checkpoint", "variant"):
            staged, options = self.stage_arguments(t, args, kwargs, frame, None)
            result = self.in_stage(
                t.target, Stage(kind, True, True, t.why, frame.stage), staged, options, node, frame
            )
            return result if frame.stage.staged else self.to_device(result, "")
        if kind == "pallas":
            return self.call_kernel(t, args, node, frame)
        if kind == "custom":
            # Its gradient is that of its rules: what it does inside is not differentiated.
            flow = flow_in([*args, *kwargs.values()])
            plain = [marked(value, None) for value in args]
            outer, self.differentiating = self.differentiating, 0
            result = self.call_custom(t, plain, kwargs, node, frame)
            self.differentiating = outer
            return result if flow is None else marked(result, flow)
        if kind == "checkify":
            stage = Stage("checkify", True, True, t.why, frame.stage)
            result = self.in_stage(t.target, stage, args, kwargs, node, frame)
            return TupleValue([UNKNOWN, result if frame.stage.staged else self.to_device(result, "")])
        if kind in ("hk.apply", "hk.init"):
            return self.call_haiku(t, args, kwargs, node, frame)
        if kind == "make_jaxpr":
            staged, options = self.stage_arguments(t, args, kwargs, frame, None)
            self.in_stage(
                t.target, Stage("make_jaxpr", True, True, t.why, frame.stage), staged, options, node, frame
            )
            return UNKNOWN
        if kind == "nn.lift":
            return self.call_lifted(t, args, kwargs, node, frame)
        return self.opaque_call([*args, *kwargs.values()], node, frame)

    def aside(
        self, own: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        """A library's own code for what the tables say: evaluated for what it shows of the library's functions."""
        used, before = frame.used, self.ledger.serial
        frame.used = {}
        result = self.call_value(own, args, kwargs, node, frame)
        frame.used = used
        self.ledger.forget(before)
        return result

    def call_custom(
        self, t: Transformed, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        if t.api == "jax.custom_vjp" and frame.stage.staged and not self.custom_rules:
            for number in constant_numbers(t.options.get("nondiff_argnums")) or ():
                if 0 <= number < len(args) and isinstance(args[number], Array):
                    names = self.signature(t.target)
                    name = names[number] if number < len(names) else f"argument {number}"
                    self.emit_argument(True, t, name, args[number], None, node, frame)
        self.custom_rules += bool(t.attributes.keys() & {"jvp", "fwd"})
        result = self.call_value(t.target, args, kwargs, node, frame)
        if t.api.endswith("custom_gradient") and isinstance(result, TupleValue) and result.items:
            return self.run_custom_gradient(t, result, args, node, frame)
        self.run_custom_rules(t, args, kwargs, node, frame)
        self.custom_rules -= bool(t.attributes.keys() & {"jvp", "fwd"})
        return result

    def in_stage(
        self,
        callee: Value,
        stage: Stage,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """Calls `callee` with the frame standing in `stage`, or where it stands when `jax.disable_jit` holds."""
        outer = frame.stage
        frame.stage = outer if self.unjitted else stage
        crossing, self.crossing = self.crossing, []
        try:
            if not self.unjitted:
                self.unflatten(crossing, args, node, frame)
            result = self.call_value(callee, args, kwargs, node, frame)
            if not self.unjitted:
                self.left([result], node, frame)
            return result
        finally:
            frame.stage = outer

    def call_jitted(
        self,
        t: Transformed,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        owner: Frame | None = frame
        while owner is not None and not owner.stage.staged and not self.choosing:
            if owner.loops:
                # The innermost loop that runs it: loops further out see it once per inner loop, not per step.
                for loop in reversed(owner.loops):
                    loop.calls_jitted = True
                    if loop.kind != "comprehension":
                        break
                break
            owner = owner.caller
        staged, options = self.stage_arguments(t, args, kwargs, frame, node)
        stage = Stage("jit" if t.kind != "pmap" else "pmap", True, True, t.why, frame.stage, bound_axes(t))
        result = self.in_stage(t.target, stage, staged, options, node, frame)
        self.dispatch(node, frame, t.label, t)
        return result if frame.stage.staged else self.to_device(result, t.label)

    def stage_arguments(
        self,
        t: Transformed,
        args: list[Value],
        kwargs: dict[str, Value],
        frame: Frame,
        node: ast.AST | None,
    ) -> tuple[list[Value], dict[str, Value]]:
        """Arguments as they are inside a jit-like transformation; tells rules what is passed as static."""
        names = self.signature(t.target)
        static_names, certain = self.static_parameters(t, names)
        self.boundary = (t, frame)
        keeps = self.spec_of(t).keeps_python if "spec" in t.attributes else False
        staged: list[Value] = []
        for position, value in enumerate(args):
            name = names[position] if position < len(names) else f"argument {position}"
            static = name in static_names or f"#{position}" in static_names
            if node is not None and (static or certain) and not self.unjitted:
                argument = _positional_node(node, position - _bound_before(node, args))
                self.emit_argument(static, t, name, value, argument, node, frame)
            staged.append(
                _static_inside(value)
                if static
                else self.to_staged(value, self.parameter_why(t, name), certain, keeps)
            )
        options: dict[str, Value] = {}
        for name, value in kwargs.items():
            static = name in static_names
            if node is not None and (static or certain) and not self.unjitted:
                self.emit_argument(static, t, name, value, _keyword_node(node, name), node, frame)
            if static:
                options[name] = _static_inside(value)
            else:
                options[name] = self.to_staged(value, self.parameter_why(t, name), certain, keeps)
        return staged, options

    def emit_argument(
        self,
        static: bool,
        t: Transformed,
        name: str,
        value: Value,
        argument: ast.expr | None,
        node: ast.AST,
        frame: Frame,
    ) -> None:
        """Tells rules what a call of a jitted function passes."""
        if static:
            self.emit("static_argument", events.StaticArgumentEvent(node, frame, t, name, value, argument))
        elif not isinstance(value, (Array, Unknown)) and not self.unjitted:
            self.emit("traced_argument", events.TracedArgumentEvent(node, frame, t, name, value, argument))

    def parameter_why(self, t: Transformed, name: str) -> Why:
        parameter = name if t.kind in JIT_KINDS else ""
        return Why(f"`{name}` is a parameter of `{t.label}`", cause=t.why, parameter=parameter)

    def static_parameters(self, t: Transformed, names: list[str]) -> tuple[set[str], bool]:
        """Names of static parameters ("#2" for positions without one), and whether all of them are known."""
        found: set[str] = set()
        certain = True
        by_name = constant_names(t.options.get("static_argnames"))
        if by_name is None:
            certain = False
        else:
            found.update(by_name)
        for key in ("static_argnums", "static_broadcasted_argnums", "nondiff_argnums"):
            numbers = constant_numbers(t.options.get(key))
            if numbers is None:
                certain = False
                continue
            for number in numbers:
                position = number if number >= 0 else number + len(names)
                found.add(names[position] if 0 <= position < len(names) else f"#{position}")
                found.add(f"#{position}")
        if "**" in t.options:
            certain = False
        return found, certain

    def signature(self, target: Value) -> list[str]:
        """Names of the positional parameters that a caller of `target` fills."""
        if isinstance(target, Function):
            if target.wraps is not None:  # functools.wraps: JAX, too, reads the signature of what is wrapped
                return self.signature(target.wraps)
            return [p.arg for p in positional_parameters(target.node)]
        if isinstance(target, BoundMethod):
            return self.signature(target.function)[1:]
        if isinstance(target, Partial):
            names = self.signature(target.function)[len(target.args) :]
            return [n for n in names if n not in target.kwargs]
        if isinstance(target, Transformed):
            names = self.signature(target.target)
            if target.kind == "hk.apply":
                return ["params", "rng", *names]
            return names
        if isinstance(target, Instance):
            call = target.cls.lookup("__call__")
            return self.signature(call)[1:] if isinstance(call, (Function, Transformed)) else []
        return []

    def call_differentiated(
        self,
        t: Transformed,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        numbers = constant_numbers(t.options.get("argnums")) or (0,)
        concrete = list(args)
        for number in numbers:
            if 0 <= number < len(concrete) and isinstance(concrete[number], (Static, NumpyArray)):
                concrete[number] = self.array_result(frame, [], node)
        owner: Frame | None = frame
        while owner is not None:
            owner.facts["grad"] = True
            owner = owner.caller if owner.stage.staged else None
        spec = t.attributes.get("spec")
        reverse = not (isinstance(spec, ExternalObject) and spec.name == "jax.jacfwd")
        if reverse and constant_numbers(t.options.get("argnums")) is not None:
            for number in numbers:
                if -len(concrete) <= number < len(concrete):
                    concrete[number] = marked(concrete[number], TANGENT)
        outer, self.gradient_why = self.gradient_why, t.why
        self.differentiating += reverse
        result = self.call_value(t.target, concrete, kwargs, node, frame)
        self.differentiating -= reverse
        self.gradient_why = outer
        self.dispatch(node, frame, t.label)
        inputs = [*concrete, *kwargs.values()]
        grads: list[Value] = []
        for _ in numbers:
            gradient = self.array_result(frame, inputs, node, role="grad", name=t.api)
            gradient.tree = True
            grads.append(gradient)
        single = "argnums" not in t.options or isinstance(constant(t.options["argnums"]), int)
        gradient_value: Value = grads[0] if single else TupleValue(grads)
        aux = t.options.get("has_aux")
        has_aux = aux is not None and constant(aux) is True
        unknown_aux = aux is not None and constant(aux) is MISSING
        value: Value = result
        extra: Value = UNKNOWN
        if has_aux and isinstance(result, TupleValue) and result.items is not None and len(result.items) == 2:
            value, extra = result.items
        elif has_aux:
            value = self.array_result(frame, inputs, node)
            result = UNKNOWN
            extra = self.opaque_call(inputs, node, frame)
        if unknown_aux:
            return self.opaque_call(inputs, node, frame)
        if reverse and result is not UNKNOWN:
            self.tell_stopped(t, value, frame)
        if flow_in([*args, *kwargs.values()]) is None:  # what it gives back is not differentiated any more
            value, extra = marked(value, None), marked(extra, None)
        if t.kind == "value_and_grad":
            if not isinstance(value, (Array, TupleValue)):
                value = self.array_result(frame, inputs, node)
            return TupleValue([TupleValue([value, extra]) if has_aux else value, gradient_value])
        return TupleValue([gradient_value, extra]) if has_aux else gradient_value

    def call_mapped(
        self,
        t: Transformed,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        names = self.signature(t.target)
        spec = self.spec_of(t)
        staged: list[Value] = []
        for position, value in enumerate(args):
            name = names[position] if position < len(names) else f"argument {position}"
            mapped = self.is_argument_mapped(t, position, name)
            if mapped is False:
                staged.append(value)
            else:
                certain = bool(mapped) or (isinstance(value, Array) and value.staged)
                staged.append(self.to_staged(value, self.parameter_why(t, name), certain, spec.keeps_python))
        options = {
            n: self.to_staged(v, self.parameter_why(t, n), t.kind == "vmap") for n, v in kwargs.items()
        }
        abstract = frame.stage.abstract or spec.abstract
        stage = Stage(t.kind, abstract, True, t.why, frame.stage, bound_axes(t))
        born, before = Origin(t.label).serial, list(frame.used)
        result = self.in_stage(t.target, stage, staged, options, node, frame)
        if t.kind == "vmap":
            changing = [v for v, s in zip(args, staged, strict=True) if s is not v]
            self.tell_constant_keys(t.api, t.target, before, born, [*changing, *kwargs.values()], node, frame)
        self.dispatch(node, frame, t.label)
        return result if frame.stage.staged else self.to_device(result, "")

    def is_argument_mapped(self, t: Transformed, position: int, name: str) -> bool | None:
        """Whether vmap, vectorize or shard_map makes a tracer of an argument; None when that is not known."""
        excluded = t.options.get("excluded")
        if excluded is not None:
            listed = constant(excluded)
            if not isinstance(listed, tuple):
                return None
            if position in listed or name in listed:
                return False
        # An argument without a spec is passed through shard_map as it is.
        mapped = self.is_mapped(t.options.get("in_specs" if t.kind == "shard_map" else "in_axes"), position)
        # `vectorize` maps only what has more dimensions than the function takes.
        return None if mapped and t.api == "jax.numpy.vectorize" else mapped

    def is_mapped(self, axes: Value | None, position: int) -> bool | None:
        """Whether vmap maps the argument at `position`; None when that is not known."""
        if axes is None:
            return True
        const = constant(axes)
        if isinstance(const, int) or isinstance(axes, ExternalObject):
            return True
        if isinstance(axes, (TupleValue, ListValue)) and axes.items is not None:
            if position >= len(axes.items):
                return None
            axis = axes.items[position]
            if isinstance(axis, Static) and axis.const is None:
                return False
            if isinstance(axis, (ExternalObject, TupleValue, DictValue)):
                return True  # a PartitionSpec, or a tree of axes
            return True if isinstance(constant(axis), int) else None
        return None

    def call_kernel(self, t: Transformed, args: list[Value], node: ast.AST, frame: Frame) -> Value:
        """A Pallas kernel: its parameters are mutable references."""
        names = self.signature(t.target)
        refs: list[Value] = [Array(True, self.parameter_why(t, name), role="ref") for name in names]
        self.in_stage(t.target, Stage("pallas", True, True, t.why, frame.stage), refs, {}, node, frame)
        result = self.array_result(frame, args, node, name="pallas_call")
        result.tree = True
        return result

    def run_custom_rules(
        self,
        t: Transformed,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> None:
        if not frame.stage.staged:
            return
        nondiff = constant_numbers(t.options.get("nondiff_argnums")) or ()
        names = self.signature(t.target)
        fixed: list[Value] = []  # what the rules get first, in the order of `nondiff_argnums`
        for n in nondiff:
            name = names[n] if n < len(names) else ""
            fixed.append(args[n] if n < len(args) else kwargs.get(name, UNKNOWN))
        rule = t.attributes.get("jvp")
        if rule is not None:
            primals = TupleValue([a for n, a in enumerate(args) if n not in nondiff])
            why = Why(f"it is a tangent of `{t.label}`", cause=frame.stage.why)
            tangents = TupleValue([Array(True, why, tree=True) for _ in primals.items or ()])
            self.call_value(rule, [*fixed, primals, tangents], {}, node, frame)
        forward, backward = t.attributes.get("fwd"), t.attributes.get("bwd")
        if forward is None:
            return
        residuals: Value = UNKNOWN
        told = [t.attributes["perturbed"]] if "perturbed" in t.attributes else []
        result = self.call_value(forward, [*told, *args], kwargs, node, frame)
        if isinstance(result, TupleValue) and result.items is not None and len(result.items) == 2:
            residuals = result.items[1]
        if backward is not None:
            cotangent = self.array_result(frame, args, node)
            cotangent.tree = True
            self.call_value(backward, [*fixed, residuals, cotangent], {}, node, frame)

    def run_custom_gradient(
        self, t: Transformed, result: TupleValue, args: list[Value], node: ast.AST, frame: Frame
    ) -> Value:
        """`jax.custom_gradient`: the function gives its value and the rule, which JAX stages at once."""
        assert result.items is not None
        if len(result.items) == 2:
            why = Why(f"it is a cotangent of `{t.label}`", cause=t.why)
            stage = Stage("custom_gradient", True, True, t.why, frame.stage)
            self.in_stage(result.items[1], stage, [Array(True, why, tree=True)], {}, node, frame)
        return result.items[0]

    def call_haiku(
        self,
        t: Transformed,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        skip = 1
        if t.kind == "hk.apply":
            skip = (2 if "stateful" in t.attributes else 1) + ("without_rng" not in t.attributes)
        options = {k: v for k, v in kwargs.items() if k not in ("rng", "params", "state")}
        passed = sum(k in kwargs for k in ("rng", "params", "state"))
        result = self.call_value(t.target, args[max(0, skip - passed) :], options, node, frame)
        if t.kind == "hk.init":
            params = self.array_result(frame, args, node)
            params.tree = True
            return TupleValue([params, params]) if "stateful" in t.attributes else params
        if "stateful" in t.attributes:
            state = self.array_result(frame, args, node)
            state.tree = True
            return TupleValue([result, state])
        return result

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
                result.attributes["own"] = self.attribute(base.attributes["own"], name, node, frame, True)
            spec = base.attributes.get("spec")
            if isinstance(spec, ExternalObject) and spec.name.endswith("with_state"):
                result.attributes["stateful"] = Static(True)
            return result
        if name in ("__wrapped__", "fun", "__func__"):
            return base.target
        return ExternalMethod(base, name)

    def call_transformed_method(
        self,
        base: Transformed,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """Methods of a transformed function: `.lower`, `.trace`, `.defvjp` ..."""
        if name == "def_fwd":  # of equinox, whose rule is told which arguments are perturbed
            base.attributes["perturbed"] = UNKNOWN
        if name in ("defvjp", "def_fwd") and args:
            base.attributes["fwd"] = args[0]
            if len(args) > 1:
                base.attributes["bwd"] = args[1]
            return Static(None)
        if name in ("defjvp", "def_jvp") and args:
            base.attributes["jvp"] = args[0]
            return args[0]
        if name in ("defjvps", "def_bwd") and args:
            if name == "def_bwd":
                base.attributes["bwd"] = args[0]
            return args[0]
        if name in ("lower", "trace", "eval_shape") and base.kind in JIT_KINDS:
            before = self.ledger.serial
            self.call_jitted(base, args, kwargs, node, frame)
            self.ledger.forget(before)  # nothing ran
            names, certain = self.static_parameters(base, self.signature(base.target))
            if name == "lower" and not names and certain:
                return ExternalObject("jax.stages.Lowered", [base])
        return UNKNOWN


def _registered(value: Instance, why: Why) -> Instance:
    """An object that JAX would refuse, unless something that is not seen registers its class as a pytree."""
    inside = Array(True, why, tree=True, certain=False)
    fields = {
        name: part if isinstance(part, CALLABLE) else join(part, inside)
        for name, part in value.fields.items()
    }
    return Instance(value.cls, fields, True, value.origin, value.ready, inside)


def _is_layer_with_arrays(value: Value, depth: int = 4) -> bool:
    if isinstance(value, ExternalObject):
        name = canonical(value.name)
        inside = value.args if name in SEQUENTIALS else ()
        return holds_arrays(name) or any(_is_layer_with_arrays(part, depth - 1) for part in inside)
    return depth > 0 and any(_is_layer_with_arrays(part, depth - 1) for part in parts_of(value))


def _static_inside(value: Value) -> Value:
    """A static argument inside; a tracer there raises at the call, so nothing is said of what follows."""
    return UNKNOWN if isinstance(value, Array) and value.staged else value


def _bound_before(node: ast.AST, args: list[Value]) -> int:
    """How many of the arguments are not written at the call: the receiver of a method, what a `partial` holds."""
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return 0
    return max(0, len(args) - len(node.args))


def _positional_node(node: ast.AST, position: int) -> ast.expr | None:
    """The expression of a positional argument of a call; None behind a starred one."""
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args[: position + 1]):
        return None
    return node.args[position] if 0 <= position < len(node.args) else None


def _keyword_node(node: ast.AST, name: str) -> ast.expr | None:
    if not isinstance(node, ast.Call):
        return None
    return next((keyword.value for keyword in node.keywords if keyword.arg == name), None)


_POSITIONAL_OPTIONS: dict[str, tuple[str, ...]] = {
    "vmap": ("in_axes", "out_axes"),
    "pmap": ("axis_name",),
    "grad": ("argnums", "has_aux"),
    "value_and_grad": ("argnums", "has_aux"),
    "jacobian": ("argnums", "has_aux"),
    "custom": ("nondiff_argnums",),
    "checkpoint": ("prevent_cse",),
}
_CALLED_DECORATORS = frozenset(
    {"jax.experimental.pallas.when", "functools.partial", GENERIC, *PRIMITIVE_RULES}
)
