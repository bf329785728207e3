"""flax.linen's lifted transformations: they take a module class, or a function of a module, and trace everything but
the module itself."""

from __future__ import annotations

import copy
from dataclasses import replace

from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.transforms.bodies import Bodies
from jaxlint.staging.transforms.boundary import Boundary
from jaxlint.staging.transforms.specs import spec_of
from jaxlint.staging.transforms.staged_arguments import StagedArguments
from jaxlint.staging.transforms.staged_calls import StagedCalls
from jaxlint.staging.values import (
    Array,
    BoundMethod,
    ClassValue,
    DictValue,
    External,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    Static,
    Transformed,
    TupleValue,
    Value,
    constant,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.constants import constant_names
from jaxlint.staging.values.copies import fresh
from jaxlint.staging.values.forms import hidden
from jaxlint.staging.values.stage import Stage, Why


class Lifting(Part):
    """Evaluates lifted transformations."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.boundary = machine.part(Boundary)
        self.calls = machine.part(Calls)
        self.bodies = machine.part(Bodies)
        self.staged_arguments = machine.part(StagedArguments)
        self.staged_calls = machine.part(StagedCalls)
        # Classes that lifting created, by the call and the original class.
        self.lifted: dict[object, ClassValue] = {}

    def lift_class(self, t: Transformed, cls: ClassValue) -> ClassValue:
        """The class that `nn.scan(Cell)` creates: `Cell`, with its `__call__` (or `methods`) traced."""
        key = (id(t.node), id(cls.node), cls.scope.serial)
        known = self.lifted.get(key)
        if known is not None:
            return known
        listed = t.options.get("methods")
        methods = tuple(listed.items) if isinstance(listed, DictValue) else constant_names(listed)
        lifted = ClassValue(
            copy.copy(cls.node),
            cls.module,
            cls.scope,
            cls.qualname,
            [cls],
            cls.model,
            meta=cls.meta,
            lifts=cls,
        )
        for name in methods or ("__call__",):
            method = cls.lookup(name) if isinstance(name, str) else None
            if isinstance(method, (Function, Transformed)):
                lifted.namespace[name] = replace(t, kind="nn.lift", target=method)
        self.lifted[key] = lifted
        return lifted

    def call_lifted(self, t: Transformed, call: Call) -> Value:
        """A lifted function or method: its first argument is the module, the others are traced."""
        frame = call.frame
        spec = spec_of(t)
        names = self.staged_arguments.signature(t.target)
        static, certain = self.staged_arguments.static_parameters(t, names)
        # an option of `remat`, which JAX has removed: numbers stay numbers
        concrete = t.options.get("concrete")
        certain = certain and (concrete is None or constant(concrete) is False)
        axes = t.options.get("in_axes")
        staged = call.args[:1]
        for position, value in enumerate(call.args[1:], start=1):
            name = names[position] if position < len(names) else f"argument {position}"
            mapped = None if axes is None else self.is_lifted_over(t, axes, position)
            traced = isinstance(value, Array) and value.staged
            if traced or name in static or f"#{position}" in static or mapped is False:
                staged.append(value)
                continue
            staged.append(
                self.boundary.to_staged(
                    value, self.staged_arguments.parameter_why(t, name), certain and axes is None
                )
            )
        options = {
            name: value
            if name in static or _is_scan(t)
            else self.boundary.to_staged(value, self.staged_arguments.parameter_why(t, name), certain)
            for name, value in call.kwargs.items()
        }
        stage = Stage("nn.lift", spec.abstract or frame.stage.abstract, True, t.why, frame.stage, None)
        result = hidden(self.staged_calls.in_stage(t.target, stage, call.passing(staged, options)))
        return result if frame.stage.staged else self.boundary.to_device(result, "")

    def is_lifted_over(self, t: Transformed, axes: Value, position: int) -> bool | None:
        """Whether an argument is sliced along an axis. With `nn.scan`, the first argument after the module is the
        carry."""
        position -= 2 if _is_scan(t) else 1
        if position < 0:
            return True
        axis = (
            axes.items[position]
            if isinstance(axes, TupleValue) and axes.items and position < len(axes.items)
            else axes
        )
        if isinstance(axis, (External, ExternalObject)):
            return False  # `nn.broadcast`
        if isinstance(axis, Static) and axis.const is None:
            return False
        return True if isinstance(constant(axis), int) else None

    # -- control flow over modules: `nn.cond(pred, f, g, module, *operands)`

    def lifted_flow(self, short: str, call: Call) -> Value:
        """Evaluates the functions passed to `nn.cond`, `nn.switch` and `nn.while_loop`."""
        args, node, frame = call.args, call.node, call.frame
        api = f"nn.{short}"
        if short == "while_loop":
            functions, rest = args[:2], args[2:4]
        elif short == "switch":
            functions, rest = (
                args[1].elements() if len(args) > 1 and isinstance(args[1], (TupleValue, ListValue)) else [],
                args[2:],
            )
        else:
            functions, rest = args[1:3], args[3:]
        if not functions or not rest:
            return self.calls.opaque_call(call.inputs, node, frame)
        module, *operands = rest
        results: list[Value] = []
        for given in functions:
            # The module comes as an argument, even if the method is bound to one.
            bound = isinstance(given, BoundMethod) and isinstance(given.receiver, Instance)
            function = given.function if isinstance(given, BoundMethod) and bound else given
            why = self.bodies.body_why(api, function, node, frame)
            part = Why("an operand of", cause=why)
            staged = [fresh(self.boundary.to_staged(value, part)) for value in operands]
            results.append(
                self.bodies.staged_call(api, function, [module, *staged], node, frame, "cond", why)
            )
        return self.bodies.flow_result(results[-1], frame)


def _is_scan(t: Transformed) -> bool:
    return t.api.rpartition(".")[2] in ("scan", "scan_with_axes")
