"""Calls of functions under `jax.checkpoint`, and which of them gain nothing."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, CarryEvent
from jaxlint.api.syntax import cache, dotted, nodes_of, walk
from jaxlint.api.values import Array, Function, Transformed, Unknown, Value, constant
from jaxlint_rules._callables import function_called
from jaxlint_rules._names import last_name, names_in

_LOOPS = ("scan", "while_loop", "fori_loop", "map", "nn.scan")
_LOOPING = frozenset({"scan", "fori_loop", "while_loop", "map"})
_PRODUCTS = frozenset({"matmul", "dot", "einsum", "tensordot", "conv", "conv_general_dilated", "apply"})


class CheckpointedCalls:
    """The calls of checkpointed functions that the analysis saw."""

    def __init__(self) -> None:
        self.differentiated: dict[ast.AST, dict[ast.AST, CallEvent]] = {}  # calls under a gradient
        self.called: set[ast.AST] = set()  # other calls in traced code, which is compiled as a whole
        self.in_loops: set[ast.AST] = set()
        self.in_loops_of_jax: set[ast.AST] = set()
        self.scans: dict[ast.AST, Value] = {}  # functions that scan, with the body

    def note(self, callee: Transformed, event: CallEvent) -> None:
        again = any(isinstance(value, (Array, Unknown)) and value.flow is not None for value in event.args)
        if again:
            self.differentiated.setdefault(callee.node, {})[event.node] = event
        elif event.frame.stage.staged:
            self.called.add(callee.node)
        if event.frame.stage.within(*_LOOPS):
            self.in_loops_of_jax.add(callee.node)
        if event.frame.loops:
            self.in_loops.add(callee.node)

    def note_scan(self, event: CarryEvent) -> None:
        if event.frame.function is not None:
            self.scans.setdefault(event.frame.function.node, event.body)

    def may_merge(self, remat: Transformed) -> bool:
        """Whether it lacks the barriers that keep XLA from merging the recomputation with the first computation."""
        calls = self.differentiated.get(remat.node, {}).values()
        if constant(remat.options.get("prevent_cse")) is not False or remat.node in self.in_loops_of_jax:
            return False
        return bool(calls) and all(call.frame.stage.within("jit", "pmap") for call in calls)

    def runs_all_layers(self, remat: Transformed) -> bool:
        """Whether one call of it runs all the layers, and the rest of the differentiated function does little."""
        calls = list(self.differentiated.get(remat.node, {}).values())
        function = remat.target
        if len(calls) != 1 or remat.options.keys() - {"prevent_cse"} or not isinstance(function, Function):
            return False
        if remat.node in self.in_loops | self.in_loops_of_jax or self.has_others(calls[0], function):
            return False  # one of several parts
        body = self.scans.get(function.node)
        if isinstance(body, Transformed) and body.kind == "checkpoint":
            return False
        return (body is not None or _steps_through(function.node)) and _is_light(calls[0])

    def has_others(self, call: CallEvent, function: Function) -> bool:
        """Whether another checkpointed function is called beside this one, or inside it."""
        around = {function.node, call.frame.function.node if call.frame.function is not None else None}
        for calls in self.differentiated.values():
            for other in calls.values():
                frames = [other.frame, *other.frame.callers()]
                if other.node is not call.node and any(
                    frame.function is not None and frame.function.node in around for frame in frames
                ):
                    return True
        return False


@cache
def _steps_through(function: ast.AST) -> bool:
    """An outer loop whose iterations pass an array on: `for w in layers: x = block(w, x)`."""
    for loop in nodes_of(function, ast.For):
        for statement in loop.body:
            if isinstance(statement, ast.Assign) and any(
                isinstance(n, ast.Call) for n in walk(statement.value)
            ):
                if {dotted(target) for target in statement.targets} & names_in(statement.value):
                    return True
    return False


def _is_light(call: CallEvent) -> bool:
    """Whether the calling function has no other loop or product, directly or in its callees."""
    frame = call.frame
    if frame.function is None:
        return False
    others = [node for node in nodes_of(frame.function.node, ast.Call) if node is not call.node]
    called = [function_called(node, frame) for node in others]
    bodies = [frame.function.node, *(function.node for function in called if function is not None)]
    return not any(_computes_much(body) for body in bodies)


@cache
def _computes_much(function: ast.AST) -> bool:
    if bool(nodes_of(function, ast.For)) or bool(nodes_of(function, ast.While)):
        return True
    if any(isinstance(node.op, ast.MatMult) for node in nodes_of(function, ast.BinOp)):
        return True
    named = (last_name(node.func) for node in nodes_of(function, ast.Call))
    return any(name in _PRODUCTS or name in _LOOPING for name in named)
