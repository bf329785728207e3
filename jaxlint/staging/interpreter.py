"""The abstract interpreter: evaluates a project's modules and functions on abstract values, and tells rules.

One class, in mixins of one idea each; `machine.py` says what they may ask of each other.
Functions are evaluated once per context (what their arguments look like, and the stage they run in); budgets bound
the work, and end in `Unknown`, never in a guess.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from jaxlint.jaxapi.attributes import attribute_names
from jaxlint.jaxapi.models import MODELS
from jaxlint.libraries import load
from jaxlint.source import SourceError
from jaxlint.source.read import read_source
from jaxlint.staging import events
from jaxlint.staging.evaluator.access import Access
from jaxlint.staging.evaluator.builtin_calls import BuiltinCalls
from jaxlint.staging.evaluator.calls import Calls, FunctionRecord
from jaxlint.staging.evaluator.classes import Classes
from jaxlint.staging.evaluator.datamodel import DataModel
from jaxlint.staging.evaluator.expressions import Expressions
from jaxlint.staging.evaluator.externals import Externals
from jaxlint.staging.evaluator.failures import Contained, bound_names, internal_error
from jaxlint.staging.evaluator.methods import Methods
from jaxlint.staging.evaluator.scopes import Block, Provoking
from jaxlint.staging.evaluator.statements import Statements
from jaxlint.staging.evaluator.tested_items import taken_as_tested
from jaxlint.staging.listeners import Listeners, hand
from jaxlint.staging.project import Module, Project
from jaxlint.staging.reach.assumed_calls import Supposed
from jaxlint.staging.reach.entry import Entry
from jaxlint.staging.reach.receivers import Awaited, LeftOpen, Receivers
from jaxlint.staging.reach.tracer_sources import Givers
from jaxlint.staging.tracking.buffers import Buffers
from jaxlint.staging.tracking.gradients import Gradients
from jaxlint.staging.tracking.keys import Keys
from jaxlint.staging.tracking.operations import Operations
from jaxlint.staging.tracking.timing import Ledger, Timing, is_input
from jaxlint.staging.transforms.controlflow import ControlFlow
from jaxlint.staging.transforms.creation import Creation
from jaxlint.staging.transforms.lifting import Lifting
from jaxlint.staging.transforms.transforming import Transforming
from jaxlint.staging.transforms.trees import Trees
from jaxlint.staging.values import (
    MISSING,
    UNKNOWN,
    BoundMethod,
    ClassValue,
    External,
    ExternalMethod,
    Flow,
    Function,
    Static,
    Transformed,
    Value,
    some,
)
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import HOST, Stage, Why
from jaxlint.syntax.facts import changing_classes

STEPS_PER_LINE = 400  # evaluated nodes per line of source before contexts are cut short
MINIMUM_STEPS = 2_000_000


class Interpreter(
    Statements,
    Expressions,
    Access,
    Calls,
    Classes,
    Externals,
    BuiltinCalls,
    Methods,
    Operations,
    Timing,
    Transforming,
    DataModel,
    Trees,
    Lifting,
    Creation,
    Entry,
    ControlFlow,
    Gradients,
    Buffers,
    Keys,
    Receivers,
    Supposed,
):
    """Evaluates the modules of one project."""

    def __init__(self, project: Project, listeners: Listeners) -> None:
        load()
        self.project = project
        self.listeners = listeners
        self.wants_names = listeners.wants("name")
        self.watched_attributes = attribute_names() if listeners.wants("attribute") else frozenset()
        self.wants_calls = listeners.wants("call")
        self.wants_operations = listeners.wants("operation")
        self.records: dict[ast.AST, FunctionRecord] = {}
        self.defined: list[Function] = []
        self.classes: list[ClassValue] = []
        self.creations = []
        self.tested = []  # items of dicts that the branches around have asked for
        self.entry_stage = Stage("host", certain=False)
        self.test_stage = Stage("host", certain=False, parent=Stage("run"))
        self.copies = 0
        self.copying = {}  # objects that are being copied, by the identity of the original
        self.crossing = []  # classes of objects that are about to enter a stage
        self.boundary: tuple[Transformed, Frame] | None = (
            None  # the staged call whose arguments are being converted
        )
        self.models: dict[str, Value] = {}
        self.ledger = Ledger()
        self.custom_rules = 0  # inside the rules of a custom derivative, through which no gradient flows
        self.gradient_roots: set[ast.AST] = set()  # functions that a gradient is taken of
        self.edges: dict[ast.AST, set[ast.AST]] = {}  # which function calls which
        self.choosing = 0  # one of several functions is being called: a loop over functions, not over steps
        self.gradient_why: Why | None = None  # of the innermost of them
        self.differentiating = 0  # inside functions that are differentiated
        self.reversing = 0  # of these, in reverse mode
        self.parameter_flow: Flow | None = None  # of the parameters that flax and haiku hand out
        self.unjitted = 0  # inside `with jax.disable_jit():`, where nothing is staged
        self.fake_pmaps = 0  # inside a context of chex that puts `vmap` in the place of `pmap`
        self.entering: list[Function] = []  # fixtures that are being evaluated
        self.hooks: set[str] = set()  # which of them some class of the project defines
        self.defining: dict[
            str, list[ClassValue]
        ] = {}  # the project's classes by the methods that they define
        self.inside: dict[
            ast.AST, tuple[ClassValue, Why | None]
        ] = {}  # classes of which an object is seen inside a stage
        self.unresolved: set[str] = set()  # methods that were called in a stage of what is not known
        self.libraries: dict[str, Why] = {}  # the libraries that are given tracers in a stage
        # Classes by the library whose classes they derive from.
        self.extending: dict[str, list[ClassValue]] = {}
        self.read: set[str] = set()  # attributes that were read there
        self.external_names: dict[tuple[str, str], External] = {}  # attributes of JAX and its like
        self.on_the_spot: dict[
            ast.AST, ast.Call
        ] = {}  # calls of what a call gives, as in `jit(f)(x)`, by that
        self.rowless: dict[ast.AST, set[str]] = {}  # parameters that are given arrays without rows alone
        self.carried: dict[ast.AST, tuple[Function, Why]] = {}  # functions that got into a stage
        self.waiting: dict[ast.AST, list[Awaited]] = {}  # calls that may mean such an object, by class
        self.awaited: list[Awaited] = []
        self.array_like: set[str] = set()  # methods of arrays that some class of the project has, too
        self.heirs: dict[ast.AST, list[ClassValue]] = {}  # the classes that derive from one
        self.left_open: dict[
            ast.AST, list[LeftOpen]
        ] = {}  # calls of methods that a class leaves to its heirs
        self.observes = False  # each context of a function is kept, for `inspect`
        self.givers: Givers | None = None  # which calls give tracers, where `inspect` is asked for it
        self.guessing = 0  # inside a call of a method of something unknown
        self.provoking: Module | None = None  # inside `with raises(...)` of this module of tests
        self.lifted: dict[
            object, ClassValue
        ] = {}  # classes that lifting made, by the call and the class given
        self.beside = 0  # inside a library's own code for what the tables say, which may see odd combinations
        self.registers = False  # a class of the project is registered as a pytree
        self.implications: set[object] = set()  # special methods, and the ways in which they were asked
        self.donates = False  # some module speaks of donation, so that buffers are followed
        self.steps = 0
        self.limit = MINIMUM_STEPS
        self.targets = {module.source.path for module in project.targets}
        self.entered = set(self.targets)  # files whose functions are evaluated without a caller
        self.errors: list[SourceError] = []
        self.failed: set[str] = set()  # files with an error of the analysis
        self.failures = 0  # how often something raised
        self.running: Module | None = None

    def exhausted(self) -> bool:
        return self.steps > self.limit

    def emit(self, kind: str, event: Any) -> None:
        """Tells the rules, if the event lies in a reported file, what is called is known, and no handler of the program guards it."""
        if (kind == "convert" or kind == "test") and not event.value.staged:
            if not is_input(event.value, event.node):
                self.ledger.settle()  # the host needs the value
        if self.reports(event.frame):
            self.listeners.tell(kind, event)

    def reports(self, frame: Frame) -> bool:
        """Whether rules hear of what happens in `frame` now."""
        if not frame.module.reported or self.beside or self.guessing:
            return False
        return self.provoking is None or frame.module is self.provoking

    def name_event(self, value: Value, node: ast.AST, frame: Frame, is_import: bool = False) -> None:
        if type(value) is not External or not self.wants_names:
            return
        hearers = self.listeners.of("name", value.name)
        if hearers and self.reports(frame):
            guarded = frame.import_guard > 0
            hand(hearers, events.NameEvent(node, frame, value.name, is_import, guarded))

    def is_differentiated(self, frame: Frame) -> bool:
        """Whether the program is seen to take a gradient through the function of `frame`."""
        reached = set(self.gradient_roots)
        stack = list(reached)
        while stack:
            for callee in self.edges.get(stack.pop(), ()):
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

    # -- modules

    def run_module(self, module: Module) -> None:
        """Evaluates a module's body once; an import cycle sees what is bound so far."""
        if module.state != "new":
            return
        for package in self.project.packages_around(module):
            self.run_module(package)  # as Python does it, which decides what a cycle has bound
        if module.state != "new":  # one of them has imported it
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
        self.donates = self.donates or "donate" in module.source.text
        with Provoking(self, None):  # an import says nothing of why it was made
            self.run_statements(tree.body, Frame(None, module, module.scope, HOST))
        if ".__class__" in module.source.text:
            module.renamed |= changing_classes(tree)
        # A function that is evaluated later was called with the one or with the other.
        module.scope.variables.update(dict.fromkeys(module.renamed, UNKNOWN))
        for name in module.switched:
            found = module.scope.variables.get(name)
            if isinstance(found, Static) and found.const is not MISSING:
                module.scope.variables[name] = some(found.const)
        module.state = "done"

    def run_statements(self, body: Sequence[ast.stmt], frame: Frame) -> None:
        """A module's statements. One that raises costs what it binds, and the rest is evaluated all the same."""
        with Block(frame):
            for statement in body:
                branches = isinstance(statement, (ast.Try, ast.With, ast.For, ast.While, ast.Match))
                before, alive = (frame.snapshot() if branches else None), None
                with Contained(self, frame.module, frame):
                    alive = self.exec_statement(statement, frame)
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
            defined, classes, failures = len(self.defined), len(self.classes), self.failures
            self.run_module(module)
            del self.defined[defined:], self.classes[classes:]
            found = module.scope.variables[cls]
            if self.failures == failures:
                self.models[name] = found
        return found

    def run_target(self, module: Module) -> None:
        """Everything in a reported file: its body, each function, each transformed function."""
        self.running = module
        self.run_module(module)
        self.drain()

    def fail(self, error: Exception, module: Module, frame: Frame | None = None) -> None:
        """Keeps the first error of the analysis in a file: that of `module`, or of the caller whose file is reported."""
        self.failures += 1
        while not module.reported and frame is not None:
            module, frame = frame.module, frame.caller
        if not module.reported and self.running is not None:
            module = self.running
        if module.display not in self.failed:
            self.failed.add(module.display)
            self.errors.append(internal_error(module, error))

    def drain(self) -> None:
        """Evaluates what was defined and transformed meanwhile, until nothing new comes up."""
        while self.creations or self.defined or self.classes or self.awaited:
            self.run_awaited()
            while self.creations:
                transformed, frame, tested = self.creations.pop(0)
                with Contained(self, transformed.module, frame), taken_as_tested(tested):
                    self.analyse_creation(transformed, frame)
            while self.classes:
                cls = self.classes.pop(0)
                if cls.module.source.path in self.entered:
                    with Contained(self, cls.module):
                        self.prototype(cls, Frame(None, cls.module, cls.scope, HOST))
            while self.defined and not self.creations:
                function = self.defined.pop(0)
                with Contained(self, function.module):
                    self.enter_function(function)

    # -- calls on transformed objects that other mixins delegate here

    def call_method(
        self, callee: ExternalMethod, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        if isinstance(callee.receiver, Transformed):
            return self.call_transformed_method(callee.receiver, callee.name, args, kwargs, node, frame)
        return super().call_method(callee, args, kwargs, node, frame)


__all__ = ["BoundMethod", "Interpreter"]
