"""Tracking at each call in the source: keys before it, dispatches and donated buffers after it."""

from __future__ import annotations

import ast

from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.tracking.buffers import Buffers
from jaxlint.staging.tracking.keys import Keys
from jaxlint.staging.tracking.timing import Timing
from jaxlint.staging.values import ExternalMethod, Unknown, Value
from jaxlint.staging.values.call import Call
from jaxlint.syntax.facts import dotted

_APPLYING = ("apply", "apply_fn")  # flax methods that take streams of random numbers as `rngs`


class CallTracking(Part):
    """Calls the trackers from one place."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.keys = machine.part(Keys)
        self.buffers = machine.part(Buffers)
        self.timing = machine.part(Timing)

    def before_call(self, node: ast.Call, callee: Value, call: Call) -> None:
        kwargs = call.kwargs
        if "rngs" in kwargs and dotted(node.func).rpartition(".")[2] in _APPLYING:
            self.keys.use_streams(kwargs["rngs"], node, call.frame)
        if "seed" in kwargs and isinstance(callee, (ExternalMethod, Unknown)):
            self.keys.use_seed(kwargs["seed"], node, call.frame)

    def after_host_call(self, node: ast.Call, callee: Value, call: Call, result: Value) -> None:
        self.timing.note_waiting(node, callee, call.args)
        if self.machine.donates:
            self.buffers.donate_arguments(callee, node, call, result)
