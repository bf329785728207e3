"""The composition root of the analysis: puts the parts together and evaluates the modules of one project."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any, TypeVar

from jaxlint.jaxapi.attributes import attribute_names
from jaxlint.jaxapi.models import MODELS
from jaxlint.libraries import load
from jaxlint.source import SourceError
from jaxlint.source.read import read_source
from jaxlint.staging.arrays.functions import ArrayFunctions
from jaxlint.staging.arrays.items import ArrayItems
from jaxlint.staging.arrays.members import ArrayMembers
from jaxlint.staging.arrays.modules import LibraryModules
from jaxlint.staging.evaluator.access import Access
from jaxlint.staging.evaluator.assignments import Assignments
from jaxlint.staging.evaluator.binding import Binding
from jaxlint.staging.evaluator.branches import Branches
from jaxlint.staging.evaluator.builtin_calls import BuiltinCalls
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.classes import Classes
from jaxlint.staging.evaluator.comparisons import Comparisons
from jaxlint.staging.evaluator.container_methods import ContainerMethods
from jaxlint.staging.evaluator.containers import Containers
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.datamodel import DataModel
from jaxlint.staging.evaluator.expressions import Expressions
from jaxlint.staging.evaluator.externals import Externals
from jaxlint.staging.evaluator.failures import Contained, bound_names
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.imports import Imports
from jaxlint.staging.evaluator.instances import Instances
from jaxlint.staging.evaluator.introspection import Introspection
from jaxlint.staging.evaluator.loops import Loops
from jaxlint.staging.evaluator.machine import STEPS_PER_LINE, Machine, Part
from jaxlint.staging.evaluator.methods import Methods
from jaxlint.staging.evaluator.narrowing import Narrowing
from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.evaluator.ports import Arrays, Language, Reach, Staging, Tracking
from jaxlint.staging.evaluator.scopes import Block, ExpectingErrors
from jaxlint.staging.evaluator.statements import Statements
from jaxlint.staging.evaluator.tested_items import assuming_tests
from jaxlint.staging.listeners import Listeners
from jaxlint.staging.module import Module
from jaxlint.staging.project import Project
from jaxlint.staging.reach.assumed_calls import AssumedCalls
from jaxlint.staging.reach.entry_points import Entry
from jaxlint.staging.reach.likely_calls import LikelyCalls
from jaxlint.staging.reach.unknown_receivers import Receivers
from jaxlint.staging.tracking.aliases import Aliases
from jaxlint.staging.tracking.buffers import Buffers
from jaxlint.staging.tracking.call_tracking import CallTracking
from jaxlint.staging.tracking.gradients import Gradients
from jaxlint.staging.tracking.keys import Keys
from jaxlint.staging.tracking.operations import Operations
from jaxlint.staging.tracking.timing import Timing
from jaxlint.staging.transforms.bodies import Bodies
from jaxlint.staging.transforms.boundary import Boundary
from jaxlint.staging.transforms.controlflow import ControlFlow
from jaxlint.staging.transforms.creation import Creation
from jaxlint.staging.transforms.custom_rules import CustomRules
from jaxlint.staging.transforms.lifting import Lifting
from jaxlint.staging.transforms.staged_arguments import StagedArguments
from jaxlint.staging.transforms.staged_calls import StagedCalls
from jaxlint.staging.transforms.tracer_tests import TracerTests
from jaxlint.staging.transforms.transforming import Transforming
from jaxlint.staging.transforms.tree_maps import TreeMaps
from jaxlint.staging.transforms.trees import Trees
from jaxlint.staging.values import (
    MISSING,
    UNKNOWN,
    ClassValue,
    Function,
    Static,
    Transformed,
    Value,
    innermost,
    some,
)
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import HOST
from jaxlint.staging.values.tested import TestedItem
from jaxlint.staging.warm import WarmRun
from jaxlint.syntax.facts import changing_classes

_T = TypeVar("_T")

# Each part uses the parts before it, and reaches later ones through `evaluator/ports.py`.
PARTS: tuple[type[Part], ...] = (
    Conversions,
    Narrowing,
    DataModel,
    Instances,
    Classes,
    Access,
    Introspection,
    Externals,
    Operators,
    Comparisons,
    ContainerMethods,
    Methods,
    FunctionCalls,
    Calls,
    Containers,
    Assignments,
    Branches,
    Loops,
    Imports,
    Statements,
    Expressions,
    BuiltinCalls,
    Binding,
    Receivers,
    Entry,
    LikelyCalls,
    AssumedCalls,
    Keys,
    Aliases,
    Buffers,
    Timing,
    CallTracking,
    Gradients,
    Operations,
    ArrayFunctions,
    ArrayMembers,
    ArrayItems,
    LibraryModules,
    TracerTests,
    Trees,
    CustomRules,
    Boundary,
    StagedArguments,
    Bodies,
    TreeMaps,
    ControlFlow,
    StagedCalls,
    Creation,
    Lifting,
    Transforming,
)


def answered(port: type, providers: Iterable[object]) -> Any:
    """The implementation of a port: each of its methods comes from the one provider that has it. Raises TypeError for
    none or two."""
    found: dict[str, Any] = {}
    asked = [name for name in vars(port) if not name.startswith("_")]
    for provider in providers:
        for name in asked:
            method = getattr(provider, name, None)
            if method is not None:
                if name in found:
                    raise TypeError(f"two parts answer {port.__name__}.{name}")
                found[name] = method
    if missing := [name for name in asked if name not in found]:
        raise TypeError(f"no part answers {port.__name__}: {', '.join(missing)}")
    return SimpleNamespace(**found)


class Interpreter(Machine):
    """Evaluates the modules of one project."""

    def __init__(self, project: Project, listeners: Listeners) -> None:
        load()
        super().__init__(project, listeners)
        if listeners.wants("attribute"):
            self.watched_attributes = attribute_names()
        for kind in PARTS:
            kind(self)
        self.language = answered(Language, [*self.parts(), self])
        self.tracking = answered(Tracking, self.parts())
        self.staging = answered(Staging, self.parts())
        self.arrays = answered(Arrays, self.parts())
        self.reach = answered(Reach, self.parts())
        self.models: dict[str, Value] = {}
        self.warm: WarmRun | None = None

    def is_differentiated(self, frame: Frame) -> bool:
        """Whether the program visibly differentiates the function of `frame`."""
        reached = set(self.part(Gradients).gradient_roots)
        stack = list(reached)
        while stack:
            for callee in self.part(FunctionCalls).edges.get(stack.pop(), ()):
                if callee not in reached:
                    reached.add(callee)
                    stack.append(callee)
        current: Frame | None = frame
        while current is not None:
            function = current.function
            if function is not None and function.node in reached:
                return True
            current = current.caller
        return False

    def signature(self, target: Value) -> list[str]:
        """The names of the parameters that a caller of `target` passes by position."""
        return self.part(StagedArguments).signature(target)

    def static_parameters(self, t: Transformed, names: list[str]) -> tuple[set[str], bool]:
        """The parameters that are static, and whether that is certain."""
        return self.part(StagedArguments).static_parameters(t, names)

    # -- modules

    def run_module(self, module: Module) -> None:
        """Evaluates a module's body once. An import cycle sees what is bound so far."""
        if module.state != "new":
            return
        for package in self.project.packages_around(module):
            self.run_module(package)  # as Python does; this decides what a cycle has bound
        if module.state != "new":  # one of these modules has imported it
            return
        module.state = "running"
        try:
            tree = module.tree
        except SourceError as error:
            module.state = "done"
            if module.source.path in self.targets:
                self.errors.append(error)
            return
        self.limit += STEPS_PER_LINE * len(module.lines)
        self.donates = self.donates or "donate" in module.spelled
        with ExpectingErrors(self, None):  # an import is not part of any reason
            body = tree.body if self.warm is None else self.warm.paced(self, module, tree.body)
            self.run_statements(body, Frame(None, module, self.globals_of(module), HOST))
        if ".__class__" in module.spelled:
            module.renamed |= changing_classes(module.tree)
        # A function that is evaluated later may have been called with either of them.
        self.globals_of(module).variables.update(dict.fromkeys(module.renamed, UNKNOWN))
        for name in module.switched:
            found = self.globals_of(module).variables.get(name)
            if isinstance(found, Static) and found.const is not MISSING:
                self.globals_of(module).variables[name] = some(found.const)
        module.state = "done"

    def run_statements(self, body: Iterable[ast.stmt], frame: Frame) -> None:
        """Evaluates a module's statements. A statement that raises loses only its own bindings."""
        with Block(frame):
            for statement in body:
                branches = isinstance(statement, (ast.Try, ast.With, ast.For, ast.While, ast.Match))
                before, alive = (frame.snapshot() if branches else None), None
                with Contained(self, frame.module, frame):
                    alive = self.part(Statements).exec_statement(statement, frame)
                if alive is None:
                    self.crossing = []
                    if before is not None:
                        frame.restore(before)
                    frame.scope.variables.update(dict.fromkeys(bound_names(statement), UNKNOWN))
                elif not alive:
                    break

    def model_of(self, name: str) -> Value:
        """The model of a library class, evaluated on first use."""
        found = self.models.get(name)
        if found is None:
            owner, _, cls = name.rpartition(".")
            module = Module(read_source(MODELS[name]), owner, owner.rpartition(".")[0], False)
            defined, classes, failures = (
                len(self.part(FunctionCalls).defined),
                len(self.part(Classes).classes),
                self.failures,
            )
            self.run_module(module)
            del self.part(FunctionCalls).defined[defined:], self.part(Classes).classes[classes:]
            found = self.globals_of(module).variables[cls]
            if self.failures == failures:
                self.models[name] = found
        return found

    def run_target(self, module: Module) -> None:
        """Evaluates everything in a reported file: its body, each function, each transformed function."""
        self.running = module
        self.run_module(module)
        if self.warm is not None and module.reported and self.warm.begins_functions():
            self.drain_first(self.warm.is_edited, module)
        else:
            self.drain()

    def drain(self) -> None:
        """Evaluates functions that were defined or transformed meanwhile, until no new one appears."""
        creations, classes = self.part(Creation).creations, self.part(Classes).classes
        defined, receivers = self.part(FunctionCalls).defined, self.part(Receivers)
        while creations or defined or classes or receivers.awaited:
            receivers.run_awaited()
            while creations:
                self._create(*creations.pop(0))
            while classes:
                self._make_prototype(classes.pop(0))
            while defined and not creations:
                self._enter(defined.pop(0))

    def drain_first(self, is_edited: Callable[[ast.AST], bool], module: Module) -> None:
        """Does the work of `drain` in another order: what is edited first, other files and calls that wait for an object
        last."""
        creations, classes = self.part(Creation).creations, self.part(Classes).classes
        defined, receivers = self.part(FunctionCalls).defined, self.part(Receivers)

        def near(owner: Module, node: ast.AST | None) -> int:
            return 2 if owner is not module else 0 if node is not None and is_edited(node) else 1

        def urgency(transformed: Transformed) -> int:
            function, _, _ = innermost(transformed.target)
            return near(transformed.module, function.node if function is not None else transformed.node)

        while creations or defined or classes or receivers.awaited:
            most = min(
                min((urgency(one[0]) for one in creations), default=3),
                min((near(one.module, one.node) for one in classes), default=3),
                min((near(one.module, one.node) for one in defined), default=3),
            )
            for creation in _taken(creations, [urgency(one[0]) == most for one in creations]):
                self._create(*creation)
            for cls in _taken(classes, [near(one.module, one.node) == most for one in classes]):
                self._make_prototype(cls)
            for function in _taken(defined, [near(one.module, one.node) == most for one in defined]):
                self._enter(function)
            if most == 3:
                receivers.run_awaited()

    def _create(self, transformed: Transformed, frame: Frame, tested: tuple[TestedItem, ...]) -> None:
        with Contained(self, transformed.module, frame), assuming_tests(tested):
            self.part(Creation).analyse_creation(transformed, frame)

    def _make_prototype(self, cls: ClassValue) -> None:
        if cls.module.source.path in self.entered:
            with Contained(self, cls.module):
                self.part(Classes).prototype(cls, Frame(None, cls.module, cls.scope, HOST))

    def _enter(self, function: Function) -> None:
        with Contained(self, function.module):
            self.part(Entry).enter_function(function)


def _taken(queue: list[_T], wanted: list[bool]) -> list[_T]:
    """Takes out of a queue what is wanted."""
    taken = list(itertools.compress(queue, wanted))
    queue[:] = [one for one, taken in zip(queue, wanted, strict=True) if not taken]
    return taken
