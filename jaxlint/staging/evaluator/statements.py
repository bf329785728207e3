"""Evaluating statements: assignment, branches, loops, definitions, imports."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from jaxlint.jaxapi.api_names import known_names
from jaxlint.jaxapi.names import canonical
from jaxlint.jaxapi.transforms import TRANSFORMS
from jaxlint.staging import events
from jaxlint.staging.evaluator.access import Access
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.classes import Classes
from jaxlint.staging.evaluator.containers import Containers
from jaxlint.staging.evaluator.datamodel import DataModel
from jaxlint.staging.evaluator.environment import closed_branch
from jaxlint.staging.evaluator.externals import Externals
from jaxlint.staging.evaluator.foreign_decorators import OVERLOADED, is_foreign
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.methods import Methods
from jaxlint.staging.evaluator.narrowing import Narrowing
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.evaluator.repeated_tests import question, recall, remember
from jaxlint.staging.evaluator.scopes import (
    NOTHING,
    Block,
    Catching,
    Doubting,
    FakePmaps,
    Guarded,
    ImportGuard,
    Looping,
    Noted,
    Path,
    Provoking,
    Replaceable,
    Staged,
    Tested,
    Unjitted,
)
from jaxlint.staging.evaluator.tested_items import ITEM_TESTS, taken_as_tested, tested_item
from jaxlint.staging.evaluator.type_parameters import seen_in_signature
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    ClassValue,
    DictValue,
    External,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    ModuleValue,
    NumpyArray,
    Origin,
    Shim,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    as_answer,
    constant,
    find_array,
    is_answer,
    join,
    join_all,
    stand_in,
)
from jaxlint.staging.values.copies import fresh
from jaxlint.staging.values.frame import MAX_LOOPS, Frame, Loop, Snapshot
from jaxlint.staging.values.pytrees import is_pytree
from jaxlint.staging.values.stage import HOST, Stage, at_compile_time
from jaxlint.staging.values.truth import truth
from jaxlint.syntax.facts import (
    asks_for_kind,
    asks_what_is_kept,
    does_it_otherwise,
    dotted,
    expects_error,
    foreign_branch,
    guards_imports,
    leaves_quietly,
    name_loads,
    none_branch,
    place_of,
    rank_flags,
    steps_on,
    swallows_tracer_errors,
    type_checking_branch,
    walk,
)
from jaxlint.syntax.newer import TypeAlias


def is_unclear(value: Unknown | Array) -> bool:
    """Whether it may be anything, of arrays or not."""
    return type(value) is Unknown or (isinstance(value, Array) and value.tree and not value.certain)


def _raises(branch: Sequence[ast.stmt]) -> bool:
    return bool(branch) and isinstance(branch[-1], ast.Raise)


# Contexts of chex in which `jit` does nothing, and `pmap` neither compiles nor hashes.
_FAKES_OF_PMAP = frozenset({"fake_pmap", "fake_pmap_and_jit"})
_FAKES = _FAKES_OF_PMAP | {"fake_jit"}


def _is_stand_in(first: Value, fallback: Value) -> bool:
    """Whether an import falls back on what stages, and nothing is known of what comes first."""
    if not isinstance(first, External) or not isinstance(fallback, External):
        return False
    known = TRANSFORMS.get(canonical(fallback.name))
    return known is not None and known.staged and canonical(first.name) not in TRANSFORMS


def _is_shown(node: ast.Expr, frame: Frame) -> bool:
    """Whether an expression is the last of its cell in a notebook, which shows what it gives."""
    container = frame.module.source.container
    return container is not None and not node.col_offset and node.end_lineno in container.last_lines


def _is_same_module(left: Value, right: External) -> bool:
    return isinstance(left, External) and canonical(left.name) == canonical(right.name)


class Statements(Part):
    """The statement half of the interpreter."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.access = machine.part(Access)
        self.calls = machine.part(Calls)
        self.classes = machine.part(Classes)
        self.containers = machine.part(Containers)
        self.data_model = machine.part(DataModel)
        self.externals = machine.part(Externals)
        self.methods = machine.part(Methods)
        self.narrowing = machine.part(Narrowing)
        self.operators = machine.part(Operators)
        self.handlers: dict[type[ast.stmt], Callable[[Any, Frame], bool | None]] = {
            ast.Expr: self.exec_expr,
            ast.Assign: self.exec_assign,
            ast.AnnAssign: self.exec_annassign,
            ast.AugAssign: self.exec_augassign,
            ast.Return: self.exec_return,
            ast.Raise: self.exec_raise,
            ast.Assert: self.exec_assert,
            ast.Delete: self.exec_delete,
            ast.Global: self.exec_global,
            ast.Nonlocal: self.exec_nonlocal,
            ast.If: self.exec_if,
            ast.Match: self.exec_match,
            ast.Try: self.exec_try,
            ast.TryStar: self.exec_try,
            ast.With: self.exec_with,
            ast.AsyncWith: self.exec_with,
            ast.For: self.exec_for,
            ast.AsyncFor: self.exec_for,
            ast.While: self.exec_while,
            ast.Break: self.exec_break,
            ast.Continue: self.exec_continue,
            ast.FunctionDef: self.exec_functiondef,
            ast.AsyncFunctionDef: self.exec_functiondef,
            ast.ClassDef: self.exec_classdef,
            TypeAlias: self.exec_typealias,
            ast.Import: self.exec_import,
            ast.ImportFrom: self.exec_importfrom,
        }

    def exec_block(self, body: Sequence[ast.stmt], frame: Frame) -> bool:
        """Evaluates statements in order; False when control does not reach the end."""
        with Block(frame):
            for statement in body:
                handler = self.handlers.get(type(statement))
                if handler is None:
                    continue
                self.machine.steps += 1
                if handler(statement, frame) is False:
                    return False
        return True

    def exec_statement(self, statement: ast.stmt, frame: Frame) -> bool:
        """Evaluates one statement; False when control does not get past it."""
        handler = self.handlers.get(type(statement))
        self.machine.steps += 1
        return handler is None or handler(statement, frame) is not False

    # -- simple statements

    def exec_expr(self, node: ast.Expr, frame: Frame) -> None:
        if isinstance(node.value, ast.Constant):
            return
        frame.statement = None if _is_shown(node, frame) else node.value
        self.machine.language.eval(node.value, frame)

    def exec_assign(self, node: ast.Assign, frame: Frame) -> None:
        with Noted(frame, "assign", node):
            value = self.machine.language.eval(node.value, frame)
        if frame.stage.staged and type(node.value) is ast.BinOp and steps_on(node):
            self.note_side_effect(node.targets[0], value, frame)
        if isinstance(value, (Unknown, Array)):
            value = self.as_before(node, value, frame)
        shared = (
            self.machine.tracking.held(node.value, value, frame)
            if self.machine.donates and not frame.stage.staged
            else None
        )
        for target in node.targets:
            self.assign(target, value, frame, node)
        if shared is not None:
            for target in node.targets:
                self.machine.tracking.bind_buffers(target, shared, frame)
        elif self.machine.donates and len(node.targets) > 1 and not frame.stage.staged:
            self.machine.tracking.bind_together(node.targets, value, frame)

    def as_before(self, node: ast.Assign, value: Unknown | Array, frame: Frame) -> Value:
        """`model = prepare(model)`, where nothing is known of what that gives: a model, too, but not with the same contents."""
        target, call = node.targets[0], node.value
        if not (type(target) is ast.Name and type(call) is ast.Call and call.args):
            return value
        given = call.args[0]
        if not (type(given) is ast.Name and given.id == target.id) or not is_unclear(value):
            return value
        found = frame.scope.lookup(target.id)
        before = found[0] if found is not None else None
        if type(before) is not Instance or not is_pytree(before.cls):
            return value
        fields = {name: stand_in(part) for name, part in before.fields.items()}
        staged = value if type(value) is Array and value.staged else before.staged
        return Instance(before.cls, fields, True, ready=before.ready, staged=staged)

    def exec_annassign(self, node: ast.AnnAssign, frame: Frame) -> None:
        self.calls.annotation(node.annotation, frame)
        if node.value is not None:
            self.assign(node.target, self.machine.language.eval(node.value, frame), frame, node)

    def exec_augassign(self, node: ast.AugAssign, frame: Frame) -> None:
        value = self.machine.language.eval(node.value, frame)
        if isinstance(node.target, ast.Subscript):
            base = self.machine.language.eval(node.target.value, frame)
            index = self.machine.language.eval(node.target.slice, frame)
            current = self.access.subscript(base, index, node.target, frame)
            if frame.stage.staged:
                self.note_count_in(base, value, node.target, frame)
            combined = self.operators.binary(current, value, node.op, node, frame)
            self.methods.store_item(base, index, combined, node.target, node, frame, node.op)
            return
        if frame.stage.staged:
            self.note_side_effect(node.target, value, frame)
        current = self.machine.language.eval(node.target, frame, store=True)
        if isinstance(current, ListValue) and isinstance(node.op, ast.Add):
            self.methods.extend_list(current, value, node, frame)
            return
        if isinstance(current, NumpyArray) and current.shares:
            self.machine.emit("store", events.StoreEvent(node, frame, current, value, node.target, node.op))
        self.assign(
            node.target, self.data_model.operate_in_place(current, node.op, value, node, frame), frame, node
        )

    def note_side_effect(self, target: ast.expr, value: Value, frame: Frame) -> None:
        """Tells rules of a counter outside of the trace that staged code steps on."""
        if not isinstance(value, Static) or not frame.stage.certain or frame.catching:
            return
        if isinstance(target, ast.Name):
            scope = frame.scope.target_scope(target.id)
            if scope is not frame.scope and self.outlives_stage(scope, frame):
                where = f"the outer variable `{target.id}`"
                self.machine.emit("side_effect", events.SideEffectEvent(target, frame, where))
        elif isinstance(target, ast.Attribute):
            base = self.machine.language.eval(target.value, frame)
            plain = isinstance(base, Instance) and base.cls.kind in ("plain", "dataclass")
            if isinstance(base, Instance) and plain and self.classes.made_outside(base, frame):
                where = f"the attribute `{ast.unparse(target)}`"
                self.machine.emit("side_effect", events.SideEffectEvent(target, frame, where))

    def note_count_in(self, container: Value, value: Value, target: ast.Subscript, frame: Frame) -> None:
        """Tells rules of a dictionary or list outside of the trace that staged code counts in: `calls["f"] += 1`."""
        if not isinstance(value, Static) or not frame.stage.certain or frame.catching:
            return
        if isinstance(container, (DictValue, ListValue)) and container.stage is not frame.stage:
            name = self.methods.container_name(container, frame)
            if name and getattr(container.stage, "kind", "") == "host":
                self.machine.emit("side_effect", events.SideEffectEvent(target, frame, name))

    def exec_return(self, node: ast.Return, frame: Frame) -> bool:
        value = self.machine.language.eval(node.value, frame) if node.value is not None else Static(None)
        frame.returns.append(value)
        if frame.used:
            self.machine.tracking.tell_returned(value, frame)
        return False

    def exec_raise(self, node: ast.Raise, frame: Frame) -> bool:
        if node.exc is not None:
            with Catching(frame):  # a message of an error is built only when the program fails anyway
                self.machine.language.eval(node.exc, frame)
        return False

    def exec_assert(self, node: ast.Assert, frame: Frame) -> None:
        value = self.machine.language.eval(node.test, frame)
        self.externals.test(value, node.test, "assert", frame)
        self.narrowing.narrow(node.test, True, frame)

    def exec_delete(self, node: ast.Delete, frame: Frame) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                frame.scope.variables.pop(target.id, None)
                self.machine.tracking.forget_place(target.id, frame)
            elif isinstance(target, ast.Subscript):
                self.machine.language.eval(target.value, frame)
                self.machine.language.eval(target.slice, frame)
                if self.machine.donates and (place := place_of(target)):
                    self.machine.tracking.forget_place(place, frame)

    def exec_global(self, node: ast.Global, frame: Frame) -> None:
        frame.scope.globals.update(node.names)

    def exec_nonlocal(self, node: ast.Nonlocal, frame: Frame) -> None:
        frame.scope.nonlocals.update(node.names)

    # -- branches

    def exec_if(self, node: ast.If, frame: Frame) -> bool:
        value = self.machine.language.eval(node.test, frame)
        self.externals.test(value, node.test, "if", frame)
        known = truth(value)
        shim = self.narrowing.is_shim(node.test, value, frame)
        with ImportGuard(frame) if shim else NOTHING:
            checked = type_checking_branch(node.test) if shim else None
            if checked is not None:
                # What a program has at run time stands; what type checkers read fills in the rest, but not in a class,
                # where it would hide what bases have, or the `__init__` that a decorator makes.
                if not frame.scope.is_class:
                    self.exec_block(node.body if checked else node.orelse, frame)
                return self.exec_block(node.orelse if checked else node.body, frame)
            if known is not None and (not shim or isinstance(value, Static)):
                self.narrowing.narrow(node.test, known, frame)
                filled = frame.stage.staged and known and is_filled_before(node, frame)
                with Doubting(frame) if filled else NOTHING:
                    return self.exec_block(node.body if known else node.orelse, frame)
            return self.exec_branches(node, value, shim, frame)

    def exec_branches(self, node: ast.If, value: Value, shim: bool, frame: Frame) -> bool:
        """Both branches of an `if` whose test, `value`, decides nothing; False when neither ends."""
        before = frame.snapshot()
        with Guarded(frame, node), Path(frame, before):
            missing = none_branch(node.test)
            foreign = foreign_branch(node.test)
            if foreign is None:
                foreign = closed_branch(value, node.body, node.orelse)
            if foreign is None and frame.stage.staged:
                foreign = self.narrowing.arrayless_branch(node.test, frame)
            answer = frame.stage.staged and is_answer(value)
            if answer:
                frame.facts["answered"] = True
            open_choice = frame.stage.staged and self.may_be_static(node.test, frame)
            # Where one branch raises, whoever gets past the test has taken the other.
            refused, required = answer and _raises(node.body), answer and _raises(node.orelse)
            if self.decides_for_kind(node.test, frame):
                frame.facts["ranked"] = True
            self.narrowing.narrow(node.test, True, frame)
            asked = question(node.test, frame)
            if asked is not None:
                recall(asked, True, frame)
            # The branch that today's JAX takes has to work there: a shim guards the other one.
            taken = self.taken_today(node.test, frame) if shim else None
            doubt = open_choice or missing is True or foreign is True or (answer and not required)
            unguarded = taken is True
            with Doubting(frame, doubt), ImportGuard(frame, -1) if unguarded else NOTHING:
                body_alive = self.exec_tested(node.test, True, node.body, frame)
            after_body = frame.snapshot()
            frame.restore(before)
            self.narrowing.narrow(node.test, False, frame)
            if asked is not None:
                recall(asked, False, frame)
            doubt = open_choice or missing is False or foreign is False or (answer and not refused)
            unguarded = taken is False
            with Doubting(frame, doubt), ImportGuard(frame, -1) if unguarded else NOTHING:
                else_alive = self.exec_tested(node.test, False, node.orelse, frame)
        if isinstance(value, Shim) and body_alive != else_alive and taken is not body_alive:
            self.leave_shim(node.body if else_alive else node.orelse, frame)
        elif foreign is body_alive and else_alive is not body_alive:
            Block.doubts_rest(frame)  # what follows is for those alone
        elif answer and else_alive is not body_alive and not (refused or required):
            Block.doubts_rest(frame)
        elif not body_alive and frame.function is not None:
            if asks_what_is_kept(node.test, frame.function.node):
                frame.facts["perhaps kept"] = True  # the host may have asked before, as its `__init__` does
        if body_alive and else_alive:
            when_false = frame.scope.variables
            self.merge(frame, after_body)
            if answer:
                self.doubt_flags(after_body.variables, when_false, frame)
            if asked is not None:
                remember(asked, after_body.variables, when_false, frame)
        elif body_alive:
            frame.restore(after_body)
        return body_alive or else_alive

    @staticmethod
    def doubt_flags(one: dict[str, Value], other: dict[str, Value], frame: Frame) -> None:
        # A flag that the branches of an answer set in two ways says what the answer says.
        for name, value in one.items():
            if other.get(name, value) is not value:
                frame.scope.variables[name] = as_answer(frame.scope.variables[name])

    def exec_tested(self, test: ast.expr, outcome: bool, branch: Sequence[ast.stmt], frame: Frame) -> bool:
        """Runs a branch, in which an item of a dict that `test` asks for is what it said."""
        found = tested_item(test, outcome, frame) if type(test) in ITEM_TESTS else None
        if found is None:
            return self.exec_block(branch, frame)
        with Tested(self.machine, found), taken_as_tested([found]):
            return self.exec_block(branch, frame)

    @staticmethod
    def leave_shim(branch: Sequence[ast.stmt], frame: Frame) -> None:
        """What follows a branch that returned is for the other versions: `exec_block` takes the guard back at its end."""
        if isinstance(branch[-1], ast.Return):
            Block.guards_rest(frame)
            Block.doubts_rest(frame)

    def taken_today(self, test: ast.expr, frame: Frame) -> bool | None:
        """What `hasattr(jax.some.module, "name")` gives on the newest JAX; None for any other test."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.taken_today(test.operand, frame)
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
        if module.name not in known_names:
            return None
        names = known_names(module.name)
        return None if names.is_open_now or not names.there else name.value in names.there

    def may_be_static(self, test: ast.expr, frame: Frame) -> bool:
        """Whether a test asks for something that is a tracer in some calls and a plain value in others.

        Or for the number of dimensions of an array, which decides for whole calls, too.
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
        """Whether a test asks what kind of array there is, in itself or by a name bound to such a question."""
        if asks_for_kind(test):
            return True
        flags = rank_flags(frame.function.node) if frame.function is not None else frozenset()
        return bool(flags) and any(part.id in flags for part in name_loads(test))

    def merge(self, frame: Frame, other: Any) -> None:
        """Joins another path's snapshot into the frame's current state."""
        variables = dict(frame.scope.variables)
        for name, value in other.variables.items():
            mine = variables.get(name)
            variables[name] = value if mine is None else mine if mine is value else join(mine, value)
        frame.scope.variables = variables
        frame.used = {**other.used, **frame.used}
        frame.merge_buffers(other)

    def exec_match(self, node: ast.Match, frame: Frame) -> bool:
        subject = self.machine.language.eval(node.subject, frame)
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
                        self.externals.test(
                            self.operators.compare_pair(subject, against, ast.Eq(), pattern, frame),
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
                self.externals.test(asked, case.guard, "match", frame)
                if truth(asked) is False:
                    continue
            doubt = frame.stage.staged and is_answer(asked)
            with Guarded(frame, node), Doubting(frame, doubt):
                if self.exec_block(case.body, frame):
                    ends.append(frame.snapshot())
            if isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None:
                exhaustive = True
        if not exhaustive:
            ends.append(before)
        if not ends:
            return False
        frame.restore(ends[0])
        for end in ends[1:]:
            self.merge(frame, end)
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
            Block.doubts_rest(frame)  # the handlers have left, and what follows is not for tracers
        if ends:
            frame.restore(ends[0])
            for end in ends[1:]:
                self.merge_handler(frame, end, imports=shim)
        elif node.finalbody:
            frame.restore(before)
        final = self.exec_block(node.finalbody, frame)
        return bool(ends) and final

    def exec_tried(
        self, node: ast.Try, swallows: bool, before: Snapshot, frame: Frame
    ) -> tuple[bool, list[Snapshot], bool]:
        """The body of a `try`, and each of its handlers from where it began.

        Whether the body ends, where it and the handlers end, and whether it may raise what a handler swallows.
        """
        replaceable = swallows and does_it_otherwise(node)
        frame.facts.pop("raised", None)
        frame.facts.pop("perhaps raised", None)
        with Catching(frame, swallows), Replaceable(frame, replaceable):
            alive = self.exec_block(node.body, frame)
        raised = frame.facts.get("raised") if swallows else None
        if isinstance(raised, tuple) and raised[0] <= len(frame.guards) + len(frame.loops):
            alive = False
            del frame.returns[raised[1] :]
        perhaps = bool(swallows and alive and "perhaps raised" in frame.facts)
        if alive:
            alive = self.exec_block(node.orelse, frame)
        ends = [frame.snapshot()] if alive else []
        for handler in node.handlers:
            # The handler may start from any point of the body: what the body bound may or may not be bound.
            after = dict(frame.scope.variables)
            frame.restore(before)
            for name, value in after.items():
                if name not in before.variables:
                    frame.scope.variables[name] = value
            if handler.name:
                frame.scope.variables[handler.name] = UNKNOWN
            with Guarded(frame, handler):
                if self.exec_block(handler.body, frame):
                    ends.append(frame.snapshot())
        return alive, ends, perhaps

    def merge_handler(self, frame: Frame, other: Any, *, imports: bool) -> None:
        """Joins the end of an except clause; where the try only guards imports, its first choice stands."""
        if not imports:
            self.merge(frame, other)
            return
        variables = dict(frame.scope.variables)
        for name, value in other.variables.items():
            mine = variables.get(name)
            if mine is None or (isinstance(mine, Unknown) and not isinstance(value, Static)):
                variables[name] = value
            elif {type(constant(mine)), type(constant(value))} == {bool} and constant(mine) is not constant(
                value
            ):
                variables[name] = Shim(kind="bool")  # whether the library has what was imported
            elif _is_stand_in(mine, value) or not isinstance(
                mine, (External, ModuleValue, Function, ClassValue)
            ):
                variables[name] = join(mine, value)
        frame.scope.variables = variables

    def exec_with(self, node: ast.With | ast.AsyncWith, frame: Frame) -> bool:
        # What a test expects to raise is meant to raise.
        expected = any(expects_error(item.context_expr) for item in node.items)
        caught = expected
        unjitted = fake_pmaps = 0
        managers: list[Value] = []
        spans = self.machine.ledger.spans
        with ExitStack() as around:
            around.enter_context(Catching(frame, expected))
            for item in node.items:
                value = self.machine.language.eval(item.context_expr, frame)
                name = value.name if isinstance(value, (External, ExternalObject)) else ""
                faked = (
                    isinstance(item.context_expr, ast.Call)
                    and dotted(item.context_expr.func).rpartition(".")[2]
                )
                without = name == "jax.disable_jit" and not (
                    isinstance(value, ExternalObject) and value.args and truth(value.args[0]) is False
                )
                if name == "jax.ensure_compile_time_eval":
                    around.enter_context(Staged(frame, at_compile_time(frame.stage)))
                elif without or faked in _FAKES:
                    around.enter_context(Staged(frame, HOST))
                    unjitted += 1
                    fake_pmaps += faked in _FAKES_OF_PMAP
                if isinstance(value, ExternalObject):
                    self.machine.emit("with", events.WithEvent(item.context_expr, frame, value))
                entered = self.enter(value, node, frame)
                if item.optional_vars is not None:
                    self.assign(item.optional_vars, entered, frame, node)
                managers.append(value)
                if not caught and self.swallows(value, item.context_expr, frame):
                    caught = True
                    around.enter_context(Catching(frame))
            provoking = frame.module if expected and frame.module.is_test else self.machine.provoking
            with Unjitted(self.machine, unjitted), FakePmaps(self.machine, fake_pmaps):
                start = self.machine.tracking.reading(node, frame)
                with Provoking(self.machine, provoking):
                    alive = self.exec_block(node.body, frame)
                self.machine.tracking.timed_body(spans, start, node.items[0].context_expr, frame)
            for value in reversed(managers):
                leave = value.cls.lookup("__exit__") if isinstance(value, Instance) else None
                if isinstance(leave, Function):
                    given: list[Value] = [value, Static(None), Static(None), Static(None)]
                    self.calls.call_value(leave, given, {}, node, frame)
        return alive or caught

    def swallows(self, manager: Value, context: ast.expr, frame: Frame) -> bool:
        """Whether a context manager of the project's own may swallow what a tracer raises."""
        leave = manager.cls.lookup("__exit__") if isinstance(manager, Instance) else None
        if isinstance(manager, ListValue) and isinstance(context, ast.Call):
            leave = self.machine.language.eval(context.func, frame)  # of `contextlib.contextmanager`
        return isinstance(leave, Function) and leaves_quietly(leave.node)

    def enter(self, value: Value, node: ast.AST, frame: Frame) -> Value:
        """What `with value as name` binds."""
        method = value.cls.lookup("__enter__") if isinstance(value, Instance) else None
        if isinstance(method, Function):
            result = self.calls.call_value(method, [value], {}, node, frame)
            return value if isinstance(result, Unknown) else result
        if isinstance(value, ListValue) and value.kind in ("generator", "steps"):
            return value.element  # of `contextlib.contextmanager`: what the function yields
        return value if isinstance(value, (Instance, ExternalObject)) else UNKNOWN

    # -- loops

    def exec_for(self, node: ast.For | ast.AsyncFor, frame: Frame) -> bool:
        iterable = self.machine.language.eval(node.iter, frame)
        trips = self.trip_count(iterable)
        steps = isinstance(iterable, ListValue) and iterable.kind == "steps" and not frame.stage.staged
        loop = Loop(node, "for", len(frame.guards), calls_jitted=steps, trips=trips)

        def bind() -> None:
            self.assign(node.target, self.containers.element_of(iterable, node.iter, frame), frame, node)

        staged = frame.stage.staged
        before = self.named_arrays(frame) if staged else {}
        self.run_loop(loop, node.body, bind, frame, skip=trips == 0)
        if staged and trips != 0:
            after = frame.scope.variables
            self.machine.emit("loop", events.LoopEvent(node, frame, loop, iterable, before, after))
        elif not staged and trips != 0:
            self.machine.emit("iteration", events.IterationEvent(node.iter, frame, loop, iterable))
        if node.orelse:
            return self.exec_block(node.orelse, frame)
        return True

    @staticmethod
    def named_arrays(frame: Frame) -> dict[str, Value]:
        """The variables, each array with an identity, so that what a loop makes of it can be said to be like it."""
        variables = frame.scope.variables
        for name, value in list(variables.items()):
            if type(value) is Array and value.origin is None:
                variables[name] = replace(value, origin=Origin(name))
        return dict(variables)

    def exec_while(self, node: ast.While, frame: Frame) -> bool:
        loop = Loop(node, "while", len(frame.guards))
        seen: list[bool | None] = []

        def test() -> bool | None:
            value = self.machine.language.eval(node.test, frame)
            self.externals.test(value, node.test, "while", frame)
            if frame.stage.staged and is_answer(value):
                Block.doubts_rest(frame)
            seen.append(truth(value))
            return None if seen[-1] is None else not seen[-1]

        with Block(frame):
            self.run_loop(loop, node.body, test, frame)
        forever = bool(seen) and all(seen) and isinstance(node.test, ast.Constant)
        if node.orelse:
            return self.exec_block(node.orelse, frame)
        return not forever or bool(loop.exits)

    def run_loop(
        self,
        loop: Loop,
        body: Sequence[ast.stmt],
        bind: Callable[[], bool | None],
        frame: Frame,
        skip: bool = False,
    ) -> None:
        """Evaluates a loop body twice: as the first iteration, then with what the first left behind.

        `bind` is called before each, and says whether the loop ends there, where that is certain.
        """
        if skip:
            return
        before = frame.snapshot()
        alive, ran = True, False
        dead = frame.dead
        with Looping(frame, loop):
            for turn in range(3 if len(frame.loops) <= MAX_LOOPS else 1):
                if turn == 2 and frame.dead is dead:
                    break  # a third time for what one iteration binds and the next donates
                ends = bind()
                if ends:
                    break
                ran = ran or ends is False
                alive = self.exec_block(body, frame) or frame.facts.pop("continued", None) is not None
                if not alive:
                    break
                loop.second = True
                if loop.trips == 1:
                    break
        if not alive:
            # The body always leaves the loop: its first iteration is its last.
            if loop.exits:
                frame.restore(loop.exits[0])
                for snapshot in loop.exits[1:]:
                    self.merge(frame, snapshot)
                self.merge(frame, before)
            else:
                frame.restore(before)
            return
        # What an iteration rebinds is taken to be rebound: loops that never run are rare.
        variables = frame.scope.variables
        for name, value in before.variables.items() if not ran else ():
            mine = variables.get(name)
            if mine is not None and mine is not value and not self.same_kind(mine, value):
                if not (isinstance(mine, Array) and isinstance(value, (Static, Array, NumpyArray, Unknown))):
                    variables[name] = join(mine, value)
        for snapshot in loop.exits:
            self.merge(frame, snapshot)

    @staticmethod
    def same_kind(left: Value, right: Value) -> bool:
        return type(left) is type(right) and isinstance(left, (TupleValue, DictValue, ListValue, Instance))

    def exec_break(self, node: ast.Break, frame: Frame) -> bool:
        if frame.loops:
            frame.loops[-1].exits.append(frame.snapshot())
        return False

    def exec_continue(self, node: ast.Continue, frame: Frame) -> bool:
        frame.facts["continued"] = True
        return False

    def trip_count(self, iterable: Value) -> int | None:
        if isinstance(iterable, TupleValue) and iterable.items is not None:
            return len(iterable.items)
        if isinstance(iterable, (Array, NumpyArray)):
            return 0 if iterable.rowless else None
        if isinstance(iterable, ExternalObject) and iterable.name == "builtins.range":
            numbers = [constant(a) for a in iterable.args]
            if numbers and all(isinstance(n, int) for n in numbers):
                try:
                    return len(range(*numbers))
                except (ValueError, TypeError, OverflowError):
                    return None
        return None

    # -- definitions

    def exec_functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
        function = self.calls.make_function(node, frame)
        value: Value = function
        for decorator in reversed(node.decorator_list):
            value = self.machine.staging.decorate(decorator, value, node, frame)
        if node.decorator_list and self.is_overload(node, frame):
            value = OVERLOADED
        self.define(node.name, value, frame)

    def is_overload(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> bool:
        """Whether a library's decorator has got a function of this name before: it may call any of them."""
        before = frame.scope.target_scope(node.name).variables.get(node.name)
        if before is OVERLOADED:
            return True
        earlier = before.node if isinstance(before, (Function, Transformed)) else None
        outermost = node.decorator_list[0]
        return (
            isinstance(earlier, (ast.FunctionDef, ast.AsyncFunctionDef))
            and earlier.name == node.name
            and bool(earlier.decorator_list)
            and ast.dump(earlier.decorator_list[0]) == ast.dump(outermost)
            and is_foreign(self.machine.language.eval(outermost, frame))
        )

    def exec_classdef(self, node: ast.ClassDef, frame: Frame) -> None:
        self.define(node.name, self.classes.make_class(node, frame), frame)

    def exec_typealias(self, node: Any, frame: Frame) -> None:
        with seen_in_signature(node, frame):
            value = self.machine.language.eval(node.value, frame)
        frame.scope.target_scope(node.name.id).variables[node.name.id] = value

    @staticmethod
    def define(name: str, value: Value, frame: Frame) -> None:
        """Binds a function or a class. Cells of a notebook may define it again and again, and call it in between."""
        scope = frame.scope.target_scope(name)
        before = scope.variables.get(name)
        if frame.scope.is_module and frame.module.source.container is not None and not frame.guards:
            if isinstance(before, (Function, ClassValue, Transformed)):
                frame.module.renamed.add(name)
        scope.variables[name] = value

    # -- imports

    def exec_import(self, node: ast.Import, frame: Frame) -> None:
        for alias in node.names:
            whole = self.import_module(alias.name, frame.module)
            self.machine.name_event(whole, alias, frame, is_import=True)
            if alias.asname:
                before = frame.scope.variables.get(alias.asname)
                if (
                    frame.scope.is_module
                    and not frame.import_guard
                    and isinstance(before, (External, ModuleValue))
                ):
                    if isinstance(whole, External) and not _is_same_module(before, whole):
                        frame.module.renamed.add(alias.asname)
                frame.scope.variables[alias.asname] = whole
            else:
                top = alias.name.partition(".")[0]
                frame.scope.variables[top] = self.import_module(top, frame.module)

    def exec_importfrom(self, node: ast.ImportFrom, frame: Frame) -> None:
        module = frame.module
        base: Value
        if node.level:
            found = self.machine.project.find_relative(node.level, node.module or "", module)
            base = self.machine.module_value(found) if found is not None else UNKNOWN
            if found is None and not node.module:
                for alias in node.names:
                    child = self.machine.project.find_relative(node.level, alias.name, module)
                    frame.scope.variables[alias.asname or alias.name] = (
                        self.machine.module_value(child) if child else UNKNOWN
                    )
                return
        else:
            base = self.import_module(node.module or "", module)
        for alias in node.names:
            if alias.name == "*":
                self.machine.name_event(base, alias, frame, is_import=True)
                self.import_star(base, frame)
                continue
            if isinstance(base, External) and self.machine.project.is_folder(base.name, module):
                child = self.machine.project.find(f"{base.name}.{alias.name}", module)
                value: Value = self.machine.module_value(child) if child else UNKNOWN
            else:
                value = self.access.attribute(base, alias.name, alias, frame, quiet=True)
            self.machine.name_event(value, alias, frame, is_import=True)
            frame.scope.variables[alias.asname or alias.name] = value

    def import_module(self, name: str, importer: Any) -> Value:
        found = self.machine.project.find(name, importer)
        if found is not None:
            return self.machine.module_value(found)
        return External(name)

    def import_star(self, base: Value, frame: Frame) -> None:
        if isinstance(base, ModuleValue):
            self.machine.language.run_module(base.module)
            for name, value in base.scope.variables.items():
                if not name.startswith("_"):
                    frame.scope.variables.setdefault(name, value)
            frame.scope.stars += base.scope.stars
        elif isinstance(base, External):
            frame.scope.stars.append(base)

    # -- assignment

    def assign(self, target: ast.expr, value: Value, frame: Frame, node: ast.AST) -> None:
        if type(target) is ast.Name:
            self.assign_name(target, value, frame)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value, frame, node)
        elif type(target) is ast.Attribute:
            base = self.machine.language.eval(target.value, frame)
            self.classes.set_attribute(base, target.attr, value, target, frame)
            if self.machine.donates:
                self.machine.tracking.forget_place(place_of(target), frame)
        elif type(target) is ast.Subscript:
            base = self.machine.language.eval(target.value, frame)
            index = self.machine.language.eval(target.slice, frame)
            if not self.put_into_object(target, constant(index), value, frame):
                self.methods.store_item(base, index, value, target, node, frame, None)
            if self.machine.donates and type(target.slice) is ast.Constant:
                self.machine.tracking.forget_place(place_of(target), frame)
        elif type(target) is ast.Starred:
            self.assign(target.value, value, frame, node)

    def put_into_object(self, target: ast.Subscript, name: object, value: Value, frame: Frame) -> bool:
        """`x.__dict__["name"] = value`, by which tests and caches give an object what its class would compute."""
        place = target.value
        if not isinstance(place, ast.Attribute) or place.attr != "__dict__" or not dotted(place):
            return False
        if not isinstance(name, str):
            return False
        holder = self.machine.language.eval(place.value, frame)
        if isinstance(holder, Instance) and not frame.stage.staged:
            known = holder.fields.get(name)
            holder.fields[name] = value if known is None or not frame.guards else join(known, value)
        return isinstance(holder, Instance)

    def assign_name(self, target: ast.Name, value: Value, frame: Frame) -> None:
        scope = frame.scope.target_scope(target.id)
        if scope is not frame.scope and frame.stage.staged and not frame.catching:
            array = find_array(value, True)
            if array is not None and self.outlives_stage(scope, frame):
                self.machine.emit(
                    "leak", events.LeakEvent(target, frame, value, f"the outer variable `{target.id}`")
                )
        if isinstance(value, Unknown) and value.origin is None:
            value = Unknown(Origin(target.id), value.flow, made_of=value.made_of, answer=value.answer)
        elif type(value) is Array and value.origin is not None:
            if value.role == "key" or value.origin.name.startswith("part "):
                value.origin.name = target.id  # messages call a key what the program calls it
        scope.variables[target.id] = value
        if self.machine.donates:
            self.machine.tracking.forget_place(target.id, frame)

    def outlives_stage(self, scope: Any, frame: Frame) -> bool:
        """Whether `scope` belongs to a call outside the innermost trace, one that goes on or has left a closure."""
        home: Stage | None = scope.stage
        current: Frame | None = frame
        while current is not None:
            if current.scope is scope:
                home = current.home
                break
            current = current.caller
        if home is None:
            return True
        return home is not frame.home and not (home.staged and frame.home.kind == home.kind)

    def unpack(self, target: ast.Tuple | ast.List, value: Value, frame: Frame, node: ast.AST) -> None:
        answer = self.data_model.special(value, "__iter__", [], node, frame)
        value = self.machine.staging.transformed_pair(value, node, frame) if answer is None else answer
        count = len(target.elts)
        star = next((i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)), None)
        if isinstance(value, (TupleValue, ListValue)) and value.items is not None:
            items = value.items
            if star is None and len(items) == count:
                for part, item in zip(target.elts, items, strict=True):
                    self.assign(part, item, frame, node)
                return
            if star is not None and len(items) >= count - 1:
                tail = count - star - 1
                head, rest = items[:star], items[star : len(items) - tail]
                last = items[len(items) - tail :] if tail else []
                for part, item in zip(target.elts[:star], head, strict=True):
                    self.assign(part, item, frame, node)
                self.assign(target.elts[star], ListValue(list(rest), join_all(rest)), frame, node)
                for part, item in zip(target.elts[star + 1 :], last, strict=True):
                    self.assign(part, item, frame, node)
                return
            value = UNKNOWN  # it fails, or is another value than it seems
        for position, part in enumerate(target.elts):
            if isinstance(part, ast.Starred):
                element = self.part_of(value, None, part, frame)
                self.assign(part.value, ListValue(None, element), frame, node)
            else:
                self.assign(part, self.part_of(value, position, part, frame), frame, node)

    def part_of(self, value: Value, position: int | None, node: ast.AST, frame: Frame) -> Value:
        """The value at `position` of what is being unpacked."""
        if isinstance(value, (TupleValue, ListValue)):
            return fresh(value.element)
        if type(value) is Array:
            # A fresh split gives fresh keys at every evaluation; a part of a parameter is the same each time.
            origin = (
                value.origin.child(position) if value.origin is not None and position is not None else None
            )
            return Array(
                value.staged,
                value.why,
                tree=value.tree,
                certain=value.certain,
                origin=origin or Origin(f"part {position}"),
                role=value.role if value.role == "key" else "",
                jitted=value.jitted,
                flow=value.flow,
            )
        if isinstance(value, Unknown):
            origin = value.origin.child(position) if value.origin and position is not None else None
            return Unknown(origin, value.flow)
        if type(value) is Instance:
            return UNKNOWN
        if isinstance(value, Static):
            return Static(kind="int") if value.kind == "shape" else Static()
        return self.containers.element_of(value, node, frame)


def is_filled_before(node: ast.If, frame: Frame) -> bool:
    """Whether `if self.size is None: self.size = ...` in a model of numpyro, which runs it once on the host before it stages it."""
    return (
        frame.stage.within("numpyro")
        and none_branch(node.test) is True
        and any(isinstance(part, ast.Attribute) and part.attr in _filled(node) for part in walk(node.test))
    )


def _filled(node: ast.If) -> frozenset[str]:
    """The attributes that the body of a branch stores."""
    targets = [t for s in node.body if isinstance(s, ast.Assign) for t in s.targets]
    return frozenset(target.attr for target in targets if isinstance(target, ast.Attribute))
