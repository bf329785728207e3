"""Branches: `if`, `match`, `try`, `with`, and the join of their paths."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from jaxlint.staging import events
from jaxlint.staging.evaluator.assignments import Assignments
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.comparisons import Comparisons
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.environment import closed_branch
from jaxlint.staging.evaluator.external_models import Entered, contexts
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.narrowing import Narrowing
from jaxlint.staging.evaluator.repeated_tests import question, recall, remember
from jaxlint.staging.evaluator.scopes import (
    NOTHING,
    Block,
    Catching,
    Doubting,
    ExpectingErrors,
    Guarded,
    ImportGuard,
    Path,
    Replaceable,
    Tested,
)
from jaxlint.staging.evaluator.tested_items import ITEM_TESTS, assuming_tests, tested_item
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    ClassValue,
    External,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    ModuleValue,
    Shim,
    Static,
    Unknown,
    Value,
    as_answer,
    constant,
    find_array,
    is_answer,
    join,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.frame import Frame, Snapshot
from jaxlint.staging.values.measured import decides_for_size
from jaxlint.staging.values.truth import truth
from jaxlint.syntax.facts import (
    asks_for_kind,
    asks_what_is_kept,
    does_it_otherwise,
    dotted,
    expects_error,
    expects_missing_name,
    foreign_branch,
    guards_imports,
    imports_only_jax,
    leaves_quietly,
    name_loads,
    none_branch,
    rank_flags,
    swallows_tracer_errors,
    type_checking_branch,
    walk,
)


class Branches(Part):
    """Evaluates statements with parts that may not run."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.assignments = machine.part(Assignments)
        self.calls = machine.part(Calls)
        self.conversions = machine.part(Conversions)
        self.narrowing = machine.part(Narrowing)
        self.comparisons = machine.part(Comparisons)

    def exec_if(self, node: ast.If, frame: Frame) -> bool:
        value = self.machine.language.eval(node.test, frame)
        self.conversions.test(value, node.test, "if", frame)
        known = truth(value)
        shim = self.narrowing.is_shim(node.test, value, frame)
        with ImportGuard(frame) if shim else NOTHING:
            checked = type_checking_branch(node.test) if shim else None
            if checked is not None:
                # Run-time bindings win, and bindings for type checkers fill the gaps. Not in a class, where they
                # would hide inherited members or the `__init__` of a decorator.
                if not frame.scope.is_class:
                    self.machine.language.exec_block(node.body if checked else node.orelse, frame)
                return self.machine.language.exec_block(node.orelse if checked else node.body, frame)
            if known is not None and (not shim or isinstance(value, Static)):
                self.narrowing.narrow(node.test, known, frame)
                filled = frame.stage.staged and known and is_filled_before(node, frame)
                with Doubting(frame) if filled else NOTHING:
                    return self.machine.language.exec_block(node.body if known else node.orelse, frame)
            return self.exec_branches(node, value, shim, frame)

    def exec_branches(self, node: ast.If, value: Value, shim: bool, frame: Frame) -> bool:
        """Evaluates both branches of an `if` whose test `value` is undecided; False if neither reaches its end."""
        before = frame.snapshot()
        with Path(frame, node, before):
            missing = none_branch(node.test)
            foreign = foreign_branch(node.test)
            if foreign is None:
                foreign = closed_branch(value, node.body, node.orelse)
            if foreign is None and frame.stage.staged:
                foreign = self.narrowing.arrayless_branch(node.test, frame)
            answer = frame.stage.staged and is_answer(value)
            if answer:
                frame.asked_answers = True
            open_choice = frame.stage.staged and self.may_be_static(node.test, frame)
            # If one branch raises, code after the `if` has taken the other.
            refused, required = answer and _raises(node.body), answer and _raises(node.orelse)
            if self.decides_for_kind(node.test, frame):
                frame.asked_kinds = True
            frame.asked_sizes = frame.asked_sizes or decides_for_size(node.test, frame.scope.variables)
            self.narrowing.narrow(node.test, True, frame)
            asked = question(node.test, frame)
            if asked is not None:
                recall(asked, True, frame)
            # The branch that today's JAX takes must work there; a shim guards the other.
            taken = self.outcome_on_newest_jax(node.test, frame) if shim else None
            doubt = open_choice or missing is True or foreign is True or (answer and not required)
            unguarded = taken is True
            with Doubting(frame) if doubt else NOTHING, ImportGuard(frame, -1) if unguarded else NOTHING:
                body_alive = self.exec_tested(node.test, True, node.body, frame)
            after_body = frame.snapshot()
            frame.restore(before)
            self.narrowing.narrow(node.test, False, frame)
            if asked is not None:
                recall(asked, False, frame)
            doubt = open_choice or missing is False or foreign is False or (answer and not refused)
            unguarded = taken is False
            with Doubting(frame) if doubt else NOTHING, ImportGuard(frame, -1) if unguarded else NOTHING:
                else_alive = self.exec_tested(node.test, False, node.orelse, frame)
        if isinstance(value, Shim) and body_alive != else_alive and taken is not body_alive:
            self.leave_shim(node.body if else_alive else node.orelse, frame)
        elif foreign is body_alive and else_alive is not body_alive:
            Block.doubts_rest(frame)  # what follows is for those cases only
        elif answer and else_alive is not body_alive and not (refused or required):
            Block.doubts_rest(frame)
        elif not body_alive and frame.function is not None:
            if asks_what_is_kept(node.test, frame.function.node):
                frame.perhaps_kept = True  # an earlier call on the host may have tested it, as in `__init__`
        if body_alive and else_alive:
            when_false = frame.scope.variables
            frame.merge(after_body)
            if answer:
                self.doubt_flags(after_body.variables, when_false, frame)
            if asked is not None:
                remember(asked, after_body.variables, when_false, frame)
        elif body_alive:
            frame.restore(after_body)
        return body_alive or else_alive

    @staticmethod
    def doubt_flags(one: dict[str, Value], other: dict[str, Value], frame: Frame) -> None:
        # A flag that both branches of such a test set differently carries its answer.
        for name, value in one.items():
            if other.get(name, value) is not value:
                frame.scope.variables[name] = as_answer(frame.scope.variables[name])

    def exec_tested(self, test: ast.expr, outcome: bool, branch: Sequence[ast.stmt], frame: Frame) -> bool:
        """Evaluates a branch in which a tested dict item has the value that `test` implies."""
        found = tested_item(test, outcome, frame) if type(test) in ITEM_TESTS else None
        if found is None:
            return self.machine.language.exec_block(branch, frame)
        with Tested(self.machine, found), assuming_tests([found]):
            return self.machine.language.exec_block(branch, frame)

    @staticmethod
    def leave_shim(branch: Sequence[ast.stmt], frame: Frame) -> None:
        """After a branch that returned, the code is for other versions. `exec_block` removes this guard at its end."""
        if isinstance(branch[-1], ast.Return):
            Block.guards_rest(frame)
            Block.doubts_rest(frame)

    def outcome_on_newest_jax(self, test: ast.expr, frame: Frame) -> bool | None:
        """The result of `hasattr(jax.some.module, "name")` on the newest JAX; None for any other test."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.outcome_on_newest_jax(test.operand, frame)
            return None if inner is None else not inner
        if not (isinstance(test, ast.Call) and dotted(test.func) == "hasattr" and len(test.args) == 2):
            return None
        asked, name = test.args
        module = self.machine.language.eval(asked, frame)
        if (
            not isinstance(module, External)
            or not isinstance(name, ast.Constant)
            or not isinstance(name.value, str)
        ):
            return None
        return self.machine.arrays.module_has(module.name, name.value)

    def may_be_static(self, test: ast.expr, frame: Frame) -> bool:
        """Whether a test depends on a value that is a tracer in some calls and a plain value in others.

        The same for a test of an array's rank, which also decides for whole calls.
        """
        if self.decides_for_kind(test, frame) or self.narrowing.asks_for_attribute(test, frame):
            return True
        for part in name_loads(test):
            found = frame.scope.lookup(part.id)
            if found is not None and isinstance(found[0], Array):
                if found[0].staged and not found[0].certain:
                    return True
        return False

    @staticmethod
    def decides_for_kind(test: ast.expr, frame: Frame) -> bool:
        """Whether a test depends on the kind of array, directly or through a name bound to such a test."""
        if asks_for_kind(test):
            return True
        flags = rank_flags(frame.function.node) if frame.function is not None else frozenset()
        return bool(flags) and any(part.id in flags for part in name_loads(test))

    def exec_match(self, node: ast.Match, frame: Frame) -> bool:
        subject = self.machine.language.eval(node.subject, frame)
        frame.asked_sizes = frame.asked_sizes or decides_for_size(node.subject, frame.scope.variables)
        before = frame.snapshot()
        ends = []
        exhaustive = False
        for case in node.cases:
            frame.restore(before)
            compares = any(isinstance(p, ast.MatchValue) for p in ast.walk(case.pattern))
            if compares and find_array(subject, True, 1) is not None:
                for pattern in ast.walk(case.pattern):
                    if isinstance(pattern, ast.MatchValue):
                        against = self.machine.language.eval(pattern.value, frame)
                        self.conversions.test(
                            self.comparisons.compare_pair(subject, against, ast.Eq(), pattern, frame),
                            node.subject,
                            "match",
                            frame,
                        )
            for pattern in ast.walk(case.pattern):
                if isinstance(pattern, (ast.MatchAs, ast.MatchStar)) and pattern.name:
                    whole = isinstance(case.pattern, ast.MatchAs) and pattern is case.pattern
                    frame.scope.variables[pattern.name] = subject if whole else UNKNOWN
            asked: Value = UNKNOWN
            if case.guard is not None:
                asked = self.machine.language.eval(case.guard, frame)
                self.conversions.test(asked, case.guard, "match", frame)
                if truth(asked) is False:
                    continue
            doubt = frame.stage.staged and is_answer(asked)
            with Guarded(frame, node), Doubting(frame, doubt):
                if self.machine.language.exec_block(case.body, frame):
                    ends.append(frame.snapshot())
            if isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None:
                exhaustive = True
        if not exhaustive:
            ends.append(before)
        if not ends:
            return False
        frame.restore(ends[0])
        for end in ends[1:]:
            frame.merge(end)
        return True

    def exec_try(self, node: ast.Try, frame: Frame) -> bool:
        swallows = swallows_tracer_errors(node.handlers)
        shim = guards_imports(node.handlers)
        before = frame.snapshot()
        with ImportGuard(frame) if shim else NOTHING:
            alive, ends, perhaps = self.exec_tried(node, swallows, before, frame)
        if shim and not alive and ends:
            self.leave_shim(node.orelse or node.body, frame)
        if perhaps and len(ends) == 1:
            Block.doubts_rest(frame)  # the handlers leave, so what follows is not for tracers
        if ends:
            frame.restore(ends[0])
            for end in ends[1:]:
                self.merge_handler(frame, end, imports=shim, certain=shim and imports_only_jax(node.body))
        elif node.finalbody:
            frame.restore(before)
        final = self.machine.language.exec_block(node.finalbody, frame)
        return bool(ends) and final

    def exec_tried(
        self, node: ast.Try, swallows: bool, before: Snapshot, frame: Frame
    ) -> tuple[bool, list[Snapshot], bool]:
        """Evaluates the body of a `try`, and each handler from the state at its start.

        Returns whether the body ends, where it and the handlers end, and whether it may raise what a handler
        swallows.
        """
        replaceable = swallows and does_it_otherwise(node)
        frame.raised, frame.perhaps_raised = None, False
        with Catching(frame, swallows), Replaceable(frame, replaceable):
            alive = self.machine.language.exec_block(node.body, frame)
        raised = frame.raised if swallows else None
        if raised is not None and raised[0] <= len(frame.guards) + len(frame.loops):
            alive = False
            del frame.returns[raised[1] :]
        perhaps = bool(swallows and alive and frame.perhaps_raised)
        if alive:
            alive = self.machine.language.exec_block(node.orelse, frame)
        ends = [frame.snapshot()] if alive else []
        for handler in node.handlers:
            # The handler may start at any point of the body, so names that the body binds may be unbound.
            after = dict(frame.scope.variables)
            frame.restore(before)
            for name, value in after.items():
                if name not in before.variables:
                    frame.scope.variables[name] = value
            if handler.name:
                frame.scope.variables[handler.name] = UNKNOWN
            with Guarded(frame, handler):
                if self.machine.language.exec_block(handler.body, frame):
                    ends.append(frame.snapshot())
        return alive, ends, perhaps

    def merge_handler(self, frame: Frame, other: Any, *, imports: bool, certain: bool = False) -> None:
        """Joins the end of an except clause. If the try only guards imports, its first choice wins; `certain`: so do flags."""
        if not imports:
            frame.merge(other)
            return
        variables = dict(frame.scope.variables)
        for name, value in other.variables.items():
            mine = variables.get(name)
            if mine is None or (isinstance(mine, Unknown) and not isinstance(value, Static)):
                variables[name] = value
            elif {type(constant(mine)), type(constant(value))} == {bool} and constant(mine) is not constant(
                value
            ):
                # It depends on whether the library has what was imported.
                variables[name] = mine if certain else Shim(kind="bool")
            elif self.machine.staging.is_stand_in(mine, value) or not isinstance(
                mine, (External, ModuleValue, Function, ClassValue)
            ):
                variables[name] = join(mine, value)
        frame.scope.variables = variables

    def exec_with(self, node: ast.With | ast.AsyncWith, frame: Frame) -> bool:
        # A test that expects an error is meant to raise.
        expected = any(expects_error(item.context_expr) for item in node.items)
        caught = expected
        managers: list[Value] = []
        spans = self.machine.ledger.spans
        with ExitStack() as around:
            around.enter_context(Catching(frame, expected))
            around.enter_context(
                ImportGuard(frame, any(expects_missing_name(item.context_expr) for item in node.items))
            )
            for item in node.items:
                value = self.machine.language.eval(item.context_expr, frame)
                name = value.name if isinstance(value, (External, ExternalObject)) else ""
                if not name and isinstance(item.context_expr, ast.Call):
                    name = dotted(item.context_expr.func)
                model = contexts.get(name)
                if model is not None:
                    around.enter_context(model(Entered(name, value, frame, self.machine)))
                if isinstance(value, ExternalObject):
                    self.machine.emit("with", events.WithEvent(item.context_expr, frame, value))
                entered = self.enter(value, node, frame)
                if item.optional_vars is not None:
                    self.assignments.assign(item.optional_vars, entered, frame, node)
                managers.append(value)
                if not caught and self.swallows(value, item.context_expr, frame):
                    caught = True
                    around.enter_context(Catching(frame))
            provoking = frame.module if expected and frame.module.is_test else self.machine.provoking
            start = self.machine.tracking.reading(node, frame)
            with ExpectingErrors(self.machine, provoking):
                alive = self.machine.language.exec_block(node.body, frame)
            self.machine.tracking.timed_body(spans, start, node.items[0].context_expr, frame)
            for value in reversed(managers):
                leave = value.cls.lookup("__exit__") if isinstance(value, Instance) else None
                if isinstance(leave, Function):
                    given: list[Value] = [value, Static(None), Static(None), Static(None)]
                    self.calls.call_value(leave, Call(given, {}, node, frame))
        return alive or caught

    def swallows(self, manager: Value, context: ast.expr, frame: Frame) -> bool:
        """Whether a context manager of the project may swallow an error of a tracer."""
        leave = manager.cls.lookup("__exit__") if isinstance(manager, Instance) else None
        if isinstance(manager, ListValue) and isinstance(context, ast.Call):
            leave = self.machine.language.eval(context.func, frame)  # a `contextlib.contextmanager`
        return isinstance(leave, Function) and leaves_quietly(leave.node)

    def enter(self, value: Value, node: ast.AST, frame: Frame) -> Value:
        """The value that `with value as name` binds."""
        method = value.cls.lookup("__enter__") if isinstance(value, Instance) else None
        if isinstance(method, Function):
            result = self.calls.call_value(method, Call([value], {}, node, frame))
            return value if isinstance(result, Unknown) else result
        if isinstance(value, ListValue) and value.kind in ("generator", "steps"):
            return value.element  # a `contextlib.contextmanager`: the value that the function yields
        return value if isinstance(value, (Instance, ExternalObject)) else UNKNOWN


def _raises(branch: Sequence[ast.stmt]) -> bool:
    return bool(branch) and isinstance(branch[-1], ast.Raise)


def is_filled_before(node: ast.If, frame: Frame) -> bool:
    """Whether it is `if self.size is None: self.size = ...` in a numpyro model, which runs once on the host before it
    is traced."""
    return (
        frame.stage.within("numpyro")
        and none_branch(node.test) is True
        and any(isinstance(part, ast.Attribute) and part.attr in _filled(node) for part in walk(node.test))
    )


def _filled(node: ast.If) -> frozenset[str]:
    """The attributes that the body of a branch stores."""
    targets = [t for s in node.body if isinstance(s, ast.Assign) for t in s.targets]
    return frozenset(target.attr for target in targets if isinstance(target, ast.Attribute))
