"""Calls of transformed functions: what `jax.jit(f)(x)` stages, and what it gives back."""

from __future__ import annotations

import ast
from dataclasses import replace

from jaxlint.jaxapi.transforms import DIFFERENTIATION, JIT_KINDS
from jaxlint.staging import events
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.evaluator.scopes import (
    NOTHING,
    AtBoundary,
    Beside,
    KeysAside,
    Staged,
    Tracing,
    Undispatched,
)
from jaxlint.staging.tracking.gradients import Gradients
from jaxlint.staging.tracking.keys import Keys
from jaxlint.staging.tracking.meshes import bound_axes, keeps_value
from jaxlint.staging.tracking.timing import Timing
from jaxlint.staging.transforms.bodies import Bodies
from jaxlint.staging.transforms.boundary import Boundary
from jaxlint.staging.transforms.custom_rules import CustomRules
from jaxlint.staging.transforms.trees import Trees
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    BoundMethod,
    DictValue,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    Operation,
    Origin,
    Partial,
    StarArgument,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    bound_to,
    constant,
    map_parts,
)
from jaxlint.staging.values.constants import constant_names, constant_numbers, first_numbers
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import Stage, Why
from jaxlint.syntax.facts import positional_parameters, sizes_of_kernel

_MAPPING = frozenset({"vmap", "pmap", "shard_map"})
_TRACED_WITHOUT_JIT = frozenset({"vmap", "pmap", "checkpoint"})  # whatever `jax.disable_jit` says


class StagedCalls(Part):
    """Calling what a transformation made."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.boundary = machine.part(Boundary)
        self.calls = machine.part(Calls)
        self.bodies = machine.part(Bodies)
        self.custom_rules = machine.part(CustomRules)
        self.gradients = machine.part(Gradients)
        self.keys = machine.part(Keys)
        self.operators = machine.part(Operators)
        self.timing = machine.part(Timing)
        self.trees = machine.part(Trees)
        self.rowless: dict[ast.AST, set[str]] = {}  # parameters that are given arrays without rows alone

    def call_transformed(
        self,
        t: Transformed,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """The result of calling `t` in `frame`."""
        faked = t.kind == "pmap" and self.machine.fake_pmaps > 0
        if self.machine.unjitted and t.kind in _TRACED_WITHOUT_JIT and not faked:
            with Tracing(self.machine, 0):
                return self.call_transformed(t, args, kwargs, node, frame)
        own = t.attributes.get("own")
        if own is not None:
            self.aside(own, args, kwargs, node, frame, odd=t.kind == "nn.lift")
        kind = t.kind
        if kind in JIT_KINDS:
            return self.call_jitted(t, args, kwargs, node, frame)
        if kind in DIFFERENTIATION:
            return self.gradients.call_differentiated(t, args, kwargs, node, frame)
        if kind in ("vmap", "shard_map", "nnx.scan"):
            return self.call_mapped(t, args, kwargs, node, frame)
        if kind in ("checkpoint", "variant"):
            staged, options = self.stage_arguments(t, args, kwargs, frame, None)
            result = self.in_stage(
                t.target, Stage(kind, True, True, t.why, frame.stage), staged, options, node, frame
            )
            return result if frame.stage.staged else self.boundary.to_device(result, "")
        if kind == "pallas":
            return self.call_kernel(t, args, node, frame)
        if kind == "custom":
            return self.custom_rules.call_custom(t, args, kwargs, node, frame)
        if kind == "checkify":
            stage = Stage("checkify", True, True, t.why, frame.stage)
            result = self.in_stage(t.target, stage, args, kwargs, node, frame)
            return TupleValue(
                [UNKNOWN, result if frame.stage.staged else self.boundary.to_device(result, "")]
            )
        if kind in ("hk.apply", "hk.init"):
            return self.call_haiku(t, args, kwargs, node, frame)
        if kind == "make_jaxpr":
            staged, options = self.stage_arguments(t, args, kwargs, frame, None)
            self.in_stage(
                t.target, Stage("make_jaxpr", True, True, t.why, frame.stage), staged, options, node, frame
            )
            return UNKNOWN
        if kind == "nn.lift":
            return self.machine.staging.call_lifted(t, args, kwargs, node, frame)
        return self.calls.opaque_call([*args, *kwargs.values()], node, frame)

    def aside(
        self,
        own: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
        odd: bool = False,
    ) -> Value:
        """A library's own code for what the tables say: evaluated for what it shows of the library's functions.

        `odd`: it may see combinations that no program makes, so that nothing is reported of it.
        """
        with (
            Beside(self.machine) if odd else NOTHING,
            KeysAside(frame, {}),
            Undispatched(self.machine.ledger),
        ):
            return self.calls.call_value(own, args, kwargs, node, frame)

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
        crossing, self.machine.crossing = self.machine.crossing, []
        with Staged(frame, frame.stage if self.machine.unjitted else stage):
            if not self.machine.unjitted:
                self.trees.unflatten(crossing, args, node, frame)
            result = self.calls.call_value(callee, args, kwargs, node, frame)
            if not self.machine.unjitted:
                self.trees.left([result], node, frame)
            return result

    def call_jitted(
        self,
        t: Transformed,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        owner: Frame | None = frame
        while owner is not None and not owner.stage.staged and not self.machine.choosing:
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
        self.timing.dispatch(node, frame, t.label, t)
        if frame.stage.staged:
            given = [t.target, *args, *kwargs.values()]
            if not self.machine.unjitted and not self.leaves_python(t):
                result = _as_arrays(result)
            return self.bodies.flow_result(result, frame, given)
        return self.boundary.to_device(result, t.label, self.leaves_python(t))

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
        with AtBoundary(self.machine, (t, frame)):
            return self.convert_arguments(t, args, kwargs, names, static_names, certain, frame, node)

    def convert_arguments(
        self,
        t: Transformed,
        args: list[Value],
        kwargs: dict[str, Value],
        names: list[str],
        static_names: set[str],
        certain: bool,
        frame: Frame,
        node: ast.AST | None,
    ) -> tuple[list[Value], dict[str, Value]]:
        """The arguments of `stage_arguments`, of which `static_names` stay as they are."""
        keeps = self.leaves_python(t)
        staged: list[Value] = []
        # A static name that no parameter seen here has is one of those that `*args` stands for.
        unplaced = any(not name.startswith("#") for name in static_names.difference(names))
        spread = False
        for position, value in enumerate(args):
            name = names[position] if position < len(names) else f"argument {position}"
            static = name in static_names or f"#{position}" in static_names
            if isinstance(value, StarArgument):
                spread = bool(static_names)  # which of them are static is not known from here on
            spread = spread or (unplaced and position >= len(names))
            sure = certain and not spread
            static = static and not spread
            if node is not None and (static or sure) and not self.machine.unjitted:
                argument = _positional_node(node, position - _bound_before(node, args))
                self.emit_argument(static, t, name, value, argument, node, frame)
            staged.append(
                _static_inside(value, t)
                if static
                else self.boundary.to_staged(value, self.parameter_why(t, name), sure, keeps)
            )
        options: dict[str, Value] = {}
        for name, value in kwargs.items():
            static = name in static_names
            if node is not None and (static or certain) and not self.machine.unjitted:
                self.emit_argument(static, t, name, value, _keyword_node(node, name), node, frame)
            if static:
                options[name] = _static_inside(value, t)
            else:
                options[name] = self.boundary.to_staged(value, self.parameter_why(t, name), certain, keeps)
        self.note_rowless(t, dict(zip(names, staged, strict=False)) | options)
        return staged, options

    def note_rowless(self, t: Transformed, given: dict[str, Value]) -> None:
        """Remembers for which parameters each call of `t` that was seen gives arrays without rows."""
        known = self.rowless.get(t.node)
        if known is None or known:
            found = {n for n, value in given.items() if isinstance(value, Array) and value.rowless}
            self.rowless[t.node] = found if known is None else known & found

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
        """Tells rules what a call of a jitted function passes; not what it unpacks, whose names may be those of static parameters."""
        if name == "**":
            return
        if static:
            self.machine.emit(
                "static_argument", events.StaticArgumentEvent(node, frame, t, name, value, argument)
            )
        elif not isinstance(value, (Array, Unknown)) and not self.machine.unjitted:
            self.machine.emit(
                "traced_argument", events.TracedArgumentEvent(node, frame, t, name, value, argument)
            )

    def leaves_python(self, t: Transformed) -> bool:
        """Whether what is no array stays as it is on both sides, as under the transformations of equinox."""
        return "spec" in t.attributes and self.machine.staging.spec_of(t).keeps_python

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
            given = t.options.get(key)
            numbers = constant_numbers(given)
            if numbers is None:
                certain = False
                numbers = first_numbers(given)
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
            bound = bound_to(call, target, target.cls) if call is not None else None
            return self.signature(bound) if isinstance(bound, (BoundMethod, Function, Transformed)) else []
        return []

    def call_mapped(
        self,
        t: Transformed,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        names = self.signature(t.target)
        spec = self.machine.staging.spec_of(t)
        staged: list[Value] = []
        copies: list[Value] = []
        for position, value in enumerate(args):
            name = names[position] if position < len(names) else f"argument {position}"
            mapped = self.is_argument_mapped(t, position, name)
            if mapped is False:
                staged.append(value)
                continue
            certain = bool(mapped) or (isinstance(value, Array) and value.staged)
            inside = self.boundary.to_staged(value, self.parameter_why(t, name), certain, spec.keeps_python)
            copied = copied_in_rows(value)
            if copied is not None and isinstance(inside, Array):
                inside = replace(inside, origin=copied)  # each row is that array
                copies.append(value)
            staged.append(inside)
        options = {
            n: self.boundary.to_staged(v, self.parameter_why(t, n), t.kind == "vmap", spec.keeps_python)
            for n, v in kwargs.items()
        }
        abstract = frame.stage.abstract or spec.abstract
        stage = Stage(t.kind, abstract, True, t.why, frame.stage, bound_axes(t))
        born, before = Origin(t.label).serial, list(frame.used)
        result = self.in_stage(t.target, stage, staged, options, node, frame)
        if t.kind == "vmap":
            changing = [v for v, s in zip(args, staged, strict=True) if s is not v and v not in copies]
            self.keys.tell_constant_keys(
                t.api, t.target, before, born, [*changing, *kwargs.values()], node, frame
            )
        self.timing.dispatch(node, frame, t.label)
        if frame.stage.staged:
            given = [t.target, *args, *kwargs.values()]
            if t.kind in _MAPPING and not spec.keeps_python:
                result = _as_arrays(result)
            return self.bodies.flow_result(result, frame, given)
        return self.boundary.to_device(result, "", spec.keeps_python)

    def is_argument_mapped(self, t: Transformed, position: int, name: str) -> bool | None:
        """Whether vmap, vectorize or shard_map makes a tracer of an argument; None when that is not known."""
        excluded = t.options.get("excluded")
        if excluded is not None:
            listed = constant(excluded)
            if not isinstance(listed, tuple):
                return None
            if position in listed or name in listed:
                return False
        if t.kind == "shard_map":
            specs = t.options.get("in_specs")
            # An argument without a spec is passed as it is; what is replicated has its value, where that is checked.
            return False if keeps_value(t, specs, position) else self.is_mapped(specs, position)
        mapped = self.is_mapped(t.options.get("in_axes"), position)
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
        kernel = t.target.function if isinstance(t.target, Partial) else t.target
        sizes = sizes_of_kernel(kernel.node) if isinstance(kernel, Function) else frozenset[str]()
        names = [name for name in self.signature(t.target) if name not in sizes]
        refs: list[Value] = [Array(True, self.parameter_why(t, name), role="ref") for name in names]
        self.in_stage(t.target, Stage("pallas", True, True, t.why, frame.stage), refs, {}, node, frame)
        result = self.operators.array_result(frame, args, node, name="pallas_call")
        result.tree = True
        return result

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
        variables = None if t.kind == "hk.init" else kwargs.get("params", args[0] if args else None)
        given = args[max(0, skip - passed) :]
        result = self.gradients.under_parameters(variables, t.target, given, options, node, frame)
        if t.kind == "hk.init":
            params = self.operators.array_result(frame, args, node)
            params.tree, params.made = True, Operation("hk.init", (), {}, node)
            return TupleValue([params, params]) if "stateful" in t.attributes else params
        if "stateful" in t.attributes:
            state = self.operators.array_result(frame, args, node)
            state.tree = True
            return TupleValue([result, state])
        return result


def copied_in_rows(value: Value) -> Origin | None:
    """The identity of the one array that is in each row of `jnp.stack([x] * n)`; None where they may differ."""
    made = value.made if isinstance(value, Array) else None
    if made is None or made.name not in ("stack", "array", "asarray") or made.kwargs or len(made.args) != 1:
        return None
    rows = made.args[0]
    parts = rows.elements() if isinstance(rows, (ListValue, TupleValue)) else []
    found = {part.origin if isinstance(part, (Array, Unknown)) else None for part in parts}
    several = isinstance(rows, ListValue) and (rows.items is None or len(rows.items) > 1)
    return found.pop() if several and len(found) == 1 else None


def _as_arrays(value: Value) -> Value:
    """What a transformation gives to a trace around it: numbers that the function returns have become arrays."""
    if isinstance(value, (TupleValue, ListValue, DictValue)):
        return map_parts(value, _as_arrays)
    if isinstance(value, Static) and type(value.const) in (bool, int, float, complex):
        return Array(True, Why("it is the result of a transformation"), certain=False)
    return value


def _static_inside(value: Value, t: Transformed) -> Value:
    """A static argument inside; a tracer raises at the call, and so does an array that `jit` hashes: nothing is said of what follows."""
    if not isinstance(value, Array):
        return value
    hashed = value.certain and not value.tree and "nondiff_argnums" not in t.options
    return UNKNOWN if value.staged or hashed else value


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
