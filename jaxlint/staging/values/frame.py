"""One activation of a function, or of a module or class body, during its evaluation."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from jaxlint.staging.module import Module
from jaxlint.staging.values.buffers import NO_BUFFERS, BufferState
from jaxlint.staging.values.demands import Demand, Demands
from jaxlint.staging.values.joining import join
from jaxlint.staging.values.keys import ConsumedKeys
from jaxlint.staging.values.objects import ClassValue, Function, Scope
from jaxlint.staging.values.plain import Activation, Origin, Value
from jaxlint.staging.values.stage import Stage
from jaxlint.staging.values.tracked import Tracked
from jaxlint.syntax.facts import FunctionNode, methods_called_on_self, provokes_errors, replaces_parts

MAX_LOOPS = 6  # nested loops whose bodies are evaluated twice; each level doubles the work
MAX_UNROLLED = 12  # items for which a comprehension is evaluated one by one
MAX_EXACT = 24  # iterations that an exact analysis follows one by one
TRACKED = ("consumed", "buffers")  # the fields of a frame that follow each path beside the variables


@dataclass(slots=True, eq=False)
class Loop:
    """A loop of this frame under evaluation. `guards` counts the frame's guards at its start."""

    node: ast.AST
    kind: str  # "for", "while", "comprehension"
    guards: int
    calls_jitted: bool = False  # its body calls a compiled function
    second: bool = False  # the body is being evaluated as a later iteration
    trips: int | None = None  # the number of iterations, if constant
    listed: int | None = None  # that of the known items of a list, which may stand for longer ones
    one_by_one: bool = False  # each iteration is evaluated separately
    exits: list[Snapshot] = field(default_factory=list)

    def is_later_iteration(self) -> bool:
        """Whether the body is being evaluated again, in the state that its first iteration left."""
        return self.second

    def is_beyond_its_items(self) -> bool:
        """Whether it is an iteration that the known list does not have."""
        return self.second and self.listed == 1


@dataclass(slots=True, eq=False)
class Snapshot:
    """The flow-sensitive part of a frame: its variables, and the states that `TRACKED` names, in that order."""

    variables: dict[str, Value]
    tracked: list[Tracked]


@dataclass(slots=True, eq=False)
class Frame(Activation):
    """The state of one activation. `function` is None for a module or class body."""

    function: Function | None
    module: Module
    scope: Scope
    stage: Stage
    caller: Frame | None = None
    call_node: ast.AST | None = None
    depth: int = 0
    # "entry": an analysis without a caller; "creation": at a transformation; otherwise a call
    context: str = ""
    loops: list[Loop] = field(init=False, default_factory=list)
    guards: list[ast.AST] = field(init=False, default_factory=list)
    returns: list[Value] = field(init=False, default_factory=list)
    yields: list[Value] = field(init=False, default_factory=list)
    consumed: ConsumedKeys = field(init=False, default_factory=ConsumedKeys)
    inherited: set[Origin] = field(init=False, default_factory=set)
    buffers: BufferState = field(init=False, default=NO_BUFFERS)
    rebound: frozenset[str] = field(init=False, default=frozenset())
    # Which parts of all results so far are which arguments, by place; None before the first return.
    given_back: dict[str, str] | None = field(init=False, default=None)
    left: BufferState | None = field(init=False, default=None)  # the buffers at the returns so far
    catching: int = field(init=False, default=0)  # inside a `try` that handles errors of tracers
    # Inside a `try` whose handler does without the names that the `try` binds.
    replaceable: int = field(init=False, default=0)
    # On a path that a call may skip: under `if x is None:`, or under a test of a possibly static value.
    doubt: int = field(init=False, default=0)
    import_guard: int = field(init=False, default=0)  # inside a `try` around imports, or under a version test
    making: ClassValue | None = field(init=False, default=None)  # the class whose body this is
    # the assignment whose value is being evaluated
    assigning: ast.AST | None = field(init=False, default=None)
    decorator: ast.expr | None = field(init=False, default=None)  # the decorator being applied
    # A branch depended on a value from unread code, on a rank or on a dtype.
    asked_answers: bool = field(init=False, default=False)
    asked_kinds: bool = field(init=False, default=False)
    asked_sizes: bool = field(init=False, default=False)  # or on a size
    # what follows runs only if the value was not kept before
    perhaps_kept: bool = field(init=False, default=False)
    # In a `try`: how deep in branches and loops, and after how many returns, a tracer certainly or possibly raises.
    raised: tuple[int, int] | None = field(init=False, default=None)
    perhaps_raised: bool = field(init=False, default=False)
    continued: bool = field(init=False, default=False)  # the loop body has ended by `continue`
    suspended: int | None = field(init=False, default=None)  # the ledger's serial at the last `yield`
    runs_steps: bool = field(
        init=False, default=False
    )  # a generator that runs a compiled function for each item
    takes_gradient: bool = field(init=False, default=False)  # its callees are differentiated
    # what the module under evaluation needs of its caller
    demands: Demands = field(init=False, default_factory=Demands)
    # What each branch has bound, by the text of a test that the function repeats.
    bound_by_tests: dict[str, dict[str, tuple[Value, dict[bool, Value]]]] = field(
        init=False, default_factory=dict
    )
    statement: ast.expr | None = field(init=False, default=None)  # the last statement that was evaluated
    born: int = field(init=False, default=0)  # the serial of the first identity that this frame can create
    home: Stage = field(init=False)  # the stage at entry; `stage` is that of the current call

    def __post_init__(self) -> None:
        self.home = self.stage

    @property
    def name(self) -> str | None:
        return self.function.qualname if self.function is not None else None

    # For rules.

    @property
    def owner(self) -> FunctionNode | ast.Module:
        """The function that this frame evaluates; for module bodies, and class bodies in them, the module."""
        return self.function.node if self.function is not None else self.module.tree

    def class_being_made(self) -> ClassValue | None:
        """The class whose body this frame evaluates; None in other code."""
        return self.making

    def value_of(self, name: str) -> Value | None:
        """The value of a variable in this scope or an enclosing one."""
        return self.scope.value_of(name)

    def local(self, name: str) -> Value | None:
        """The value of a variable of this scope only."""
        return self.scope.variables.get(name)

    def was_given(self, origin: Origin | None) -> bool:
        """Whether a value came in through a parameter and is still the caller's."""
        return origin in self.inherited

    def has_made(self, serial: int) -> bool:
        """Whether this activation, or a function that it called, created the object with this serial."""
        return serial >= self.born

    def is_certain(self) -> bool:
        """Whether the analysis saw the transformation that traces it, or the program that runs it. A framework's
        convention is not enough."""
        return self.stage.certain

    def makes_tracers(self) -> bool:
        """Whether array functions return tracers even for plain numbers: true under jit and scan, false under vmap
        alone."""
        return self.stage.abstract

    def repeats(self) -> bool:
        """Whether the code is in a loop of this frame whose iterations are not evaluated one by one."""
        return not all(loop.one_by_one for loop in self.loops)

    def is_conditional(self) -> bool:
        """Whether the code is under an `if` of this body."""
        return bool(self.guards)

    def is_conditional_in(self, loop: Loop) -> bool:
        """Whether the code is under an `if` inside `loop`, a loop of this frame, so that some iterations skip it."""
        return len(self.guards) > loop.guards

    def conditions(self, loop: Loop | None = None) -> list[ast.AST]:
        """What the code of this body is under, outermost first: an `if`, a `case` or an `except`. Only what is inside `loop`, a loop
        of this frame, if one is given."""
        return self.guards[loop.guards if loop is not None else 0 :]

    def is_called(self) -> bool:
        """Whether the analysis saw a call that leads here."""
        return self.context == "call"

    def is_without_call(self) -> bool:
        """Whether a transformation created this function and the analysis evaluates it without a call."""
        return self.context == "creation"

    def is_program(self) -> bool:
        """Whether it is the body of a module or class, which runs at import."""
        return self.function is None and self.context == ""

    def is_under_gradient(self) -> bool:
        """Whether it, or a caller, has called a differentiated function, so that this may be a part of one."""
        return any(frame.takes_gradient for frame in (self, *self.callers()))

    def is_in_test(self) -> bool:
        """Whether it is in a test file, or in a function that is called like a test."""
        function = self.function
        return self.module.is_test or (function is not None and function.name.startswith("test"))

    def is_chosen_by_kind(self) -> bool:
        """Whether the path depends on ranks or dtypes, so that it may not run for the known shapes."""
        return any(frame.asked_kinds for frame in (self, *self.callers()))

    def is_chosen_by_size(self) -> bool:
        """Whether the path depends on ranks, dtypes, shapes or elements, so that it may not run for the known shapes."""
        return any(frame.asked_kinds or frame.asked_sizes for frame in (self, *self.callers()))

    # For the analysis.

    def note_gradient(self) -> None:
        """Notes that the frame differentiates a function, and with it the callers that are in the same trace."""
        owner: Frame | None = self
        while owner is not None:
            owner.takes_gradient = True
            owner = owner.caller if owner.stage.staged else None

    @property
    def path(self) -> tuple[int, int, int]:
        """The number of tests around the code, of results so far, and of doubts."""
        return len(self.guards), len(self.returns), self.doubt

    def demand(self, *demands: Demand) -> None:
        """Notes what the code demands of the call that runs its module."""
        self.demands.add(demands, self.path)

    def provokes_errors(self) -> bool:
        """Whether it is in a test that expects an error."""
        frame: Frame | None = self if self.module.is_test else None
        while frame is not None:
            if frame.function is not None and frame.module is self.module:
                if provokes_errors(frame.function.node):
                    return True
            frame = frame.caller
        return False

    def fills_what_is_made(self) -> bool:
        """Whether the constructor calls this branch of a method before any trace, so that what it stores exists then."""
        function = self.function
        if function is None or function.cls is None or not self.guards:
            return False
        # Methods of base classes count too: a constructor calls them by `super()`.
        makers = (
            cls.namespace.get(name) for cls in function.cls.mro() for name in ("__init__", "__post_init__")
        )
        return any(
            isinstance(maker, Function) and function.name in methods_called_on_self(maker.node)
            for maker in makers
        )

    def under_mocks(self) -> bool:
        """Whether a test that replaces parts of the program led here, so that callees may differ from the source."""
        return any(
            frame.function is not None
            and frame.module.is_test
            and replaces_parts(frame.function.cls.node if frame.function.cls else frame.function.node)
            for frame in (self, *self.callers())
        )

    def snapshot(self) -> Snapshot:
        """The state that this path has reached."""
        return Snapshot(dict(self.scope.variables), [getattr(self, name).copied() for name in TRACKED])

    def restore(self, snapshot: Snapshot) -> None:
        """Restores the snapshot's state, to evaluate another path."""
        self.scope.variables = dict(snapshot.variables)
        for name, state in zip(TRACKED, snapshot.tracked, strict=True):
            setattr(self, name, state.copied())

    def merge(self, other: Snapshot) -> None:
        """Joins another path's snapshot into the current state."""
        variables = dict(self.scope.variables)
        for name, value in other.variables.items():
            mine = variables.get(name)
            variables[name] = value if mine is None else mine if mine is value else join(mine, value)
        self.scope.variables = variables
        for name, state in zip(TRACKED, other.tracked, strict=True):
            setattr(self, name, getattr(self, name).joined(state))

    def in_loop(self) -> Loop | None:
        """The innermost loop of this frame, comprehensions included."""
        return self.loops[-1] if self.loops else None

    def guarded_in_loop(self) -> bool:
        """Whether the code is under an `if` inside the innermost loop, so that some iterations skip it."""
        return bool(self.loops) and len(self.guards) > self.loops[-1].guards

    def guarded_in_loops(self) -> bool:
        """Whether the code is under an `if` inside any enclosing loop, so that some iterations skip it."""
        return bool(self.loops) and len(self.guards) > self.loops[0].guards

    def callers(self) -> list[Frame]:
        chain: list[Frame] = []
        frame = self.caller
        while frame is not None and len(chain) < 40:
            chain.append(frame)
            frame = frame.caller
        return chain
