"""Loops: `for` and `while`, evaluated once as the first iteration and once as a later one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from jaxlint.staging import events
from jaxlint.staging.evaluator.assignments import Assignments
from jaxlint.staging.evaluator.containers import Containers, iterated
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.scopes import (
    Block,
    Looping,
)
from jaxlint.staging.shapes.known import number_of, rows_of
from jaxlint.staging.values import (
    Array,
    DictValue,
    ExternalObject,
    Instance,
    ListValue,
    NumpyArray,
    Origin,
    Static,
    TupleValue,
    Unknown,
    Value,
    counts_on,
    is_answer,
    join,
    join_all,
    without_number,
)
from jaxlint.staging.values.forms import widen
from jaxlint.staging.values.frame import MAX_EXACT, MAX_LOOPS, Frame, Loop
from jaxlint.staging.values.truth import truth


class Loops(Part):
    """Evaluates loops."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.assignments = machine.part(Assignments)
        self.containers = machine.part(Containers)
        self.conversions = machine.part(Conversions)

    def exec_for(self, node: ast.For | ast.AsyncFor, frame: Frame) -> bool:
        iterable = iterated(self.machine.language.eval(node.iter, frame))
        trips = self.trip_count(iterable)
        if (
            isinstance(iterable, ListValue)
            and iterable.kind == "iterator"
            and not _is_given(node.iter, frame)
        ):
            trips = iterable.length or None  # as many as the shortest of what is paired
        steps = isinstance(iterable, ListValue) and iterable.kind == "steps" and not frame.stage.staged
        loop = Loop(node, "for", len(frame.guards), calls_jitted=steps, trips=trips)

        if isinstance(iterable, (ListValue, TupleValue)) and iterable.items is not None:
            loop.listed = len(iterable.items)
        items = self.containers.known_items(iterable) if self.machine.exact else None
        loop.one_by_one = bool(items) and len(items or ()) <= MAX_EXACT and len(frame.loops) < MAX_LOOPS // 2
        turns = iter(items or ())

        def bind() -> bool | None:
            value = next(turns, None) if loop.one_by_one else None
            if value is None and loop.one_by_one:
                return True
            if value is None:
                value = self.containers.element_of(iterable, node.iter, frame)
            self.assignments.assign(node.target, value, frame, node)
            return None

        staged = frame.stage.staged
        before = self.named_arrays(frame) if staged else {}
        self.run_loop(loop, node.body, bind, frame, skip=trips == 0)
        if staged and trips != 0:
            after = frame.scope.variables
            self.machine.emit("loop", events.LoopEvent(node, frame, loop, iterable, before, after))
        elif not staged and trips != 0:
            self.machine.emit("iteration", events.IterationEvent(node.iter, frame, loop, iterable))
        if node.orelse:
            return self.machine.language.exec_block(node.orelse, frame)
        return True

    @staticmethod
    def named_arrays(frame: Frame) -> dict[str, Value]:
        """The variables, with an identity for each array, so that the loop's results can refer to them."""
        variables = frame.scope.variables
        for name, value in list(variables.items()):
            if type(value) is Array and value.origin is None:
                variables[name] = value.known_as(Origin(name))
        return dict(variables)

    def exec_while(self, node: ast.While, frame: Frame) -> bool:
        loop = Loop(node, "while", len(frame.guards))
        seen: list[bool | None] = []

        def test() -> bool | None:
            value = self.machine.language.eval(node.test, frame)
            self.conversions.test(value, node.test, "while", frame)
            if frame.stage.staged and is_answer(value):
                Block.doubts_rest(frame)
            seen.append(truth(value))
            return None if seen[-1] is None else not seen[-1]

        with Block(frame):
            self.run_loop(loop, node.body, test, frame)
        forever = bool(seen) and all(seen) and isinstance(node.test, ast.Constant)
        if node.orelse:
            return self.machine.language.exec_block(node.orelse, frame)
        return not forever or bool(loop.exits)

    def run_loop(
        self,
        loop: Loop,
        body: Sequence[ast.stmt],
        bind: Callable[[], bool | None],
        frame: Frame,
        skip: bool = False,
    ) -> None:
        """Evaluates a loop body twice: as the first iteration, then in the state that the first left.

        `bind` runs before each. It returns whether the loop ends there, if that is certain.
        """
        if skip:
            return
        before = frame.snapshot()
        alive, ran = True, False
        dead = frame.buffers.donated
        with Looping(frame, loop):
            most = MAX_EXACT + 1 if loop.one_by_one else 3 if len(frame.loops) <= MAX_LOOPS else 1
            for turn in range(most):
                if turn == 2 and frame.buffers.donated is dead and not loop.one_by_one:
                    break  # a third time, for values that one iteration binds and the next donates
                ends = bind()
                if ends:
                    break
                ran = ran or ends is False
                alive = self.machine.language.exec_block(body, frame)
                if not alive and frame.continued:
                    alive, frame.continued = True, False
                if not alive:
                    break
                loop.second = True
                if loop.trips == 1:
                    break
                if not loop.one_by_one:
                    widen(frame.scope.variables, before.variables)
                    if turn == 0:
                        forget_lengths(frame.scope.variables, before.variables)
                        forget_numbers(frame.scope.variables, before.variables)
        if not alive:
            # The body always leaves the loop, so its first iteration is its last.
            if loop.exits:
                frame.restore(loop.exits[0])
                for snapshot in loop.exits[1:]:
                    frame.merge(snapshot)
                frame.merge(before)
            else:
                frame.restore(before)
            return
        # Variables that an iteration rebinds count as rebound: loops that never run are rare.
        variables = frame.scope.variables
        for name, value in before.variables.items() if not ran else ():
            mine = variables.get(name)
            if mine is not None and mine is not value and not self.same_kind(mine, value):
                if not (isinstance(mine, Array) and isinstance(value, (Static, Array, NumpyArray, Unknown))):
                    variables[name] = join(mine, value)
        for snapshot in loop.exits:
            frame.merge(snapshot)

    @staticmethod
    def same_kind(left: Value, right: Value) -> bool:
        return type(left) is type(right) and isinstance(left, (TupleValue, DictValue, ListValue, Instance))

    def exec_break(self, node: ast.Break, frame: Frame) -> bool:
        if frame.loops:
            frame.loops[-1].exits.append(frame.snapshot())
        return False

    def exec_continue(self, node: ast.Continue, frame: Frame) -> bool:
        frame.continued = True
        return False

    def trip_count(self, iterable: Value) -> int | None:
        iterable = iterated(iterable)
        if isinstance(iterable, TupleValue) and iterable.items is not None:
            return len(iterable.items)
        if isinstance(iterable, (Array, NumpyArray)):
            whole = isinstance(iterable, NumpyArray) or not iterable.tree
            return 0 if iterable.rowless else (whole and rows_of(iterable, 0)) or None
        if isinstance(iterable, ExternalObject) and iterable.name == "builtins.range":
            numbers = [number for number in map(number_of, iterable.args) if number is not None]
            if numbers and len(numbers) == len(iterable.args):
                try:
                    return len(range(*numbers))
                except (ValueError, TypeError, OverflowError):
                    return None
        return None


def _is_given(node: ast.expr, frame: Frame) -> bool:
    """Whether the caller gives what a loop goes through, here perhaps only as much as an example needs."""
    if frame.function is None:
        return not isinstance(node, ast.Call)
    arguments = frame.function.node.args
    given = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    read = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return not isinstance(node, ast.Call) or bool(read & given)


def forget_numbers(variables: dict[str, Value], before: dict[str, Value]) -> None:
    """After the first iteration of a loop, the counters that it has changed have any number: `count += 1`."""
    for name, value in variables.items():
        old = before.get(name)
        if value is not old and counts_on(old, value):
            variables[name] = without_number(value)


def forget_lengths(variables: dict[str, Value], before: dict[str, Value]) -> None:
    """After the first iteration of a loop, the lists and tuples that are longer or shorter than before it have any
    length: `rows = rows + [row]`."""
    for name, value in variables.items():
        old = before.get(name)
        if not isinstance(value, (ListValue, TupleValue)) or type(old) is not type(value) or value is old:
            continue
        if value.items is None or old.items is None or len(value.items) == len(old.items):
            continue
        element = join_all(value.items or old.items)
        if isinstance(value, ListValue):
            variables[name] = replace(value, items=None, element=element)
        else:
            variables[name] = TupleValue(None, element)
