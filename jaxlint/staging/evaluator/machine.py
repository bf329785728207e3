"""The state that the parts of the interpreter share, and the parts themselves.

A part implements one aspect of the interpreter. It reaches parts below it by their class (`machine.part(Keys)`), and
parts above it through the protocols of `ports.py`. So no import is circular.
"""

from __future__ import annotations

import ast
from typing import Any, TypeVar, cast

from jaxlint.source import SourceError
from jaxlint.staging import events
from jaxlint.staging.evaluator.failures import internal_error
from jaxlint.staging.evaluator.ports import (
    Arrays,
    ArraysSeen,
    Language,
    Reach,
    SourcesOfTracers,
    Staging,
    Tracking,
)
from jaxlint.staging.listeners import Listeners, hand
from jaxlint.staging.module import Module
from jaxlint.staging.project import Project
from jaxlint.staging.values import (
    ClassValue,
    External,
    Flow,
    Function,
    Instance,
    ModuleValue,
    Scope,
    Transformed,
    Value,
)
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.ledger import Ledger, is_input
from jaxlint.staging.values.stage import Stage, Why
from jaxlint.staging.values.tested import TestedItem

_P = TypeVar("_P", bound="Part")

MINIMUM_STEPS = 2_000_000
STEPS_PER_LINE = 400  # evaluated nodes per line of source before contexts are limited


class Machine:
    """The state of one analysis. State that only one part needs is in that part."""

    language: Language
    tracking: Tracking
    staging: Staging
    arrays: Arrays
    reach: Reach

    def __init__(self, project: Project, listeners: Listeners) -> None:
        self.project = project
        self.listeners = listeners
        self._parts: dict[type[Part], Part] = {}
        self._globals: dict[Module, Scope] = {}
        self.wants_names = listeners.wants("name")
        self.watched_attributes: frozenset[str] = frozenset()  # names whose reads rules handle
        self.wants_operations = listeners.wants("operation")
        self.entry_stage = Stage("host", certain=False)
        self.test_stage = Stage("host", certain=False, parent=Stage("run"))
        self.ledger = Ledger()
        self.steps = 0
        self.limit = MINIMUM_STEPS
        self.targets = {module.source.path for module in project.targets}
        self.entered = set(self.targets)  # files whose functions are evaluated without a caller
        self.errors: list[SourceError] = []
        self.failed: set[str] = set()  # files with an internal error
        self.failures = 0  # how often something raised
        self.running: Module | None = None
        self.observes = False  # keeps each context of a function, for `inspect`
        self.arrays_seen: ArraysSeen | None = None  # if `inspect` shows arrays
        # If `inspect` shows which calls pass tracers.
        self.tracer_sources: SourcesOfTracers | None = None
        # Evaluates each call, and each test case, with its exact shapes and numbers.
        self.exact = False

        # Temporary state, which `scopes.py` changes and restores.
        self.tested: list[TestedItem] = []  # dict items that the enclosing branches have tested
        self.copies = 0  # the objects copied so far, of the value that is being copied
        self.copying: dict[int, Instance] = {}  # by the identity of the original
        self.crossing: list[ClassValue] = []  # classes of objects that are about to enter a stage
        # The traced call whose arguments are being converted.
        self.boundary: tuple[Transformed, Frame] | None = None
        self.custom_rules = 0  # inside the rules of a custom derivative, which blocks gradients
        self.choosing = 0  # one of several functions is being called: a loop over functions, not over steps
        self.differentiating = 0  # inside differentiated functions
        self.reversing = 0  # of these, in reverse mode
        self.gradient_why: Why | None = None  # the reason of the innermost one
        self.parameter_flow: Flow | None = None  # the gradient flow of parameters that flax and haiku provide
        self.unjitted = 0  # inside `with jax.disable_jit():`, where jit does not trace
        self.fake_pmaps = 0  # inside a chex context that replaces `pmap` by `vmap`
        self.entering: list[Function] = []  # fixtures under evaluation
        self.guessing = 0  # inside a method call on something unknown
        self.likely = 0  # below a call that likely reaches a method
        self.provoking: Module | None = None  # inside `with raises(...)` of this test module
        self.beside = 0  # inside a library's own code for a tabulated function, where odd combinations occur

        # Features that the program mentions at all.
        self.registers = False  # a project class is registered as a pytree
        self.donates = False  # some module mentions donation, so buffers are tracked
        self.array_like: set[str] = set()  # array methods that some project class also has

    def part(self, kind: type[_P]) -> _P:
        """The part of this class. Raises KeyError during construction if that part lies above the caller."""
        return cast(_P, self._parts[kind])

    def add(self, part: Part) -> None:
        """Registers a part for those that are constructed after it."""
        self._parts[type(part)] = part

    def parts(self) -> list[Part]:
        """All parts, the lowest first."""
        return list(self._parts.values())

    def globals_of(self, module: Module) -> Scope:
        """The variables of a module."""
        found = self._globals.get(module)
        if found is None:
            found = self._globals[module] = Scope(None, is_module=True)
        return found

    def module_value(self, module: Module) -> ModuleValue:
        """A module, as a value."""
        return ModuleValue(module, self.globals_of(module))

    def exhausted(self) -> bool:
        """Whether the work budget of this run is spent."""
        return self.steps > self.limit

    def emit(self, kind: str, event: Any) -> None:
        """Emits an event, if it is in a reported file, the callee is known, and no handler of the program guards it."""
        if (kind == "convert" or kind == "test") and not event.value.staged:
            if not is_input(event.value, event.node):
                self.ledger.settle()  # the host needs the value
        if self.reports(event.frame):
            self.listeners.tell(kind, event)

    def reports(self, frame: Frame) -> bool:
        """Whether rules currently receive events from `frame`."""
        if not frame.module.reported or self.beside or self.guessing:
            return False
        return self.provoking is None or frame.module is self.provoking

    def name_event(self, value: Value, node: ast.AST, frame: Frame, is_import: bool = False) -> None:
        """Emits an event for a name that refers to JAX or its ecosystem."""
        if type(value) is not External or not self.wants_names:
            return
        hearers = self.listeners.of("name", value.name)
        if hearers and self.reports(frame):
            hand(hearers, events.NameEvent(node, frame, value.name, is_import))

    def fail(self, error: Exception, module: Module, frame: Frame | None = None) -> None:
        """Records the first internal error in a file: that of `module`, or of the reported caller's file."""
        self.failures += 1
        while not module.reported and frame is not None:
            module, frame = frame.module, frame.caller
        if not module.reported and self.running is not None:
            module = self.running
        if module.display not in self.failed:
            self.failed.add(module.display)
            self.errors.append(internal_error(module, error))


class Part:
    """One aspect of the interpreter. `machine`: the shared state, and access to the layers above."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        machine.add(self)
