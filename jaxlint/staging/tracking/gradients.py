"""Gradient flow: arrays that depend on differentiated values, and loops without a reverse mode.

The arguments of a differentiated function carry the mark `TANGENT`, and so does everything computed from them. In
reverse mode, the result of a `while_loop` over them carries the mark of that loop instead: if it reaches the
function's result, JAX cannot take the gradient. Outside such functions nothing is marked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from jaxlint.jaxapi.dtypes import canonical_dtype, strong
from jaxlint.staging import events
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.evaluator.scopes import Differentiating, OfGradient, Parameters, Reversing
from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.shapes.exact import form_of
from jaxlint.staging.tracking.timing import Timing
from jaxlint.staging.values import (
    MISSING,
    TANGENT,
    UNKNOWN,
    Array,
    AtIndexer,
    DictValue,
    ExternalObject,
    Flow,
    ListValue,
    NumpyArray,
    Operation,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    constant,
    innermost,
    join,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.constants import constant_numbers
from jaxlint.staging.values.dtypes import dtype_of
from jaxlint.staging.values.forms import same
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.gradient_flow import flow_in, marked
from jaxlint.staging.values.leaves import UnclearTreeError, mapped
from jaxlint.staging.values.stage import Why

# Functions with a zero derivative, or that JAX does not differentiate. Integer results are recognised by their dtype.
_STOPPING = frozenset(
    """floor ceil round rint trunc fix sign digitize heaviside zeros_like ones_like full_like empty_like
    stop_gradient isreal iscomplex""".split()  # noqa: SIM905
)
_INTEGERS = ("bool", "int", "uint")
_OF_SCALARS = frozenset({"grad", "value_and_grad"})  # JAX takes these gradients of scalars alone


class Gradients(Part):
    """Tracks gradient flow."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.calls = machine.part(Calls)
        self.function_calls = machine.part(FunctionCalls)
        self.operators = machine.part(Operators)
        self.timing = machine.part(Timing)
        self.gradient_roots: set[ast.AST] = set()  # functions under a gradient

    def call_differentiated(self, t: Transformed, call: Call) -> Value:
        node, frame = call.node, call.frame
        numbers = constant_numbers(t.options.get("argnums")) or (0,)
        concrete = list(call.args)
        for number in numbers:
            if 0 <= number < len(concrete) and isinstance(given := concrete[number], (Static, NumpyArray)):
                concrete[number] = made = self.operators.array_result(frame, [], node)
                if isinstance(given, NumpyArray):
                    made.dtype, made.form = canonical_dtype(given.dtype), same(given)
        frame.note_gradient()
        spec = t.attributes.get("spec")
        reverse = not (isinstance(spec, ExternalObject) and spec.name == "jax.jacfwd")
        if constant_numbers(t.options.get("argnums")) is not None:
            for number in numbers:
                if -len(concrete) <= number < len(concrete):
                    concrete[number] = marked(concrete[number], TANGENT)
        with OfGradient(self.machine, t.why):
            result = self.under_gradient(reverse, t.target, call.passing(concrete))
        if t.kind in _OF_SCALARS:
            self.machine.emit("differentiated", events.DifferentiatedEvent(node, frame, t, result))
        self.timing.dispatch(node, frame, t.label)
        inputs = [*concrete, *call.kwargs.values()]
        gradient = self.gradients_by(t, call, numbers, inputs, result)
        aux = t.options.get("has_aux")
        has_aux = aux is not None and constant(aux) is True
        unknown_aux = aux is not None and constant(aux) is MISSING
        value: Value = result
        extra: Value = UNKNOWN
        if has_aux and isinstance(result, TupleValue) and result.items is not None and len(result.items) == 2:
            value, extra = result.items
        elif has_aux:
            value = self.operators.array_result(frame, inputs, node)
            result = UNKNOWN
            extra = self.calls.opaque_call(inputs, node, frame)
        if unknown_aux:
            return self.calls.opaque_call(inputs, node, frame)
        if reverse and result is not UNKNOWN:
            self.tell_stopped(t, value, frame)
        if flow_in(call.inputs) is None:  # its result is no longer differentiated
            value, extra = marked(value, None), marked(extra, None)
        if t.kind == "value_and_grad":
            if not isinstance(value, (Array, TupleValue)):
                value = self.operators.array_result(frame, inputs, node)
            return TupleValue([TupleValue([value, extra]) if has_aux else value, gradient])
        return TupleValue([gradient, extra]) if has_aux else gradient

    def gradients_by(
        self, t: Transformed, call: Call, numbers: tuple[int, ...], inputs: list[Value], result: Value
    ) -> Value:
        """The gradient that `t` returns: one value if `argnums` is a number, a tuple if it is a tuple."""
        found: list[Value] = []
        for number in numbers:
            whole = self.gradient_of(t, call, number) or self.jacobian_of(t, call, number, result)
            if whole is not None:
                found.append(whole)
                continue
            gradient = self.operators.array_result(call.frame, inputs, call.node, role="grad", name=t.api)
            gradient.tree = True
            given = call.args[number] if -len(call.args) <= number < len(call.args) else UNKNOWN
            if t.kind in _OF_SCALARS and isinstance(given, (Array, Unknown)):
                gradient.like = given.origin  # the structure, the shapes and the dtypes of the argument
            if t.kind in _OF_SCALARS and isinstance(given, Array) and given.certain and not given.tree:
                gradient.tree, gradient.form = False, same(given)
                gradient.dtype = canonical_dtype(given.dtype)  # weak if the argument is
            found.append(gradient)
        asked = t.options.get("argnums", Static(0))
        if isinstance(asked, (Static, Array, NumpyArray)):  # some number
            return found[0]
        return TupleValue(found) if isinstance(asked, (TupleValue, ListValue)) else join(found[0], UNKNOWN)

    def jacobian_of(self, t: Transformed, call: Call, number: int, result: Value) -> Value | None:
        """The derivatives of one array by another, in an exact analysis: their shape is that of the result
        followed by that of the argument (twice for a Hessian).
        """
        if not self.machine.exact or t.kind != "jacobian" or not -len(call.args) <= number < len(call.args):
            return None
        given = call.args[number]
        if not all(isinstance(one, Array) and not one.tree for one in (given, result)):
            return None
        sizes, inner = symbolic_shape(result), symbolic_shape(given)
        if sizes is None or inner is None:
            return None
        found = self.operators.array_result(call.frame, [given], call.node, role="grad", name=t.api)
        dtypes = {strong(dtype_of(one)) for one in (given, result)}
        found.dtype = dtypes.pop() if len(dtypes) == 1 else ""
        found.form = form_of((*sizes, *inner, *(inner if t.api.endswith("hessian") else ())))
        return found

    def gradient_of(self, t: Transformed, call: Call, number: int) -> Value | None:
        """The gradient for an argument with known leaves: the same structure; None for others. In an analysis that is
        not exact, one array is left to `gradients_by`."""
        if t.kind not in _OF_SCALARS or not -len(call.args) <= number < len(call.args):
            return None
        if not self.machine.exact and not isinstance(call.args[number], (DictValue, ListValue, TupleValue)):
            return None

        def change(leaf: Value) -> Value:
            gradient = self.operators.array_result(call.frame, [leaf], call.node, role="grad", name=t.api)
            gradient.dtype, gradient.form = canonical_dtype(dtype_of(leaf)), same(leaf)
            gradient.like = leaf.origin if isinstance(leaf, Array) else None
            return gradient

        try:
            return mapped(change, call.args[number], [])
        except UnclearTreeError:
            return None

    def under_gradient(self, reverse: bool, function: Value, call: Call) -> Value:
        """Calls a differentiated function, in reverse or forward mode."""
        with Differentiating(self.machine), Reversing(self.machine, reverse):
            return self.calls.call_value(function, call)

    def tell_stopped(self, t: Transformed | None, loss: Value, frame: Frame | None = None) -> None:
        """Emits an event if the differentiated result comes from a loop without a reverse mode."""
        flow = flow_in([loss])
        if flow is not None and isinstance(flow.frame, Frame) and flow.node is not None:
            self.machine.emit("reverse_mode", events.ReverseModeEvent(flow.node, flow.frame, t, flow.api))
        elif flow is None and t is not None and frame is not None:
            stopped: list[Operation] = []
            if isinstance(loss, Array) and loss.certain and _comes_out_of_steps(loss, stopped) and stopped:
                inner = self.frame_of(t, stopped[0].node, frame)
                if inner is not None:
                    self.machine.emit(
                        "zero_gradient", events.ZeroGradientEvent(stopped[0].node, inner, t, stopped[0])
                    )

    def under_parameters(self, variables: Value | None, function: Value, call: Call) -> Value:
        """Calls a function that gets its parameters, these `variables`, from flax or haiku."""
        if not self.machine.differentiating:
            return self.calls.call_value(function, call)
        with Parameters(self.machine, flow_in([variables] if variables is not None else [])):
            return self.calls.call_value(function, call)

    def differentiated(self, values: Iterable[Value]) -> Array | None:
        """The first array that carries a gradient outside any trace, as a tracer.

        It has a truth, so `if` works, but NumPy and `float` fail on it.
        """
        if not self.machine.differentiating:
            return None
        for value in values:
            for part in _items(value):
                if not isinstance(part, Array) or part.flow is None or part.role in ("key", "ref"):
                    continue
                if part.certain and not part.tree and not part.staged:
                    why = Why("a differentiated argument of", cause=self.machine.gradient_why)
                    return replace(part, staged=True, why=why)
        return None

    def frame_of(self, t: Transformed, node: ast.AST, frame: Frame) -> Frame | None:
        """The activation of the function of `t` that was just evaluated; None if `node` is in another file."""
        function = innermost(t.target)[0]
        record = self.function_calls.records.get(function.node) if function is not None else None
        last = record.last if record is not None else None
        return last if last is not None and node in last.module.parents else None

    def loop_result(self, api: str, carry: Value, result: Value, node: ast.AST, frame: Frame) -> Value:
        """The result of a `while_loop`: parts that depend on differentiated values carry the mark of the loop."""
        if not self.machine.reversing:
            return result
        if isinstance(result, Array):
            if isinstance(carry, Array) and result.origin is not None and result.origin is carry.origin:
                return result  # passed through unchanged
            before = flow_in([carry])
            flow = before if before is not None and before.node is not None else result.flow or before
            if flow is None or result.dtype.startswith(_INTEGERS):
                return result
            return replace(result, flow=flow if flow.node is not None else Flow(node, frame, api))
        if isinstance(result, (TupleValue, ListValue)) and result.items is not None:
            given = carry.items if isinstance(carry, (TupleValue, ListValue)) else None
            if given is None or len(given) != len(result.items):
                return result
            items = [
                self.loop_result(api, a, b, node, frame) for a, b in zip(given, result.items, strict=True)
            ]
            return (
                TupleValue(items, cls=result.cls)
                if isinstance(result, TupleValue)
                else ListValue(items, result.element, result.kind, stage=frame.stage)
            )
        if isinstance(result, DictValue) and isinstance(carry, DictValue):
            known = {
                key: self.loop_result(api, carry.items[key], value, node, frame)
                if key in carry.items
                else value
                for key, value in result.items.items()
            }
            return DictValue(known, result.element, frame.stage)
        return result


def _items(value: Value, depth: int = 3) -> Iterator[Value]:
    """The elements of nested lists, such as the rows of a matrix."""
    if depth > 0 and isinstance(value, (TupleValue, ListValue)):
        for part in value.elements():
            yield from _items(part, depth - 1)
    else:
        yield value


def _comes_out_of_steps(value: Value, stopped: list[Operation], depth: int = 40) -> bool:
    """Whether all inputs of `value` are known, and those under a gradient passed through operations without a
    derivative, collected in `stopped`."""
    if not isinstance(value, Array):
        return not isinstance(value, (Unknown, AtIndexer))
    if value.flow is not None or depth == 0:
        return False
    made = value.made
    if made is None:
        return value.origin is not None and value.certain
    if not made.args:
        return False
    if flow_in(made.args) is not None:
        if not stops_gradient(made.name, value.dtype):
            return False
        stopped.append(made)
        return True
    return all(_comes_out_of_steps(part, stopped, depth - 1) for part in made.args)


def stops_gradient(name: str, dtype: str) -> bool:
    """Whether the operation `name` with a result of `dtype` has no derivative, or a zero one."""
    return name in _STOPPING or dtype.startswith(_INTEGERS)


__all__ = ["TANGENT", "Gradients", "flow_in", "marked", "stops_gradient"]
