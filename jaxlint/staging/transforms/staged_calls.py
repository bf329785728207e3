"""Calls of transformed functions: what `jax.jit(f)(x)` traces, and what it returns."""

from __future__ import annotations

from dataclasses import replace

from jaxlint.jaxapi.layer_classes import NNX_METRICS
from jaxlint.jaxapi.transforms import DIFFERENTIATION, JIT_KINDS
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.evaluator.scopes import (
    NOTHING,
    InLibraryCode,
    Staged,
    StartingWithKeys,
    Tracing,
    Undispatched,
)
from jaxlint.staging.tracking.gradients import Gradients
from jaxlint.staging.tracking.keys import Keys
from jaxlint.staging.tracking.meshes import bound_axes
from jaxlint.staging.tracking.timing import Timing
from jaxlint.staging.transforms.bodies import Bodies
from jaxlint.staging.transforms.boundary import Boundary
from jaxlint.staging.transforms.custom_rules import CustomRules
from jaxlint.staging.transforms.kernel_references import forms_of_references
from jaxlint.staging.transforms.mapped_axes import Rows, TreeRows
from jaxlint.staging.transforms.specs import spec_of
from jaxlint.staging.transforms.staged_arguments import StagedArguments
from jaxlint.staging.transforms.trees import Trees
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    DictValue,
    ExternalObject,
    Function,
    ListValue,
    Operation,
    Origin,
    Partial,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    constant,
    map_leaves,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.forms import equal, hidden, linked
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.keys import ConsumedKeys
from jaxlint.staging.values.stage import Stage, Why
from jaxlint.syntax.facts import sizes_of_kernel

_MAPPING = frozenset({"vmap", "pmap", "shard_map"})
_TRACED_WITHOUT_JIT = frozenset({"vmap", "pmap", "checkpoint"})  # in spite of `jax.disable_jit`


class StagedCalls(Part):
    """Evaluates calls of transformed functions."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.boundary = machine.part(Boundary)
        self.arguments = machine.part(StagedArguments)
        self.calls = machine.part(Calls)
        self.bodies = machine.part(Bodies)
        self.custom_rules = machine.part(CustomRules)
        self.gradients = machine.part(Gradients)
        self.keys = machine.part(Keys)
        self.operators = machine.part(Operators)
        self.timing = machine.part(Timing)
        self.trees = machine.part(Trees)

    def call_transformed(self, t: Transformed, call: Call) -> Value:
        """The result of calling `t` in `frame`."""
        frame = call.frame
        faked = t.kind == "pmap" and self.machine.fake_pmaps > 0
        if self.machine.unjitted and t.kind in _TRACED_WITHOUT_JIT and not faked:
            with Tracing(self.machine, 0):
                return self.call_transformed(t, call)
        own = t.attributes.get("own")
        if own is not None:
            self.run_library_code(own, call, odd=t.kind == "nn.lift")
        kind = t.kind
        if kind in JIT_KINDS:
            return self.call_jitted(t, call)
        if kind in DIFFERENTIATION:
            return self.gradients.call_differentiated(t, call)
        if kind in ("vmap", "shard_map", "nnx.scan"):
            return self.call_mapped(t, call)
        if kind in ("checkpoint", "variant"):
            staged = self.arguments.stage_arguments(t, call, told=False)
            keeps = kind == "checkpoint" or self.machine.exact
            if keeps:
                self.keep_shapes(staged, call)
            result = self.in_stage(t.target, Stage(kind, True, True, t.why, frame.stage), staged)
            if not keeps:
                result = hidden(result)
            return result if frame.stage.staged else self.boundary.to_device(result, "")
        if kind == "pallas":
            return self.call_kernel(t, call)
        if kind == "custom":
            return self.custom_rules.call_custom(t, call)
        if kind == "checkify":
            stage = Stage("checkify", True, True, t.why, frame.stage)
            result = self.in_stage(t.target, stage, call)
            return TupleValue(
                [UNKNOWN, result if frame.stage.staged else self.boundary.to_device(result, "")]
            )
        if kind in ("hk.apply", "hk.init"):
            return self.call_haiku(t, call)
        if kind == "make_jaxpr":
            staged = self.arguments.stage_arguments(t, call, told=False)
            self.in_stage(t.target, Stage("make_jaxpr", True, True, t.why, frame.stage), staged)
            return UNKNOWN
        if kind == "nn.lift":
            return self.machine.staging.call_lifted(t, call)
        return self.calls.opaque_call(call.inputs, call.node, frame)

    def run_library_code(self, own: Value, call: Call, odd: bool = False) -> Value:
        """Evaluates a library's own code for a tabulated function, for what it shows about the library's functions.

        `odd`: it may see combinations that no program creates, so it reports nothing.
        """
        with (
            InLibraryCode(self.machine) if odd else NOTHING,
            StartingWithKeys(call.frame, ConsumedKeys()),
            Undispatched(self.machine.ledger),
        ):
            return self.calls.call_value(own, call)

    def in_stage(self, callee: Value, stage: Stage, call: Call) -> Value:
        """Calls `callee` with the frame in `stage`; under `jax.disable_jit` the stage stays the same."""
        frame = call.frame
        crossing, self.machine.crossing = self.machine.crossing, []
        with Staged(frame, frame.stage if self.machine.unjitted else stage):
            if not self.machine.unjitted:
                self.trees.unflatten(crossing, call.args, call.node, frame)
            result = self.calls.call_value(callee, call)
            if not self.machine.unjitted:
                self.trees.take_results_apart([result], call.node, frame)
            return result

    def call_jitted(self, t: Transformed, call: Call) -> Value:
        frame = call.frame
        owner: Frame | None = frame
        while owner is not None and not owner.stage.staged and not self.machine.choosing:
            if owner.loops:
                # The innermost loop that runs it: an outer loop sees it once per inner loop, not per step.
                for loop in reversed(owner.loops):
                    loop.calls_jitted = True
                    if loop.kind != "comprehension":
                        break
                break
            owner = owner.caller
        staged = self.arguments.stage_arguments(t, call)
        if t.kind != "pmap":
            self.keep_shapes(staged, call)
        stage = Stage("jit" if t.kind != "pmap" else "pmap", True, True, t.why, frame.stage, bound_axes(t))
        result = self.in_stage(t.target, stage, staged)
        self.timing.dispatch(call.node, frame, t.label, t)
        if t.kind == "pmap":
            result = hidden(result)
        if frame.stage.staged:
            given = [t.target, *call.inputs]
            if not self.machine.unjitted and not self.arguments.leaves_python(t):
                result = _as_arrays(result)
            return self.bodies.flow_result(result, frame, given)
        if t.kind == "nnx.jit":
            for value in call.inputs:
                if isinstance(value, ExternalObject) and value.name in NNX_METRICS:
                    value.changed_by = t.label
        return self.boundary.to_device(result, t.label, self.arguments.leaves_python(t))

    def keep_shapes(self, staged: Call, call: Call) -> None:
        """Values inside have the shapes and elements that they have outside."""
        for inside, outside in zip(staged.args, call.args, strict=True):
            linked(inside, outside, equal)
        for name, inside in staged.kwargs.items():
            linked(inside, call.kwargs[name], equal)

    def call_mapped(self, t: Transformed, call: Call) -> Value:
        frame = call.frame
        names = self.arguments.signature(t.target)
        spec = spec_of(t)
        staged: list[Value] = []
        copies: list[Value] = []
        rows = TreeRows.of(t) if self.machine.exact else Rows.of(t)
        for position, value in enumerate(call.args):
            name = names[position] if position < len(names) else f"argument {position}"
            mapped = self.arguments.is_argument_mapped(t, position, name)
            if mapped is False:
                staged.append(value)
                continue
            certain = bool(mapped) or (isinstance(value, Array) and value.staged)
            inside = self.boundary.to_staged(
                value, self.arguments.parameter_why(t, name), certain, spec.keeps_python
            )
            copied = copied_in_rows(value)
            if copied is not None and isinstance(inside, Array):
                inside = replace(inside, origin=copied)  # each row is that array
                copies.append(value)
            staged.append(inside)
            if rows is not None:
                rows.see(inside, value, position)
        options = {
            n: self.boundary.to_staged(
                v, self.arguments.parameter_why(t, n), t.kind == "vmap", spec.keeps_python
            )
            for n, v in call.kwargs.items()
        }
        if isinstance(rows, TreeRows):
            for n, v in call.kwargs.items():
                rows.see_named(options[n], v)
        abstract = frame.stage.abstract or spec.abstract
        stage = Stage(t.kind, abstract, True, t.why, frame.stage, bound_axes(t))
        born, before = Origin(t.label).serial, list(frame.consumed)
        result = self.in_stage(t.target, stage, call.passing(staged, options))
        if t.kind == "vmap":
            changing = [v for v, s in zip(call.args, staged, strict=True) if s is not v and v not in copies]
            changing += self._mapped_inside(t.target, call.args)
            self.keys.tell_constant_keys(
                t.api, t.target, before, born, [*changing, *call.kwargs.values()], call.node, frame
            )
        self.timing.dispatch(call.node, frame, t.label)
        result = hidden(result) if rows is None or t.kind != "vmap" else rows.stacked(result)
        if frame.stage.staged:
            given = [t.target, *call.inputs]
            if t.kind in _MAPPING and not spec.keeps_python:
                result = _as_arrays(result)
            return self.bodies.flow_result(result, frame, given)
        return self.boundary.to_device(result, "", spec.keeps_python)

    def _mapped_inside(self, target: Value, given: list[Value]) -> list[Value]:
        """The arguments that another `vmap` inside maps. If that one maps over keys, all rows of the outer
        map are compared under the same keys.
        """
        while isinstance(target, Transformed) and target.kind in JIT_KINDS:
            target = target.target
        if not isinstance(target, Transformed) or target.kind != "vmap":
            return []
        names = self.arguments.signature(target.target)
        return [
            value
            for position, value in enumerate(given)
            if self.arguments.is_argument_mapped(
                target, position, names[position] if position < len(names) else ""
            )
        ]

    def call_kernel(self, t: Transformed, call: Call) -> Value:
        """Calls a Pallas kernel: its parameters are mutable references."""
        kernel = t.target.function if isinstance(t.target, Partial) else t.target
        sizes = sizes_of_kernel(kernel.node) if isinstance(kernel, Function) else frozenset[str]()
        names = [name for name in self.arguments.signature(t.target) if name not in sizes]
        forms = forms_of_references(t, len(names), call.args)
        refs: list[Value] = [
            Array(True, self.arguments.parameter_why(t, name), role="ref", form=form)
            for name, form in zip(names, forms, strict=True)
        ]
        self.in_stage(t.target, Stage("pallas", True, True, t.why, call.frame.stage), call.passing(refs, {}))
        result = self.operators.array_result(call.frame, call.args, call.node, name="pallas_call")
        result.tree = True
        return result

    def call_haiku(self, t: Transformed, call: Call) -> Value:
        args, node = call.args, call.node
        skip = 1
        if t.kind == "hk.apply":
            skip = (2 if "stateful" in t.attributes else 1) + ("without_rng" not in t.attributes)
        options = {k: v for k, v in call.kwargs.items() if k not in ("rng", "params", "state")}
        passed = sum(k in call.kwargs for k in ("rng", "params", "state"))
        variables = None if t.kind == "hk.init" else call.kwargs.get("params", args[0] if args else None)
        given = args[max(0, skip - passed) :]
        result = self.gradients.under_parameters(variables, t.target, call.passing(given, options))
        if t.kind == "hk.init":
            params = self.operators.array_result(call.frame, args, node)
            params.tree, params.made = True, Operation("hk.init", (), {}, node)
            return TupleValue([params, params]) if "stateful" in t.attributes else params
        if "stateful" in t.attributes:
            state = self.operators.array_result(call.frame, args, node)
            state.tree, state.made = True, Operation("hk.apply", (), {}, node)
            return TupleValue([result, state])
        return result


def copied_in_rows(value: Value) -> Origin | None:
    """The identity of the array that is each row of `jnp.stack([x] * n)` or `jnp.broadcast_to(x, (n,))`; None if rows
    may differ."""
    made = value.made if isinstance(value, Array) else None
    if made is not None and made.name == "broadcast_to" and len(made.args) == 2:
        whole, sizes = made.args
        if isinstance(whole, (Array, Unknown)) and isinstance(sizes, (TupleValue, ListValue)) and sizes.items:
            # one typed key, or one of two numbers: a batch of keys has more axes
            of_one = len(sizes.items) == 1 or (len(sizes.items) == 2 and constant(sizes.items[1]) == 2)
            return whole.origin if of_one else None
        return None
    if made is None or made.name not in ("stack", "array", "asarray") or made.kwargs or len(made.args) != 1:
        return None
    rows = made.args[0]
    parts = rows.elements() if isinstance(rows, (ListValue, TupleValue)) else []
    found = {part.origin if isinstance(part, (Array, Unknown)) else None for part in parts}
    several = isinstance(rows, ListValue) and (rows.items is None or len(rows.items) > 1)
    row = found.pop() if several and len(found) == 1 else None
    return None if row is not None and row.several else row


def _as_arrays(value: Value) -> Value:
    """The result of a transformation under an outer trace: numbers that the function returns have become arrays."""
    if isinstance(value, (TupleValue, ListValue, DictValue)):
        return map_leaves(value, _as_arrays)
    if isinstance(value, Static) and type(value.const) in (bool, int, float, complex):
        return Array(True, Why("the result of a transformation"), certain=False)
    return value
