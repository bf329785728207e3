"""Statements: assignments, branches, loops, definitions, imports."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from jaxlint.staging.evaluator.assignments import Assignments
from jaxlint.staging.evaluator.branches import Branches
from jaxlint.staging.evaluator.classes import Classes
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.foreign_decorators import OVERLOADED, is_foreign
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.imports import Imports
from jaxlint.staging.evaluator.loops import Loops
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.narrowing import Narrowing
from jaxlint.staging.evaluator.scopes import (
    Block,
    Catching,
)
from jaxlint.staging.evaluator.type_parameters import seen_in_signature
from jaxlint.staging.values import (
    ClassValue,
    Function,
    Static,
    Transformed,
    Value,
)
from jaxlint.staging.values.frame import Frame
from jaxlint.syntax.facts import dotted
from jaxlint.syntax.newer_grammar import TypeAlias


def _is_shown(node: ast.Expr, frame: Frame) -> bool:
    """Whether an expression ends a notebook cell, which displays its value."""
    container = frame.module.source.container
    return container is not None and not node.col_offset and node.end_lineno in container.last_lines


def _leaves(node: ast.expr) -> bool:
    """Whether an expression ends the program, so that nothing after it runs."""
    return isinstance(node, ast.Call) and dotted(node.func) in ("exit", "quit", "sys.exit", "os._exit")


class Statements(Part):
    """Evaluates statements."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.imports = machine.part(Imports)
        self.loops = machine.part(Loops)
        self.branches = machine.part(Branches)
        self.assignments = machine.part(Assignments)
        self.function_calls = machine.part(FunctionCalls)
        self.classes = machine.part(Classes)
        self.conversions = machine.part(Conversions)
        self.narrowing = machine.part(Narrowing)
        self.handlers: dict[type[ast.stmt], Callable[[Any, Frame], bool | None]] = {
            ast.Expr: self.exec_expr,
            ast.Assign: self.assignments.exec_assign,
            ast.AnnAssign: self.assignments.exec_annassign,
            ast.AugAssign: self.assignments.exec_augassign,
            ast.Return: self.exec_return,
            ast.Raise: self.exec_raise,
            ast.Assert: self.exec_assert,
            ast.Delete: self.assignments.exec_delete,
            ast.Global: self.assignments.exec_global,
            ast.Nonlocal: self.assignments.exec_nonlocal,
            ast.If: self.branches.exec_if,
            ast.Match: self.branches.exec_match,
            ast.Try: self.branches.exec_try,
            ast.TryStar: self.branches.exec_try,
            ast.With: self.branches.exec_with,
            ast.AsyncWith: self.branches.exec_with,
            ast.For: self.loops.exec_for,
            ast.AsyncFor: self.loops.exec_for,
            ast.While: self.loops.exec_while,
            ast.Break: self.loops.exec_break,
            ast.Continue: self.loops.exec_continue,
            ast.FunctionDef: self.exec_functiondef,
            ast.AsyncFunctionDef: self.exec_functiondef,
            ast.ClassDef: self.exec_classdef,
            TypeAlias: self.exec_typealias,
            ast.Import: self.imports.exec_import,
            ast.ImportFrom: self.imports.exec_importfrom,
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

    def exec_expr(self, node: ast.Expr, frame: Frame) -> bool | None:
        if isinstance(node.value, ast.Constant):
            return None
        frame.statement = None if _is_shown(node, frame) else node.value
        self.machine.language.eval(node.value, frame)
        return False if _leaves(node.value) else None

    def exec_return(self, node: ast.Return, frame: Frame) -> bool:
        value = self.machine.language.eval(node.value, frame) if node.value is not None else Static(None)
        frame.returns.append(value)
        if frame.consumed:
            self.machine.tracking.tell_returned(value, frame)
        if self.machine.donates:
            self.machine.tracking.note_given_back(node, value, frame)
        return False

    def exec_raise(self, node: ast.Raise, frame: Frame) -> bool:
        if node.exc is not None:
            with Catching(frame):  # the message of an error is built only if the program fails anyway
                self.machine.language.eval(node.exc, frame)
        return False

    def exec_assert(self, node: ast.Assert, frame: Frame) -> None:
        value = self.machine.language.eval(node.test, frame)
        self.conversions.test(value, node.test, "assert", frame)
        self.narrowing.narrow(node.test, True, frame)

    # -- branches

    # -- loops

    # -- definitions

    def exec_functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
        function = self.function_calls.make_function(node, frame)
        value: Value = function
        for decorator in reversed(node.decorator_list):
            value = self.machine.staging.decorate(decorator, value, node, frame)
        if node.decorator_list and self.is_overload(node, frame):
            value = OVERLOADED
        self.define(node.name, value, frame)

    def is_overload(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> bool:
        """Whether a library's decorator already received a function of this name: it may call any of them."""
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
        """Binds a function or class. Notebook cells may define it repeatedly and call it in between."""
        scope = frame.scope.target_scope(name)
        before = scope.variables.get(name)
        if frame.scope.is_module and frame.module.source.container is not None and not frame.guards:
            if isinstance(before, (Function, ClassValue, Transformed)):
                frame.module.renamed.add(name)
        scope.variables[name] = value

    # -- imports

    # -- assignment
