"""Methods that a loop on the host likely calls, although the object is unknown: `agent.update(batch)`.

What an object is often depends on a configuration or on a file that nothing imports. Its methods are evaluated without a
caller then, and nothing shows how often they run. A call of a method of that name, on something unknown, in a loop of the
program shows it. After all visible calls, such methods are evaluated once more below that loop, for the rules about costs
alone: results of a program do not follow from names.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from jaxlint.staging.evaluator.failures import Contained
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.scopes import BelowLikelyCall
from jaxlint.staging.reach.entry_points import Entry
from jaxlint.staging.reach.unknown_receivers import COMMON, MAX_CLASSES, Receivers, receiver_of, takes
from jaxlint.staging.values import ClassValue, Function, Value
from jaxlint.staging.values.buffers import NO_BUFFERS
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.keys import ConsumedKeys

# Names that objects of many libraries have, but that only one family of the project's classes may have here.
GENERIC = frozenset({"update", "step", "run", "forward", "reset"})
_OF_CONTAINERS = frozenset({"update"})  # which give nothing back there
_MOST = 8  # calls of one name that are kept


@dataclass(frozen=True, slots=True)
class LikelyCall:
    """A call of a method on something unknown, in a loop. `declared`: the class that an annotation names."""

    node: ast.Call
    frame: Frame
    args: list[Value]
    kwargs: dict[str, Value]
    declared: ClassValue | None
    loops: int  # around it, and around its callers


class LikelyCalls(Part):
    """Evaluates methods below the loops that likely call them."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.entry = machine.part(Entry)
        self.receivers = machine.part(Receivers)
        self.function_calls = machine.part(FunctionCalls)
        self.calls: dict[str, list[LikelyCall]] = {}
        self.noted: set[ast.AST] = set()

    def note_host_call(self, name: str, call: Call) -> None:
        """Keeps a call of a method on something unknown, if a loop of the program runs it."""
        node, frame = call.node, call.frame
        if (
            node in self.noted
            or frame.module.is_test
            or self.machine.guessing
            or not isinstance(node, ast.Call)
        ):
            return
        self.noted.add(node)
        if name.startswith("__") or (name in COMMON and name not in GENERIC):
            return
        if name in _OF_CONTAINERS and len(call.args) + len(call.kwargs) < 2 and frame.statement is node:
            return
        chain = [frame, *frame.callers()]
        loops = sum(len(one.loops) for one in chain)
        kept = self.calls.setdefault(name, [])
        if loops and len(kept) < _MOST:
            declared = self.receivers.declared_class(receiver_of(node.func), frame)
            kept.append(LikelyCall(node, _as_it_is(chain), call.args, call.kwargs, declared, loops))

    def run_likely_calls(self) -> None:
        """Evaluates the methods that no visible call reaches below the loop that likely calls each, the deepest one."""
        if not self.calls:
            return
        with BelowLikelyCall(self.machine):
            for function in self.entry.alone:
                call = self.call_of(function)
                if call is None or self.machine.exhausted():
                    continue
                with Contained(self.machine, function.module):
                    bound, stage = self.entry.given_alone(function)
                    self.function_calls.run_function(function, bound, call.node, call.frame, stage, "entry")

    def call_of(self, function: Function) -> LikelyCall | None:
        """The call that likely reaches a method, if few classes have such a method."""
        cls = function.cls
        found = self.calls.get(function.name) if cls is not None and not function.kind else None
        if not found or function.module.is_test:
            return None
        owners = self.receivers.with_method(function.name)
        roots = [
            one for one in owners if not any(other is not one and other in one.mro() for other in owners)
        ]
        fitting = [
            call
            for call in found
            if takes(function, call.args, call.kwargs)
            and (
                cls in _family(call.declared, owners)
                if call.declared is not None
                else len(roots) <= _roots(function)
            )
        ]
        return max(fitting, key=lambda call: call.loops, default=None)


def _roots(function: Function) -> int:
    return 1 if function.name in GENERIC else MAX_CLASSES


def _family(declared: ClassValue, owners: list[ClassValue]) -> list[ClassValue]:
    """The classes whose objects an annotation allows, and those that it inherits from."""
    return [one for one in owners if declared in one.mro() or one in declared.mro()]


def _as_it_is(chain: list[Frame]) -> Frame:
    """The frames of a call as they are now, since their loops go on. Keys and buffers are left out."""
    above: Frame | None = None
    for frame in reversed(chain):
        held = copy.copy(frame)
        held.loops, held.guards, held.caller = list(frame.loops), list(frame.guards), above
        held.consumed, held.buffers = ConsumedKeys(), NO_BUFFERS
        above = held
    assert above is not None
    return above
