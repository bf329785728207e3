"""Control flow that stages its function arguments at once: scan, cond, loops, tree.map and callbacks."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeGuard

from jaxlint.jaxapi.transforms import CALLERS
from jaxlint.staging import events
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.externals import Externals
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.evaluator.scopes import KeysAside, Tracing
from jaxlint.staging.tracking.gradients import TANGENT, Gradients
from jaxlint.staging.tracking.keys import Keys
from jaxlint.staging.transforms.boundary import Boundary
from jaxlint.staging.transforms.trees import Trees
from jaxlint.staging.values import (
    CALLABLE,
    UNKNOWN,
    Array,
    BoundMethod,
    Choice,
    ClassValue,
    DictValue,
    External,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Origin,
    Partial,
    StarArgument,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    constant,
    doubtful,
    find_array,
    innermost,
    is_none,
    join,
    join_all,
    kind_of_static,
    map_parts,
    parts_of,
)
from jaxlint.staging.values.copies import fresh
from jaxlint.staging.values.flow import flow_in, marked
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.labels import label_of
from jaxlint.staging.values.pytrees import is_pytree, tracer_in
from jaxlint.staging.values.stage import Stage, Why
from jaxlint.staging.values.truth import truth
from jaxlint.syntax.facts import name_loads, positional_parameters

# Operations whose results have another shape than their operands.
_RESIZING = frozenset(
    """stack concatenate concat expand_dims squeeze sum mean max min prod std var linalg.norm dot vdot vstack hstack
    repeat tile broadcast_to""".split()  # noqa: SIM905
)


# How nnx takes its modules apart; the function is not given them.
_OF_NNX = frozenset({"graph", "graph_updates"})


class ControlFlow(Part):
    """The control-flow part of the interpreter."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.boundary = machine.part(Boundary)
        self.calls = machine.part(Calls)
        self.externals = machine.part(Externals)
        self.gradients = machine.part(Gradients)
        self.keys = machine.part(Keys)
        self.operators = machine.part(Operators)
        self.trees = machine.part(Trees)

    def control_flow(
        self,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
        own: Value | None = None,
    ) -> Value:
        """`lax.scan` and its like: they stage their function arguments at once. `own`: as of transformations."""
        if own is not None:
            self.machine.staging.aside(own, args, kwargs, node, frame, odd=True)
        short = name.rpartition(".")[2]
        if name.startswith("flax.nnx."):
            kwargs = {option: value for option, value in kwargs.items() if option not in _OF_NNX}
        if name.startswith("flax.linen."):
            return self.machine.staging.lifted_flow(short, args, kwargs, node, frame)
        handler = getattr(self, f"flow_{short}", None)
        api = name.replace("jax.lax", "lax").replace("haiku", "hk").replace("flax.nnx", "nnx")
        if handler is None:
            return self.calls.opaque_call([*args, *kwargs.values()], node, frame)
        return handler(api, args, kwargs, node, frame)

    def body_why(self, api: str, body: Value, node: ast.AST, frame: Frame) -> Why:
        outer = frame.stage.why if frame.stage.staged else None
        return Why(f"`{label_of(body)}` is passed to `{api}`", frame.module, node, outer)

    def staged_call(
        self,
        api: str,
        body: Value,
        args: list[Value],
        node: ast.AST,
        frame: Frame,
        kind: str,
        why: Why,
    ) -> Value:
        return self.machine.staging.in_stage(
            body, Stage(kind, True, True, why, frame.stage), args, {}, node, frame
        )

    def tell_body(
        self,
        api: str,
        role: str,
        body: Value,
        count: int,
        result: Value,
        node: ast.AST,
        frame: Frame,
        given: Value | None = None,
        seen: Value | None = None,
    ) -> None:
        """Tells rules how a function that control flow was given is called."""
        if not isinstance(node, ast.Call) or not any(isinstance(a, ast.Starred) for a in node.args):
            self.machine.emit(
                "body", events.BodyEvent(node, frame, api, role, body, count, result, given, seen)
            )

    def call_back(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> None:
        """A solver, or a reduction, traces the functions it is given with arrays like its other arguments."""
        api = name.replace("jax.lax", "lax")
        caller = CALLERS[name]
        given = dict(zip(caller.parameters, args, strict=False)) | kwargs
        for parameter, passed in caller.called.items():
            function = given.get(parameter)
            several = isinstance(function, (ListValue, TupleValue))
            for body in parts_of(function) if several and function is not None else [function]:
                if isinstance(body, CALLABLE):
                    why = self.body_why(api, body, node, frame)
                    known = [
                        given.get(part, UNKNOWN) for part in passed if part in given or part == passed[0]
                    ]
                    self.staged_call(api, body, self.passed_on(known, api, why), node, frame, "solver", why)

    def passed_on(self, values: list[Value], api: str, why: Why) -> list[Value]:
        """The arguments of `api` as a function gets them that is traced with them."""
        part = Why(f"it is an argument of `{api}`", cause=why)
        return [
            value if isinstance(value, CALLABLE) else fresh(self.boundary.to_staged(value, part))
            for value in values
        ]

    def flow_result(self, value: Value, frame: Frame, given: Sequence[Value] = ()) -> Value:
        """What something staged gives where it is called: arrays on the host, tracers under a trace.

        `given`: the function and what it was called with, where that decides. `vmap` and `grad` trace what depends on
        their inputs alone, so what is computed of other arrays is no tracer there.
        """
        if not frame.stage.staged:
            return self.boundary.to_device(value, "")
        if frame.stage.abstract or not given or any(map(_brings_tracer, given)):
            return value
        return doubtful(value)

    def flow_scan(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        body = args[0] if args else kwargs.get("f", UNKNOWN)
        init = args[1] if len(args) > 1 else kwargs.get("init", UNKNOWN)
        xs = args[2] if len(args) > 2 else kwargs.get("xs", Static(None))
        if "length" in kwargs:
            self.externals.shape_argument(kwargs["length"], api, "`length`", node, frame)
        why = self.body_why(api, body, node, frame)
        carry_why = Why("it is the carry of the scan", cause=why)
        x_why = Why("it is what the scan runs over", cause=why)
        born, before = Origin(api).serial, list(frame.used)
        carry, x = (
            fresh(self.boundary.to_staged(init, carry_why)),
            fresh(self.boundary.to_staged(xs, x_why)),
        )
        result = self.staged_call(api, body, [carry, x], node, frame, "scan", why)
        self.keys.tell_constant_keys(api, body, before, born, [init, carry, xs], node, frame)
        self.keys.tell_kept_keys(
            api, body, born, carry, result.items[0] if _is_pair(result) and result.items else UNKNOWN
        )
        self.tell_body(api, "the body", body, 2, result, node, frame)
        if isinstance(kwargs.get("buffers"), CALLABLE):  # of equinox's
            self.staged_call(api, kwargs["buffers"], [carry], node, frame, "scan", why)
        through = self.machine.reversing > 0 and flow_in([result]) is not None
        self.machine.emit("carry", events.CarryEvent(node, frame, api, body, init, carry, result, through))
        if isinstance(result, TupleValue) and result.items is not None and len(result.items) == 2:
            final = _as_large_as(init, result.items[0])
            return self.flow_result(
                TupleValue([final, self.stacked(result.items[1])]), frame, [body, init, xs]
            )
        unknown = self.operators.array_result(frame, args[1:], node, name=api)
        unknown.tree = True
        return TupleValue([unknown, unknown])

    def flow_dynamic_unroll(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        """haiku's scan of a recurrent core, which takes an input and its state and gives an output and the next state."""
        names = ("core", "input_sequence", "initial_state")
        core, xs, init = [
            args[i] if len(args) > i else kwargs.get(name, UNKNOWN) for i, name in enumerate(names)
        ]
        why = self.body_why(api, core, node, frame)
        x = fresh(self.boundary.to_staged(xs, Why("it is what the core runs over", cause=why)))
        state = fresh(self.boundary.to_staged(init, Why("it is the state of the core", cause=why)))
        result = self.staged_call(api, core, [x, state], node, frame, "scan", why)
        if isinstance(result, TupleValue) and result.items is not None and len(result.items) == 2:
            final = _as_large_as(init, result.items[1])
            return self.flow_result(TupleValue([self.stacked(result.items[0]), final]), frame, [xs, init])
        unknown = self.operators.array_result(frame, [xs, init], node, name=api)
        unknown.tree = True
        return TupleValue([unknown, unknown])

    def stacked(self, value: Value) -> Value:
        """What an iteration gives beside the carry, of all of them: no longer of the shape that was made there."""
        if isinstance(value, Static) and value.const is not None and not isinstance(value.const, str):
            return Array(True, Why("it is stacked by the scan"))
        return _without_shape(value)

    def flow_while_loop(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        names = ("cond_fun", "body_fun", "init_val")
        given = [args[i] if len(args) > i else kwargs.get(n, UNKNOWN) for i, n in enumerate(names)]
        why = self.body_why(api, given[1], node, frame)
        born, before = Origin(api).serial, list(frame.used)
        carry = fresh(self.boundary.to_staged(given[2], Why("it is the carry of the loop", cause=why)))
        going = self.staged_call(api, given[0], [carry], node, frame, "while_loop", why)
        self.tell_body(api, "the condition", given[0], 1, going, node, frame, given[2], carry)
        result = self.staged_call(api, given[1], [carry], node, frame, "while_loop", why)
        self.tell_body(api, "the body", given[1], 1, result, node, frame)
        self.keys.tell_constant_keys(api, given[1], before, born, [given[2], carry], node, frame)
        self.keys.tell_kept_keys(api, given[1], born, carry, result)
        self.machine.emit("carry", events.CarryEvent(node, frame, api, given[1], given[2], carry, result))
        if isinstance(kwargs.get("buffers"), CALLABLE):
            self.staged_call(api, kwargs["buffers"], [carry], node, frame, "while_loop", why)
        result = _as_large_as(given[2], result)
        if not api.startswith("equinox."):  # whose loops have a reverse mode
            result = self.gradients.loop_result(api, carry, result, node, frame)
        return self.flow_result(result if not isinstance(result, Unknown) else carry, frame, given)

    def flow_fori_loop(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        names = ("lower", "upper", "body_fun", "init_val")
        given = [args[i] if len(args) > i else kwargs.get(n, UNKNOWN) for i, n in enumerate(names)]
        why = self.body_why(api, given[2], node, frame)
        index = Array(True, Why("it is the index of the loop", cause=why))
        born, before = Origin(api).serial, list(frame.used)
        carry = fresh(self.boundary.to_staged(given[3], Why("it is the carry of the loop", cause=why)))
        result = self.staged_call(api, given[2], [index, carry], node, frame, "fori_loop", why)
        self.tell_body(api, "the body", given[2], 2, result, node, frame)
        self.keys.tell_constant_keys(api, given[2], before, born, [given[3], carry], node, frame)
        self.keys.tell_kept_keys(api, given[2], born, carry, result)
        self.machine.emit("carry", events.CarryEvent(node, frame, api, given[2], given[3], carry, result))
        result = _as_large_as(given[3], result)
        if any(isinstance(bound, Array) and bound.staged and bound.certain for bound in given[:2]):
            result = self.gradients.loop_result(api, carry, result, node, frame)  # it becomes a while loop
        return self.flow_result(result if not isinstance(result, Unknown) else carry, frame, given)

    def flow_cond(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        branches = [
            args[i] if len(args) > i else kwargs.get(n) for i, n in ((1, "true_fun"), (2, "false_fun"))
        ]
        operands = args[3:] or ([kwargs["operand"]] if "operand" in kwargs else [])
        if len(args) == 5 and isinstance(args[4], CALLABLE) and not isinstance(args[1], CALLABLE):
            # The old `cond(pred, x, f, y, g)`: each branch has an operand of its own.
            pairs = [(args[2], args[1]), (args[4], args[3])]
            why = self.body_why(api, args[2], node, frame)
            part = Why("it is an operand of the branch", cause=why)
            branches = [Partial(function, [self.boundary.to_staged(x, part)], {}) for function, x in pairs]
            operands = []
        choice = args[0] if args else kwargs.get("pred")
        return self.branches(api, [b for b in branches if b is not None], list(operands), node, frame, choice)

    def flow_switch(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        listed = args[1] if len(args) > 1 else kwargs.get("branches", UNKNOWN)
        functions = listed.elements() if isinstance(listed, (ListValue, TupleValue)) else []
        choice = args[0] if args else kwargs.get("index")
        operands = args[2:] or ([kwargs["operand"]] if "operand" in kwargs else [])
        return self.branches(api, functions, operands, node, frame, choice)

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
        used = dict(frame.used)
        after = dict(frame.used)
        operands = [
            replace(v, origin=Origin("operand")) if type(v) is Array and v.origin is None else v
            for v in operands
        ]
        for function in functions:
            why = self.body_why(api, function, node, frame)
            staged = [
                self.boundary.to_staged(v, Why("it is an operand of the branch", cause=why)) for v in operands
            ]
            with KeysAside(frame, dict(used)):
                results.append(self.staged_call(api, function, staged, node, frame, "cond", why))
                self.tell_body(api, "a branch", function, len(operands), results[-1], node, frame)
                after.update(frame.used)
        frame.used = after
        if not results:
            return self.calls.opaque_call(operands, node, frame)
        self.machine.emit(
            "branches", events.BranchesEvent(node, frame, api, functions, results, choice, operands)
        )
        why = Why(f"it is the result of `{api}`", frame.module, node)
        results = [self.boundary.to_staged(result, why) for result in results]
        return self.flow_result(join_all(results), frame, [choice or UNKNOWN, *functions, *operands])

    def flow_map(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        body = args[0] if args else kwargs.get("f", UNKNOWN)
        if api.startswith("jax.tree"):
            return self.tree_map(
                body, [*args[1:], *([kwargs["tree"]] if "tree" in kwargs else [])], kwargs, node, frame
            )
        why = self.body_why(api, body, node, frame)
        xs = args[1] if len(args) > 1 else kwargs.get("xs", UNKNOWN)
        born, before = Origin(api).serial, list(frame.used)
        staged = fresh(self.boundary.to_staged(xs, Why("it is what the map runs over", cause=why)))
        result = self.staged_call(api, body, [staged], node, frame, "map", why)
        self.tell_body(api, "the function", body, 1, result, node, frame)
        self.keys.tell_constant_keys(api, body, before, born, [xs, staged], node, frame)
        return self.flow_result(result, frame, [body, xs])

    def flow_map_with_path(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        body = args[0] if args else UNKNOWN
        return self.tree_map(Partial(body, [UNKNOWN], {}), args[1:], kwargs, node, frame)

    def tree_map(
        self,
        body: Value,
        trees: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        custom_leaf = "is_leaf" in kwargs
        if custom_leaf and len(trees) == 1:
            mapped = self.map_chosen(body, trees[0], kwargs, node, frame)
            if mapped is not None:
                return mapped
        if trees:
            self.ask_leaf(trees[0], kwargs, node, frame)
        if len(trees) == 1 and not (custom_leaf or is_identity(body)):
            mapped = self.map_structure(body, trees[0], kwargs, node, frame)
            if mapped is not None:
                return mapped
        if len(trees) > 1 and not custom_leaf and _is_leaf(trees[0]):
            return self.calls.call_value(body, trees, {}, node, frame)  # the others are taken whole
        self.trees.rebuilt(trees, node, frame)
        born, before = Origin("leaf").serial, list(frame.used)
        leaves = [self.leaf_of(tree, custom_leaf) for tree in trees[:1]]
        # Where the first tree has leaves that are no arrays, those of the others need be none: they may be trees.
        loose = custom_leaf or not (leaves and isinstance(leaves[0], Array))
        leaves += [self.leaf_of(tree, loose) for tree in trees[1:]]
        unknown = all(type(tree) is Unknown for tree in trees)
        some = Array(True, frame.stage.why, tree=custom_leaf, certain=False, mixed=True)
        if frame.stage.abstract and unknown:
            # Of a tree that is not known, inside a stage: mostly tracers.
            leaves = [some for _ in trees]
        elif frame.stage.abstract and type(trees[0]) is Unknown and _staged_leaf(leaves):
            # Where trees that are mapped along have tracers it has leaves; settings come after it.
            leaves[0] = some
        result = self.calls.call_value(body, leaves, {}, node, frame)
        self.keys.tell_constant_keys("jax.tree.map", body, before, born, trees, node, frame)
        if len(trees) == 1 and is_identity(body):
            return _copied(trees[0])
        if frame.stage.abstract and unknown:
            return UNKNOWN  # as the tree
        first = trees[0] if trees else UNKNOWN
        found = find_array(first)
        like = found.like or found.origin if found is not None and isinstance(first, Array) else None
        if isinstance(result, Array):
            if result.made is not None and result.made.name in _RESIZING:
                like = None
            certain = result.certain and (found is None or found.certain)
            return Array(
                result.staged,
                result.why,
                tree=True,
                certain=certain,
                like=like,
                jitted=result.jitted,
                flow=result.flow,
            )
        if isinstance(result, NumpyArray) and isinstance(first, NumpyArray):
            return result
        if custom_leaf and frame.stage.staged and isinstance(result, Instance) and is_pytree(result.cls):
            held = tracer_in(result)
            if held is not None:  # all that is known of the tree is that its objects hold tracers
                return Array(True, held.why, tree=True, certain=False, mixed=held.mixed)
        if frame.stage.abstract and isinstance(result, TupleValue):
            return self.calls.opaque_call([result], node, frame)
        return UNKNOWN  # a tree of what the function gives

    def map_chosen(
        self, body: Value, tree: Value, kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value | None:
        """tree.map over objects, or a small container of them, that `is_leaf` takes for leaves; None for other trees."""
        if isinstance(tree, Choice) and all(isinstance(option, Instance) for option in tree.options):
            parts = [self.map_chosen(body, option, kwargs, node, frame) for option in tree.options]
            known = [part for part in parts if part is not None]
            return join_all(known) if len(known) == len(parts) else None
        if isinstance(tree, Instance):
            chosen = truth(self.calls.call_value(kwargs["is_leaf"], [tree], {}, node, frame))
            return self.calls.call_value(body, [tree], {}, node, frame) if chosen else None
        if isinstance(tree, (TupleValue, ListValue)) and tree.items and len(tree.items) <= 6:
            if all(isinstance(part, (Instance, Choice)) for part in tree.items):
                return self.map_structure(body, tree, kwargs, node, frame)
        return None

    def ask_leaf(self, tree: Value, kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> None:
        """`is_leaf` is asked about each node of the tree, its leaves too."""
        if "is_leaf" in kwargs:
            self.calls.call_value(kwargs["is_leaf"], [self.leaf_of(tree, custom=True)], {}, node, frame)

    def map_structure(
        self, body: Value, tree: Value, kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value | None:
        """tree.map over a small container whose parts are known: part by part."""
        if isinstance(tree, (TupleValue, ListValue)) and tree.items is not None and len(tree.items) <= 6:
            parts = [self.tree_map_part(body, part, kwargs, node, frame) for part in tree.items]
            return (
                TupleValue(parts, cls=tree.cls)
                if isinstance(tree, TupleValue)
                else ListValue(parts, join_all(parts))
            )
        if isinstance(tree, DictValue) and tree.element is None and len(tree.items) <= 6:
            return DictValue(
                {k: self.tree_map_part(body, v, kwargs, node, frame) for k, v in tree.items.items()}
            )
        if isinstance(tree, (TupleValue, ListValue)) and type(tree.element) is not Unknown:
            part = self.tree_map_part(body, tree.element, kwargs, node, frame)
            return TupleValue(None, part) if isinstance(tree, TupleValue) else ListValue(None, part)
        return self.calls.call_value(body, [tree], {}, node, frame) if _is_leaf(tree) else None

    def tree_map_part(
        self, body: Value, part: Value, kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        if isinstance(part, (Static, NumpyArray)) and not (isinstance(part, Static) and part.const is None):
            return self.calls.call_value(body, [part], {}, node, frame)
        return self.tree_map(body, [part], kwargs, node, frame) if not is_none(part) else part

    def leaf_of(self, tree: Value, custom: bool = False) -> Value:
        found = find_array(tree)
        if found is None:
            return UNKNOWN
        return Array(
            found.staged,
            found.why,
            tree=custom,
            certain=found.certain,
            like=found.like or found.origin,
            jitted=found.jitted,
            flow=found.flow,
        )

    def flow_reduce(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        if len(args) < 2:
            return UNKNOWN
        leaf = self.leaf_of(args[1])
        start = args[2] if len(args) > 2 else leaf
        result = self.calls.call_value(args[0], [start, leaf], {}, node, frame)
        return join(result, start) if not isinstance(result, Array) else result

    def flow_associative_scan(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        if len(args) < 2:
            return UNKNOWN
        return self.calls.call_value(args[0], [args[1], args[1]], {}, node, frame)

    def flow_eval_shape(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        jitted = args[0] if args else UNKNOWN
        if api == "jax.eval_shape" and isinstance(jitted, Transformed) and jitted.kind == "jit":
            self.machine.staging.call_transformed_method(jitted, "eval_shape", args[1:], kwargs, node, frame)
        elif args:
            keeps_python = api.startswith("equinox.")
            # It traces, whatever `jax.disable_jit` says. No number is drawn: the keys are as good as before.
            with Tracing(self.machine, 0), KeysAside(frame, dict(frame.used)):
                why = self.body_why(api, args[0], node, frame)
                part = Why("it is an argument of eval_shape", cause=why)
                staged = [self.boundary.to_staged(v, part, keeps_python=keeps_python) for v in args[1:]]
                options = {
                    n: self.boundary.to_staged(v, part, keeps_python=keeps_python) for n, v in kwargs.items()
                }
                stage = Stage("eval_shape", True, True, why, frame.stage)
                self.machine.staging.in_stage(args[0], stage, staged, options, node, frame)
        return ExternalObject("jax.ShapeDtypeStruct")

    flow_filter_eval_shape = flow_eval_shape

    def mark_differentiated(self, args: list[Value]) -> None:
        differentiated = innermost(args[0])[0] if args else None
        if differentiated is not None:
            self.gradients.gradient_roots.add(differentiated.node)

    def tangents(self, values: Iterable[Value], node: ast.AST, frame: Frame) -> list[Value]:
        """The values that a function is differentiated at, as it sees them."""
        numbers = (Static, NumpyArray)
        arrays = (
            self.operators.array_result(frame, [], node) if isinstance(v, numbers) else v for v in values
        )
        return [marked(value, TANGENT) for value in arrays]

    def flow_vjp(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        self.mark_differentiated(args)
        reverse = api.endswith(".vjp")
        given = self.tangents(args[1:], node, frame)
        result = self.gradients.under_gradient(reverse, args[0], given, {}, node, frame) if args else UNKNOWN
        value, extra = self.without_aux(result, kwargs)
        pullback = ExternalObject("jax.vjp.pullback", [value])
        return TupleValue([value, pullback, *extra]) if extra is not None else UNKNOWN

    def without_aux(self, result: Value, options: dict[str, Value]) -> tuple[Value, list[Value] | None]:
        """What is differentiated of a result, and what comes beside it with `has_aux`; None where that is not known."""
        has_aux = constant(options.get("has_aux", Static(False)))
        if has_aux is False:
            return result, []
        if has_aux is not True:
            return UNKNOWN, None
        if not _is_pair(result):
            return UNKNOWN, [UNKNOWN]
        assert result.items is not None
        return result.items[0], [result.items[1]]

    flow_linearize = flow_vjp
    flow_filter_vjp = flow_vjp

    def flow_jvp(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        self.mark_differentiated(args)
        if len(args) < 2:
            return UNKNOWN
        given = self.tangents(_handed_on(args[1]), node, frame)
        result = self.gradients.under_gradient(False, args[0], given, {}, node, frame)
        value, extra = self.without_aux(result, kwargs)
        return TupleValue([value, value, *extra]) if extra is not None else UNKNOWN

    flow_filter_jvp = flow_jvp

    def flow_pure_callback(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        self.host_call(api, args[0] if args else UNKNOWN, args[2:], node, frame)
        result = self.operators.array_result(frame, args[2:], node, name=api)
        result.tree = True
        return result

    flow_io_callback = flow_pure_callback

    def flow_callback(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        self.host_call(api, args[0] if args else UNKNOWN, args[1:], node, frame)
        return Static(None)

    def host_call(self, api: str, body: Value, args: list[Value], node: ast.AST, frame: Frame) -> None:
        """A callback's function runs on the host, with NumPy arrays."""
        if frame.stage.staged:
            self.machine.emit("host_call", events.HostCallEvent(node, frame, api, body))
        stage = Stage("host", why=Why("it runs in a callback on the host"))
        self.machine.staging.in_stage(body, stage, [NumpyArray() for _ in args], {}, node, frame)

    def flow_when(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        return ExternalObject("pallas.when", args)

    def flow_loop(
        self, api: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        return ExternalObject("pallas.loop", args, kwargs)

    def run_kernel_loop(self, loop: ExternalObject, body: Value, node: ast.AST, frame: Frame) -> Value:
        """`@pl.loop(lower, upper)` above a function runs it at once, as the body of `fori_loop`."""
        api = "pl.loop"
        why = self.body_why(api, body, node, frame)
        index = Array(True, Why("it is the index of the loop", cause=why))
        carry = loop.kwargs.get("init_carry")
        if carry is None or is_none(carry):
            self.staged_call(api, body, [index], node, frame, "fori_loop", why)
            return Static(None)
        inside = fresh(self.boundary.to_staged(carry, Why("it is the carry of the loop", cause=why)))
        result = self.staged_call(api, body, [index, inside], node, frame, "fori_loop", why)
        self.machine.emit("carry", events.CarryEvent(node, frame, api, body, carry, inside, result))
        return inside if isinstance(result, Unknown) else result


def _brings_tracer(value: Value, depth: int = 3) -> bool:
    """Whether a tracer goes in with `value`: it holds one, or is a function that reads one where it was made."""
    if isinstance(value, Function):
        names = {name.id for name in name_loads(value.node)} if depth > 0 else set()
        read = [found[0] for name in names if (found := value.scope.lookup(name)) and not found[1].is_module]
        return any(_brings_tracer(part, depth - 1) for part in [*read, *value.defaults.values()])
    if isinstance(value, Partial):
        return any(
            _brings_tracer(part, depth) for part in [value.function, *value.args, *value.kwargs.values()]
        )
    if isinstance(value, BoundMethod):
        return _brings_tracer(value.function, depth) or _brings_tracer(value.receiver, depth)
    if isinstance(value, Transformed):
        return _brings_tracer(value.target, depth)
    if isinstance(value, Choice):
        return any(_brings_tracer(option, depth) for option in value.options)
    if isinstance(value, Instance) and value.staged is not None:
        return True
    return find_array(value, True) is not None


def _handed_on(primals: Value) -> list[Value]:
    """The arguments that a function gets which is differentiated at `primals`: one for each."""
    if isinstance(primals, (TupleValue, ListValue)):
        return primals.items if primals.items is not None else [StarArgument(primals.element)]
    return [StarArgument(primals if isinstance(primals, Array) else UNKNOWN)]


def _is_pair(value: Value) -> TypeGuard[TupleValue]:
    return isinstance(value, TupleValue) and value.items is not None and len(value.items) == 2


def is_identity(body: Value) -> bool:
    """Whether it is `lambda x: x`."""
    node = body.node if isinstance(body, Function) else None
    if not isinstance(node, ast.Lambda) or not isinstance(node.body, ast.Name):
        return False
    names = [parameter.arg for parameter in positional_parameters(node)]
    return names == [node.body.id]


def _is_leaf(value: Value) -> bool:
    """Whether JAX knows no parts of a value, and gives it to the function of `tree.map` as it is."""
    if isinstance(value, Choice):
        return all(map(_is_leaf, value.options))
    if isinstance(value, Instance):
        return not is_pytree(value.cls)
    if isinstance(value, Static):
        return kind_of_static(value) in _PLAIN
    return isinstance(value, (Function, BoundMethod, Partial, External, ClassValue))


_PLAIN = frozenset({"bool", "complex", "enum", "float", "int", "str"})


def _staged_leaf(leaves: list[Value]) -> bool:
    return any(isinstance(leaf, Array) and leaf.staged for leaf in leaves)


def _without_shape(value: Value, depth: int = 3) -> Value:
    if isinstance(value, Array) and value.made is not None:
        return replace(value, made=None)
    if isinstance(value, (TupleValue, ListValue, DictValue)) and depth > 0:
        return map_parts(value, lambda part: _without_shape(part, depth - 1))
    return value


def _as_large_as(init: Value, result: Value, depth: int = 4) -> Value:
    """What a loop carries in the end: its leaves have the shapes and dtypes of those that it began with."""
    if isinstance(init, Array) and isinstance(result, Array):
        like = init.like or init.origin
        return result if init.tree or result.tree or like is None else replace(result, like=like)
    if isinstance(init, TupleValue) and isinstance(result, TupleValue) and init.items and result.items:
        if depth > 0 and len(init.items) == len(result.items):
            pairs = zip(init.items, result.items, strict=True)
            items = [_as_large_as(first, last, depth - 1) for first, last in pairs]
            return replace(result, items=items)
    return result


def _copied(tree: Value, depth: int = 4) -> Value:
    """The same leaves in containers of their own."""
    if isinstance(tree, (TupleValue, ListValue, DictValue)) and depth > 0:
        return map_parts(tree, lambda part: _copied(part, depth - 1))
    if isinstance(tree, Instance) and is_pytree(tree.cls):
        return replace(tree, fields=dict(tree.fields))
    return tree
