"""What the parts of the interpreter share: the state of one analysis, and each other.

A part is one idea of the interpreter. It asks the parts below it by their class (`machine.part(Keys)`), and what lies
above it through the protocols of `ports.py`. So no module needs to import one that imports it.
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
from jaxlint.staging.project import Module, Project
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
STEPS_PER_LINE = 400  # evaluated nodes per line of source before contexts are cut short


class Machine:
    """The state of one analysis. What one part alone has to know lies in that part."""

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
        self.watched_attributes: frozenset[str] = frozenset()  # of which rules hear when they are read
        self.wants_operations = listeners.wants("operation")
        self.entry_stage = Stage("host", certain=False)
        self.test_stage = Stage("host", certain=False, parent=Stage("run"))
        self.ledger = Ledger()
        self.steps = 0
        self.limit = MINIMUM_STEPS
        self.targets = {module.source.path for module in project.targets}
        self.entered = set(self.targets)  # files whose functions are evaluated without a caller
        self.errors: list[SourceError] = []
        self.failed: set[str] = set()  # files with an error of the analysis
        self.failures = 0  # how often something raised
        self.running: Module | None = None
        self.observes = False  # each context of a function is kept, for `inspect`
        self.arrays_seen: ArraysSeen | None = None  # where `inspect` is asked for arrays
        # where `inspect` is asked which calls give tracers
        self.tracer_sources: SourcesOfTracers | None = None
        # Each call is evaluated with the shapes and numbers that it gets, and so is each test case.
        self.exact = False

        # What holds for a while; `scopes.py` changes it and puts it back.
        self.tested: list[TestedItem] = []  # items of dicts that the branches around have asked for
        self.copies = 0  # objects so far, of the value that is being copied
        self.copying: dict[int, Instance] = {}  # by the identity of the original
        self.crossing: list[ClassValue] = []  # classes of objects that are about to enter a stage
        # The staged call whose arguments are being converted.
        self.boundary: tuple[Transformed, Frame] | None = None
        self.custom_rules = 0  # inside the rules of a custom derivative, through which no gradient flows
        self.choosing = 0  # one of several functions is being called: a loop over functions, not over steps
        self.differentiating = 0  # inside functions that are differentiated
        self.reversing = 0  # of these, in reverse mode
        self.gradient_why: Why | None = None  # of the innermost of them
        self.parameter_flow: Flow | None = None  # of the parameters that flax and haiku hand out
        self.unjitted = 0  # inside `with jax.disable_jit():`, where nothing is staged
        self.fake_pmaps = 0  # inside a context of chex that puts `vmap` in the place of `pmap`
        self.entering: list[Function] = []  # fixtures that are being evaluated
        self.guessing = 0  # inside a call of a method of something unknown
        self.provoking: Module | None = None  # inside `with raises(...)` of this module of tests
        self.beside = 0  # inside a library's own code for what the tables say, which may see odd combinations

        # What the program speaks of at all.
        self.registers = False  # a class of the project is registered as a pytree
        self.donates = False  # some module speaks of donation, so that buffers are followed
        self.array_like: set[str] = set()  # methods of arrays that some class of the project has, too

    def part(self, kind: type[_P]) -> _P:
        """The part of this class. Raises KeyError for one that lies above whoever asks while parts are made."""
        return cast(_P, self._parts[kind])

    def add(self, part: Part) -> None:
        """Makes a part known to those that are made after it."""
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
        """Whether the work that one run may cost is done."""
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
        """Tells the rules that a name means something of JAX or its like."""
        if type(value) is not External or not self.wants_names:
            return
        hearers = self.listeners.of("name", value.name)
        if hearers and self.reports(frame):
            hand(hearers, events.NameEvent(node, frame, value.name, is_import))

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


class Part:
    """One idea of the interpreter. `machine`: the state of the analysis, and the way to what lies above."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        machine.add(self)
