"""Derivative rules of the program: `custom_vjp`, `custom_jvp`, `custom_gradient`."""

from __future__ import annotations

import ast

from jaxlint.staging import events
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.evaluator.scopes import InRules, NotDifferentiated, NotReversed
from jaxlint.staging.shapes.agreement import tangents_of
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    Transformed,
    TupleValue,
    Value,
)
from jaxlint.staging.values.arrays import Form
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.constants import constant_names, constant_numbers
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.gradient_flow import flow_in, marked
from jaxlint.staging.values.stage import Stage, Why


class CustomRules(Part):
    """Evaluates calls that also trace a function's derivative rules."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.calls = machine.part(Calls)
        self.operators = machine.part(Operators)

    def call_custom(self, t: Transformed, call: Call) -> Value:
        """The result of calling a function with its own derivative rules.

        Its rules define its gradient: its body is not differentiated.
        """
        flow, derived = flow_in(call.inputs), self.machine.differentiating > 0
        plain = [marked(value, None) for value in call.args]
        with NotDifferentiated(self.machine, 0), NotReversed(self.machine, 0):
            result = self.run_custom(t, call.passing(plain), derived)
        return result if flow is None else marked(result, flow)

    def run_custom(self, t: Transformed, call: Call, derived: bool) -> Value:
        args, frame = call.args, call.frame
        if t.api == "jax.custom_vjp" and frame.stage.staged and not self.machine.custom_rules:
            for number in constant_numbers(t.options.get("nondiff_argnums")) or ():
                if 0 <= number < len(args) and isinstance(args[number], Array):
                    names = self.machine.staging.signature(t.target)
                    name = names[number] if number < len(names) else f"argument {number}"
                    self.machine.staging.emit_argument(True, t, name, args[number], None, call.node, frame)
        for value in args:
            if isinstance(value, Array) and value.made is None and value.form is None:
                value.form = Form()  # so that it is known to be the same array where it is passed on
        with InRules(self.machine, bool(t.attributes.keys() & {"jvp", "fwd"})):
            result = self.calls.call_value(t.target, call)
            if t.api.endswith("custom_gradient") and isinstance(result, TupleValue) and result.items:
                return self.run_custom_gradient(t, result, args, call.node, frame)
            self.run_custom_rules(t, call, result, derived)
        return result

    def run_custom_rules(self, t: Transformed, call: Call, computed: Value, derived: bool) -> None:
        """Evaluates the rules where they are traced, or a gradient is taken. `computed`: the result of the function."""
        args, frame = call.args, call.frame
        if not (frame.stage.staged or derived):
            return
        names = self.machine.staging.signature(t.target)
        named = constant_names(t.options.get("nondiff_argnames")) or ()
        numbers = constant_numbers(t.options.get("nondiff_argnums"))
        if numbers is None:
            return  # it is unknown which arguments the rules receive where
        nondiff = sorted(
            {
                *numbers,
                *(names.index(name) for name in named if name in names),
            }
        )
        fixed: list[Value] = []  # the first arguments of the rules, in the order of `nondiff_argnums`
        for n in nondiff:
            name = names[n] if n < len(names) else ""
            fixed.append(args[n] if n < len(args) else call.kwargs.get(name, UNKNOWN))
        rule = t.attributes.get("jvp")
        if rule is not None:
            primals = TupleValue([a for n, a in enumerate(args) if n not in nondiff])
            why = Why(f"a tangent of `{t.label}` in", cause=frame.stage.why)
            tangents = TupleValue(
                [self.tangent_of(a, Array(True, why, tree=True)) for a in primals.items or ()]
            )
            self.calls.call_value(rule, call.passing([*fixed, primals, tangents], {}))
        forward, backward = t.attributes.get("fwd"), t.attributes.get("bwd")
        if forward is None:
            return
        residuals: Value = UNKNOWN
        told = [t.attributes["perturbed"]] if "perturbed" in t.attributes else []
        result = self.calls.call_value(forward, call.passing([*told, *args]))
        event = events.ForwardResultEvent(call.node, frame, t, forward, result)
        self.machine.emit("forward_result", event)
        primal: Value = UNKNOWN
        if isinstance(result, TupleValue) and result.items is not None and len(result.items) == 2:
            primal, residuals = result.items
        if backward is not None:
            unknown = self.operators.array_result(frame, args, call.node)
            unknown.tree = True
            cotangent = tangents_of(primal, unknown)
            if isinstance(cotangent, Array) and cotangent.form is None:
                cotangent.form = Form()
            returned = self.calls.call_value(backward, call.passing([*fixed, residuals, cotangent], {}))
            event = events.ForwardResultEvent(
                call.node,
                frame,
                t,
                backward,
                returned,
                backward=True,
                primals=None if call.kwargs else [a for n, a in enumerate(args) if n not in nondiff],
                primal=computed,
                cotangent=cotangent,
            )
            self.machine.emit("forward_result", event)

    def run_custom_gradient(
        self, t: Transformed, result: TupleValue, args: list[Value], node: ast.AST, frame: Frame
    ) -> Value:
        """`jax.custom_gradient`: the function returns its value and the rule, which JAX traces at once."""
        assert result.items is not None
        if len(result.items) == 2:
            why = Why("a cotangent of", cause=t.why)
            stage = Stage("custom_gradient", True, True, t.why, frame.stage)
            cotangent = self.tangent_of(result.items[0], Array(True, why, tree=True))
            self.machine.staging.in_stage(result.items[1], stage, Call([cotangent], {}, node, frame))
        return result.items[0]

    def tangent_of(self, value: Value, tangent: Array) -> Value:
        """A tangent or cotangent of `value`; in an exact analysis with its structure, shapes and dtypes."""
        return tangents_of(value, tangent) if self.machine.exact else tangent
