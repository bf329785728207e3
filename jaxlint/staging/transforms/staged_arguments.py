"""The arguments of a transformed function: which parameters are static or mapped, and what the others receive."""

from __future__ import annotations

import ast

from jaxlint.jaxapi.transforms import JIT_KINDS
from jaxlint.staging import events
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.scopes import (
    AtBoundary,
)
from jaxlint.staging.tracking.meshes import keeps_value
from jaxlint.staging.transforms.boundary import Boundary
from jaxlint.staging.transforms.specs import spec_of
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    BoundMethod,
    DictValue,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    Partial,
    StarArgument,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    bound_to,
    constant,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.constants import constant_names, constant_numbers, first_numbers
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import Why
from jaxlint.syntax.facts import positional_parameters


class StagedArguments(Part):
    """Converts the arguments of transformed functions."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.boundary = machine.part(Boundary)
        self.rowless: dict[ast.AST, set[str]] = {}  # parameters that only receive arrays without rows

    def stage_arguments(self, t: Transformed, call: Call, told: bool = True) -> Call:
        """The call as it is inside a jit-like transformation. `told`: emits events for its arguments."""
        names = self.signature(t.target)
        static_names, certain = self.static_parameters(t, names)
        with AtBoundary(self.machine, (t, call.frame)):
            return self.convert_arguments(t, call, names, static_names, certain, told)

    def convert_arguments(
        self,
        t: Transformed,
        call: Call,
        names: list[str],
        static_names: set[str],
        certain: bool,
        told: bool,
    ) -> Call:
        """The call of `stage_arguments`, in which `static_names` keep their values."""
        keeps = self.leaves_python(t)
        staged: list[Value] = []
        node, frame = call.node, call.frame
        told = told and not self.machine.unjitted
        # A static name without a visible parameter belongs to one of those behind `*args`.
        unplaced = any(not name.startswith("#") for name in static_names.difference(names))
        spread = False
        for position, value in enumerate(call.args):
            name = names[position] if position < len(names) else f"argument {position}"
            static = name in static_names or f"#{position}" in static_names
            if isinstance(value, StarArgument):
                spread = bool(static_names)  # from here on it is unknown which of them are static
            spread = spread or (unplaced and position >= len(names))
            sure = certain and not spread
            static = static and not spread
            if told and (static or sure):
                argument = _positional_node(node, position - _bound_before(node, call.args))
                self.emit_argument(static, t, name, value, argument, node, frame)
            staged.append(
                _static_inside(value, t)
                if static
                else self.boundary.to_staged(value, self.parameter_why(t, name), sure, keeps)
            )
        options: dict[str, Value] = {}
        for name, value in call.kwargs.items():
            static = name in static_names
            if told and (static or certain):
                self.emit_argument(static, t, name, value, _keyword_node(node, name), node, frame)
            if static:
                options[name] = _static_inside(value, t)
            else:
                options[name] = self.boundary.to_staged(value, self.parameter_why(t, name), certain, keeps)
        self.note_rowless(t, dict(zip(names, staged, strict=False)) | options)
        return call.passing(staged, options)

    def note_rowless(self, t: Transformed, given: dict[str, Value]) -> None:
        """Records the parameters for which each visible call of `t` passes arrays without rows."""
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
        """Emits an event for an argument of a jitted function. Unpacked arguments are skipped: their names may be
        static parameters."""
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
        """Whether values that are not arrays stay unchanged on both sides, as in the transformations of equinox."""
        return "spec" in t.attributes and spec_of(t).keeps_python

    def parameter_why(self, t: Transformed, name: str) -> Why:
        parameter = name if t.kind in JIT_KINDS else ""
        named = name if name.startswith("argument ") else f"`{name}`, a parameter"
        return Why(f"{named} of", cause=t.why, parameter=parameter)

    def static_parameters(self, t: Transformed, names: list[str]) -> tuple[set[str], bool]:
        """Names of static parameters ("#2" for nameless positions), and whether all of them are known."""
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
        """The names of the parameters that a caller of `target` passes by position."""
        if isinstance(target, Function):
            # functools.wraps: JAX also reads the signature of the wrapped function
            if target.wraps is not None:
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

    def is_argument_mapped(self, t: Transformed, position: int, name: str) -> bool | None:
        """Whether vmap, vectorize or shard_map turns an argument into a tracer; None if unknown."""
        excluded = t.options.get("excluded")
        if excluded is not None:
            listed = constant(excluded)
            if not isinstance(listed, tuple):
                return None
            if position in listed or name in listed:
                return False
        if t.kind == "shard_map":
            specs = t.options.get("in_specs")
            # An argument without a spec is passed unchanged; a replicated one has its value if JAX checks that.
            return False if keeps_value(t, specs, position) else self.is_mapped(specs, position)
        mapped = self.is_mapped(t.options.get("in_axes"), position)
        # `vectorize` only maps arguments with more dimensions than the function takes.
        return None if mapped and t.api == "jax.numpy.vectorize" else mapped

    def is_mapped(self, axes: Value | None, position: int) -> bool | None:
        """Whether vmap maps the argument at `position`; None if unknown."""
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


def _static_inside(value: Value, t: Transformed) -> Value:
    """A static argument inside the function. A tracer raises at the call, and so does an array that `jit`
    hashes: the code after it is unknown.
    """
    if not isinstance(value, Array):
        return value
    hashed = value.certain and not value.tree and "nondiff_argnums" not in t.options
    return UNKNOWN if value.staged or hashed else value


def _bound_before(node: ast.AST, args: list[Value]) -> int:
    """The number of arguments that the call does not spell out: the receiver of a method, those of a `partial`."""
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return 0
    return max(0, len(args) - len(node.args))


def _positional_node(node: ast.AST, position: int) -> ast.expr | None:
    """The expression of a positional argument of a call; None after a starred one."""
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args[: position + 1]):
        return None
    return node.args[position] if 0 <= position < len(node.args) else None


def _keyword_node(node: ast.AST, name: str) -> ast.expr | None:
    if not isinstance(node, ast.Call):
        return None
    return next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
