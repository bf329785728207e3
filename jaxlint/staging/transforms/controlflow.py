"""Control flow that traces its function arguments at once: scan, cond, loops, tree.map and callbacks."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace

from jaxlint.jaxapi.dtypes import promote, strong
from jaxlint.jaxapi.transforms import CALLERS
from jaxlint.staging import events
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.evaluator.scopes import StartingWithKeys, Tracing
from jaxlint.staging.shapes.agreement import of_branches
from jaxlint.staging.shapes.known import number_of, rows_of
from jaxlint.staging.tracking.gradients import TANGENT, Gradients
from jaxlint.staging.tracking.keys import Keys
from jaxlint.staging.transforms.bodies import Bodies
from jaxlint.staging.transforms.boundary import Boundary
from jaxlint.staging.transforms.carries import (
    as_large_as,
    final_carry,
    first_of_pair,
    given_way,
    is_pair,
    without_operation,
)
from jaxlint.staging.transforms.tree_maps import TreeMaps
from jaxlint.staging.values import (
    CALLABLE,
    MISSING,
    UNKNOWN,
    Array,
    ExternalObject,
    ListValue,
    NumpyArray,
    Operation,
    Origin,
    Partial,
    StarArgument,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    constant,
    find_array,
    innermost,
    is_none,
    join_all,
    parts_of,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.copies import fresh
from jaxlint.staging.values.dtypes import dtype_of
from jaxlint.staging.values.forms import (
    form_of_struct,
    hidden,
    linked,
    row,
    same,
    stacked,
    starting,
)
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.gradient_flow import flow_in, marked
from jaxlint.staging.values.keys import ConsumedKeys
from jaxlint.staging.values.leaves import UnclearTreeError, leaves_in, mapped
from jaxlint.staging.values.stage import Stage, Why

# How nnx splits its modules. The function does not receive them.
_OF_NNX = frozenset({"graph", "graph_updates"})
# The options of callbacks. Their function receives all others by name.
_OF_CALLBACKS = frozenset(
    {"result_shape_dtypes", "sharding", "vectorized", "vmap_method", "ordered", "partitioned"}
)


class ControlFlow(Part):
    """Evaluates control flow."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.bodies = machine.part(Bodies)
        self.boundary = machine.part(Boundary)
        self.calls = machine.part(Calls)
        self.conversions = machine.part(Conversions)
        self.gradients = machine.part(Gradients)
        self.keys = machine.part(Keys)
        self.operators = machine.part(Operators)
        # `flow_scan` implements `lax.scan` and every other `scan`.
        self.handlers: dict[str, Callable[[str, Call], Value]] = {
            name.removeprefix("flow_"): getattr(part, name)
            for part in (self, machine.part(TreeMaps))
            for name in dir(type(part))
            if name.startswith("flow_")
        }

    def control_flow(self, name: str, call: Call, own: Value | None = None) -> Value:
        """`lax.scan` and other control flow, which traces its function arguments at once. `own`: the
        project's own code for it.
        """
        if own is not None:
            self.machine.staging.run_library_code(own, call, odd=True)
        short = name.rpartition(".")[2]
        if name.startswith("flax.nnx."):
            call = call.passing(
                call.args, {option: value for option, value in call.kwargs.items() if option not in _OF_NNX}
            )
        if name.startswith("flax.linen."):
            return self.machine.staging.lifted_flow(short, call)
        handler = self.handlers.get(short)
        api = name.replace("jax.lax", "lax").replace("haiku", "hk").replace("flax.nnx", "nnx")
        if handler is None:
            return self.calls.opaque_call(call.inputs, call.node, call.frame)
        return handler(api, call)

    def shapes_of(self, function: Value, call: Call) -> Value:
        """The result of `jax.eval_shape(function, *args, **kwargs)`."""
        return self.control_flow("jax.eval_shape", call.passing([function, *call.args]))

    def call_back(self, name: str, call: Call) -> None:
        """Solvers and reductions trace their function arguments with arrays like the other arguments."""
        api = name.replace("jax.lax", "lax")
        caller = CALLERS[name]
        given = dict(zip(caller.parameters, call.args, strict=False)) | call.kwargs
        for parameter, passed in caller.called.items():
            function = given.get(parameter)
            several = isinstance(function, (ListValue, TupleValue))
            for body in parts_of(function) if several and function is not None else [function]:
                if isinstance(body, CALLABLE):
                    why = self.bodies.body_why(api, body, call.node, call.frame)
                    known = [
                        given.get(part, UNKNOWN) for part in passed if part in given or part == passed[0]
                    ]
                    self.bodies.staged_call(
                        api, body, self.passed_on(known, api, why), call.node, call.frame, "solver", why
                    )

    def passed_on(self, values: list[Value], api: str, why: Why) -> list[Value]:
        """The arguments of `api` as a traced function receives them."""
        part = Why("an argument of", cause=why)
        return [
            value if isinstance(value, CALLABLE) else fresh(self.boundary.to_staged(value, part))
            for value in values
        ]

    def flow_scan(self, api: str, call: Call) -> Value:
        kwargs, node, frame = call.kwargs, call.node, call.frame
        body = call.argument(0, "f", UNKNOWN)
        init = call.argument(1, "init", UNKNOWN)
        xs = call.argument(2, "xs", Static(None))
        if "length" in kwargs:
            self.conversions.shape_argument(kwargs["length"], api, "`length`", node, frame)
        why = self.bodies.body_why(api, body, node, frame)
        carry_why = Why("the scan carry of", cause=why)
        x_why = Why("the scanned inputs of", cause=why)
        born, before = Origin(api).serial, list(frame.consumed)
        carry, x = (
            fresh(self.boundary.to_staged(init, carry_why)),
            fresh(self.boundary.to_staged(xs, x_why)),
        )
        linked(carry, init, starting)
        linked(x, xs, row)

        def run(carried: Value) -> Value:
            return self.bodies.staged_call(api, body, [carried, x], node, frame, "scan", why)

        carry = self.with_final_dtypes(carry, lambda one: first_of_pair(run(one)), frame)
        result = run(carry)
        self.keys.tell_constant_keys(api, body, before, born, [init, carry, xs], node, frame)
        self.keys.tell_kept_keys(
            api, body, born, carry, result.items[0] if is_pair(result) and result.items else UNKNOWN
        )
        self.bodies.tell_body(api, "the body", body, 2, result, node, frame)
        if isinstance(kwargs.get("buffers"), CALLABLE):  # an equinox transformation
            self.bodies.staged_call(api, kwargs["buffers"], [carry], node, frame, "scan", why)
        through = self.machine.reversing > 0 and flow_in([result]) is not None
        length = number_of(call.argument(3, "length")) or rows_of(xs, 0)
        self.machine.emit(
            "carry", events.CarryEvent(node, frame, api, body, init, carry, result, through, x, length)
        )
        if isinstance(result, TupleValue) and result.items is not None and len(result.items) == 2:
            final = final_carry(init, carry, result.items[0], self.machine.exact)
            return self.bodies.flow_result(
                TupleValue([final, self.stacked(result.items[1], xs, kwargs.get("length"))]),
                frame,
                [body, init, xs],
            )
        unknown = self.operators.array_result(frame, call.args[1:], node, name=api)
        unknown.tree = True
        final = final_carry(init, carry, unknown, self.machine.exact)
        return TupleValue([self.bodies.flow_result(final, frame) if self.machine.exact else unknown, unknown])

    def with_final_dtypes(self, carry: Value, run: Callable[[Value], Value], frame: Frame) -> Value:
        """The carry as the body receives it: a weak dtype becomes the dtype that the body returns.

        JAX traces the body with both. Used in an exact analysis only. `run`: the body's result for a carry.
        """
        if not self.machine.exact:
            return carry
        if not any(dtype_of(leaf).endswith("*") for leaf in leaves_in(carry) or ()):
            return carry
        with StartingWithKeys(frame, frame.consumed.copied()):
            result = run(carry)
        try:
            return mapped(given_way, carry, [result])
        except UnclearTreeError:
            return mapped(lambda leaf: given_way(leaf, UNKNOWN), carry, [])

    def flow_dynamic_unroll(self, api: str, call: Call) -> Value:
        """haiku's scan of a recurrent core, which maps an input and its state to an output and the next state."""
        node, frame = call.node, call.frame
        names = ("core", "input_sequence", "initial_state")
        core, xs, init = [call.argument(i, name, UNKNOWN) for i, name in enumerate(names)]
        why = self.bodies.body_why(api, core, node, frame)
        x = fresh(self.boundary.to_staged(xs, Why("the inputs of", cause=why)))
        state = fresh(self.boundary.to_staged(init, Why("the state of", cause=why)))
        result = self.bodies.staged_call(api, core, [x, state], node, frame, "scan", why)
        if isinstance(result, TupleValue) and result.items is not None and len(result.items) == 2:
            final = as_large_as(init, result.items[1])
            return self.bodies.flow_result(
                TupleValue([self.stacked(result.items[0], xs), final]), frame, [xs, init]
            )
        unknown = self.operators.array_result(frame, [xs, init], node, name=api)
        unknown.tree = True
        return TupleValue([unknown, unknown])

    def stacked(self, value: Value, xs: Value, length: Value | None = None) -> Value:
        """The stacked results of all iterations, in another shape than each result."""
        if isinstance(value, Static) and value.const is not None and not isinstance(value.const, str):
            return Array(True, Why("the stacked outputs of a scan"))
        along: tuple[Value, int] | Value | None = length
        if length is None and (first := find_array(xs)) is not None and not first.tree:
            along = (first, 0)
        return without_operation(stacked(value, along))

    def flow_while_loop(self, api: str, call: Call) -> Value:
        node, frame = call.node, call.frame
        names = ("cond_fun", "body_fun", "init_val")
        given = [call.argument(i, n, UNKNOWN) for i, n in enumerate(names)]
        why = self.bodies.body_why(api, given[1], node, frame)
        born, before = Origin(api).serial, list(frame.consumed)
        carry = fresh(self.boundary.to_staged(given[2], Why("the loop carry of", cause=why)))
        linked(carry, given[2], starting)

        def run(carried: Value) -> Value:
            return self.bodies.staged_call(api, given[1], [carried], node, frame, "while_loop", why)

        carry = self.with_final_dtypes(carry, run, frame)
        going = self.bodies.staged_call(api, given[0], [carry], node, frame, "while_loop", why)
        self.bodies.tell_body(api, "the condition", given[0], 1, going, node, frame, given[2], carry)
        result = run(carry)
        self.bodies.tell_body(api, "the body", given[1], 1, result, node, frame)
        self.keys.tell_constant_keys(api, given[1], before, born, [given[2], carry], node, frame)
        self.keys.tell_kept_keys(api, given[1], born, carry, result)
        self.machine.emit("carry", events.CarryEvent(node, frame, api, given[1], given[2], carry, result))
        if isinstance(call.kwargs.get("buffers"), CALLABLE):
            self.bodies.staged_call(api, call.kwargs["buffers"], [carry], node, frame, "while_loop", why)
        result = final_carry(given[2], carry, result, self.machine.exact)
        if not api.startswith("equinox."):  # loops with a reverse mode
            result = self.gradients.loop_result(api, carry, result, node, frame)
        return self.bodies.flow_result(result if not isinstance(result, Unknown) else carry, frame, given)

    def flow_fori_loop(self, api: str, call: Call) -> Value:
        node, frame = call.node, call.frame
        names = ("lower", "upper", "body_fun", "init_val")
        given = [call.argument(i, n, UNKNOWN) for i, n in enumerate(names)]
        why = self.bodies.body_why(api, given[2], node, frame)
        index = Array(True, Why("the loop index of", cause=why))
        index.dtype, index.form = strong(promote(*map(dtype_of, given[:2]))), same(Static(0))
        counted = [constant(bound) for bound in given[:2]]
        if all(type(bound) is int for bound in counted):
            counts = Operation("arange", (given[0], given[1]), {}, node, full="jax.numpy.arange")
            index.form = row(Array(True, made=counts))
        born, before = Origin(api).serial, list(frame.consumed)
        carry = fresh(self.boundary.to_staged(given[3], Why("the loop carry of", cause=why)))
        linked(carry, given[3], starting)

        def run(carried: Value) -> Value:
            return self.bodies.staged_call(api, given[2], [index, carried], node, frame, "fori_loop", why)

        carry = self.with_final_dtypes(carry, run, frame)
        result = run(carry)
        self.bodies.tell_body(api, "the body", given[2], 2, result, node, frame)
        self.keys.tell_constant_keys(api, given[2], before, born, [given[3], carry], node, frame)
        self.keys.tell_kept_keys(api, given[2], born, carry, result)
        lower, upper = map(number_of, given[:2])
        steps = None if lower is None or upper is None else max(upper - lower, 0)
        self.machine.emit(
            "carry",
            events.CarryEvent(node, frame, api, given[2], given[3], carry, result, steps=steps),
        )
        result = final_carry(given[3], carry, result, self.machine.exact)
        if any(isinstance(bound, Array) and bound.staged and bound.certain for bound in given[:2]):
            result = self.gradients.loop_result(api, carry, result, node, frame)  # it becomes a while loop
        return self.bodies.flow_result(result if not isinstance(result, Unknown) else carry, frame, given)

    def flow_cond(self, api: str, call: Call) -> Value:
        args = call.args
        branches = [call.argument(i, n) for i, n in ((1, "true_fun"), (2, "false_fun"))]
        operands = args[3:] or ([call.kwargs["operand"]] if "operand" in call.kwargs else [])
        if len(args) == 5 and isinstance(args[4], CALLABLE) and not isinstance(args[1], CALLABLE):
            # The old `cond(pred, x, f, y, g)`: each branch has its own operand.
            pairs = [(args[2], args[1]), (args[4], args[3])]
            why = self.bodies.body_why(api, args[2], call.node, call.frame)
            part = Why("an operand of", cause=why)
            branches = [Partial(function, [self.boundary.to_staged(x, part)], {}) for function, x in pairs]
            operands = []
        choice = call.argument(0, "pred")
        return self.branches(
            api, [b for b in branches if b is not None], list(operands), call.node, call.frame, choice
        )

    def flow_switch(self, api: str, call: Call) -> Value:
        listed = call.argument(1, "branches", UNKNOWN)
        functions = listed.elements() if isinstance(listed, (ListValue, TupleValue)) else []
        choice = call.argument(0, "index")
        operands = call.args[2:] or ([call.kwargs["operand"]] if "operand" in call.kwargs else [])
        return self.branches(api, functions, operands, call.node, call.frame, choice)

    def branches(
        self,
        api: str,
        functions: list[Value],
        operands: list[Value],
        node: ast.AST,
        frame: Frame,
        choice: Value | None = None,
    ) -> Value:
        results: list[Value] = []
        used = frame.consumed.copied()
        after = frame.consumed.copied()
        operands = [
            replace(v, origin=Origin("operand")) if type(v) is Array and v.origin is None else v
            for v in operands
        ]
        chosen = _chosen(choice, len(functions))
        for number, function in enumerate(functions):
            why = self.bodies.body_why(api, function, node, frame)
            staged = [self.boundary.to_staged(v, Why("an operand of", cause=why)) for v in operands]
            for inside, outside in zip(staged, operands, strict=True):
                linked(inside, outside)
            runs = chosen in (None, number)  # the others are traced and never draw
            with StartingWithKeys(frame, used.copied() if runs else ConsumedKeys()):
                results.append(self.bodies.staged_call(api, function, staged, node, frame, "cond", why))
                self.bodies.tell_body(api, "a branch", function, len(operands), results[-1], node, frame)
                if runs:
                    after.update(frame.consumed)
        frame.consumed = after
        if not results:
            return self.calls.opaque_call(operands, node, frame)
        self.machine.emit(
            "branches", events.BranchesEvent(node, frame, api, functions, results, choice, operands)
        )
        why = Why(f"the result of `{api}`", frame.module, node)
        given = [self.boundary.to_staged(result, why) for result in results]
        for inside, result in zip(given, results, strict=True):
            linked(inside, result)
        joined = join_all(given)
        if self.machine.exact:
            joined = of_branches(given, joined)
        return self.bodies.flow_result(joined, frame, [choice or UNKNOWN, *functions, *operands])

    def flow_associative_scan(self, api: str, call: Call) -> Value:
        if len(call.args) < 2:
            return UNKNOWN
        part = hidden(call.args[1])  # with fewer elements at each step
        return self.calls.call_value(call.args[0], call.passing([part, part], {}))

    def flow_eval_shape(self, api: str, call: Call) -> Value:
        args, frame = call.args, call.frame
        jitted = args[0] if args else UNKNOWN
        if api == "jax.eval_shape" and isinstance(jitted, Transformed) and jitted.kind == "jit":
            self.machine.staging.call_transformed_method(jitted, "eval_shape", call.passing(args[1:]))
        elif args:
            keeps_python = api.startswith("equinox.")
            # It traces in spite of `jax.disable_jit`. No number is drawn, so the keys are not consumed.
            with Tracing(self.machine, 0), StartingWithKeys(frame, frame.consumed.copied()):
                why = self.bodies.body_why(api, args[0], call.node, frame)
                part = Why("an argument of", cause=why)
                staged = [self.boundary.to_staged(v, part, keeps_python=keeps_python) for v in args[1:]]
                options = {
                    n: self.boundary.to_staged(v, part, keeps_python=keeps_python)
                    for n, v in call.kwargs.items()
                }
                stage = Stage("eval_shape", True, True, why, frame.stage)
                self.machine.staging.in_stage(args[0], stage, call.passing(staged, options))
        return ExternalObject("jax.ShapeDtypeStruct")

    flow_filter_eval_shape = flow_eval_shape

    def mark_differentiated(self, args: list[Value]) -> None:
        differentiated = innermost(args[0])[0] if args else None
        if differentiated is not None:
            self.gradients.gradient_roots.add(differentiated.node)

    def tangents(self, values: Iterable[Value], node: ast.AST, frame: Frame) -> list[Value]:
        """The point at which a function is differentiated, as the function sees it."""
        numbers = (Static, NumpyArray)
        arrays = (
            self.operators.array_result(frame, [], node) if isinstance(v, numbers) else v for v in values
        )
        return [marked(value, TANGENT) for value in arrays]

    def flow_vjp(self, api: str, call: Call) -> Value:
        args = call.args
        self.mark_differentiated(args)
        reverse = api.endswith(".vjp")
        given = self.tangents(args[1:], call.node, call.frame)
        result = self.gradients.under_gradient(reverse, args[0], call.passing(given, {})) if args else UNKNOWN
        value, extra = self.without_aux(result, call.kwargs)
        pullback = ExternalObject("jax.vjp.pullback", [value])
        if reverse and self.machine.exact:
            pullback.kwargs["primals"] = TupleValue(args[1:])
        return TupleValue([value, pullback, *extra]) if extra is not None else UNKNOWN

    def without_aux(self, result: Value, options: dict[str, Value]) -> tuple[Value, list[Value] | None]:
        """The differentiated part of a result, and the auxiliary part with `has_aux`; None for an unknown part."""
        has_aux = constant(options.get("has_aux", Static(False)))
        if has_aux is False:
            return result, []
        if has_aux is not True:
            return UNKNOWN, None
        if not is_pair(result):
            return UNKNOWN, [UNKNOWN]
        assert result.items is not None
        return result.items[0], [result.items[1]]

    flow_linearize = flow_vjp
    flow_filter_vjp = flow_vjp

    def flow_jvp(self, api: str, call: Call) -> Value:
        args = call.args
        self.mark_differentiated(args)
        if len(args) < 2:
            return UNKNOWN
        given = self.tangents(_handed_on(args[1]), call.node, call.frame)
        result = self.gradients.under_gradient(False, args[0], call.passing(given, {}))
        value, extra = self.without_aux(result, call.kwargs)
        return TupleValue([value, value, *extra]) if extra is not None else UNKNOWN

    flow_filter_jvp = flow_jvp

    def flow_pure_callback(self, api: str, call: Call) -> Value:
        args = call.args
        self.host_call(api, args[2:], call)
        result = self.operators.array_result(call.frame, args[2:], call.node, name=api)
        result.tree = True
        return result

    flow_io_callback = flow_pure_callback

    def flow_callback(self, api: str, call: Call) -> Value:
        self.host_call(api, call.args[1:], call)
        return Static(None)

    def host_call(self, api: str, args: list[Value], call: Call) -> None:
        """A callback's function runs on the host, with NumPy arrays."""
        body, node, frame = call.args[0] if call.args else UNKNOWN, call.node, call.frame
        if call.kwargs.keys() <= _OF_CALLBACKS:
            self.bodies.tell_body(api, "its function", body, len(args), UNKNOWN, node, frame)
        stage = Stage("host", why=Why("a callback on the host"))
        mapped = frame.stage.within("vmap", "pmap", "shard_map")  # the arrays may have more axes
        given: list[Value] = [NumpyArray(form=None if mapped else same(value)) for value in args]
        result = self.machine.staging.in_stage(body, stage, Call(given, {}, node, frame))
        if frame.stage.staged:
            struct = call.argument(1, "result_shape_dtypes") if len(call.args) > len(args) + 1 else None
            form = None if mapped else form_of_struct(struct, node)
            declared = Array(True, form=form) if form is not None else None
            self.machine.emit("host_call", events.HostCallEvent(node, frame, api, body, result, declared))

    def flow_when(self, api: str, call: Call) -> Value:
        return ExternalObject("pallas.when", call.args)

    def flow_loop(self, api: str, call: Call) -> Value:
        return ExternalObject("pallas.loop", call.args, call.kwargs)

    def run_kernel_loop(self, loop: ExternalObject, body: Value, node: ast.AST, frame: Frame) -> Value:
        """`@pl.loop(lower, upper)` above a function runs it at once, like the body of `fori_loop`."""
        api = "pl.loop"
        why = self.bodies.body_why(api, body, node, frame)
        index = Array(True, Why("the loop index of", cause=why))
        carry = loop.kwargs.get("init_carry")
        if carry is None or is_none(carry):
            self.bodies.staged_call(api, body, [index], node, frame, "fori_loop", why)
            return Static(None)
        inside = fresh(self.boundary.to_staged(carry, Why("the loop carry of", cause=why)))
        result = self.bodies.staged_call(api, body, [index, inside], node, frame, "fori_loop", why)
        self.machine.emit("carry", events.CarryEvent(node, frame, api, body, carry, inside, result))
        return inside if isinstance(result, Unknown) else result


def _chosen(choice: Value | None, branches: int) -> int | None:
    """The branch that a constant predicate or index selects; None if it is not a constant."""
    known = constant(choice) if choice is not None else MISSING
    if known is True or known is False:
        return 0 if known else 1
    return min(max(known, 0), branches - 1) if type(known) is int else None


def _handed_on(primals: Value) -> list[Value]:
    """The arguments of a function that is differentiated at `primals`."""
    if isinstance(primals, (TupleValue, ListValue)):
        return primals.items if primals.items is not None else [StarArgument(primals.element)]
    return [StarArgument(primals if isinstance(primals, Array) else UNKNOWN)]
