"""One activation of a function (or module or class body) while it is being evaluated."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from jaxlint.staging.project import Module
from jaxlint.staging.values.buffers import Buffer, Donation
from jaxlint.staging.values.joining import join
from jaxlint.staging.values.objects import ClassValue, Function, Scope
from jaxlint.staging.values.plain import Activation, Origin, Value
from jaxlint.staging.values.stage import Stage
from jaxlint.syntax.facts import FunctionNode, methods_called_on_self, provokes_errors, replaces_parts

MAX_LOOPS = 6  # loops in each other whose bodies are evaluated twice; that doubles the work each time
MAX_UNROLLED = 12  # items of a sequence that a comprehension is evaluated for one by one
MAX_EXACT = 24  # iterations of a loop that an exact analysis follows one by one


@dataclass(slots=True, eq=False)
class Loop:
    """A loop of this frame that is being evaluated. `guards` counts the frame's guards when it began."""

    node: ast.AST
    kind: str  # "for", "while", "comprehension"
    guards: int
    calls_jitted: bool = False  # its body calls a compiled function
    second: bool = False  # the body is being evaluated as a later iteration
    trips: int | None = None  # how often it runs, where that is a constant
    one_by_one: bool = False  # each iteration is evaluated for itself
    exits: list[Snapshot] = field(default_factory=list)

    def is_later_iteration(self) -> bool:
        """Whether the body is being evaluated again, with what its first iteration left."""
        return self.second


@dataclass(slots=True, eq=False)
class Snapshot:
    """The flow-sensitive part of a frame: variables, keys used so far, and what was donated."""

    variables: dict[str, Value]
    used: dict[Origin, ast.AST]
    buffers: dict[str, frozenset[Buffer]]
    dead: dict[Buffer, Donation]


@dataclass(slots=True, eq=False)
class Frame(Activation):
    """`function` is None for a module or class body. `used` maps keys that were consumed to where."""

    function: Function | None
    module: Module
    scope: Scope
    stage: Stage
    caller: Frame | None = None
    call_node: ast.AST | None = None
    depth: int = 0
    context: str = ""  # "entry" for an analysis without a caller, "creation" at a transformation, else a call
    loops: list[Loop] = field(init=False, default_factory=list)
    guards: list[ast.AST] = field(init=False, default_factory=list)
    returns: list[Value] = field(init=False, default_factory=list)
    yields: list[Value] = field(init=False, default_factory=list)
    used: dict[Origin, ast.AST] = field(init=False, default_factory=dict)
    inherited: set[Origin] = field(init=False, default_factory=set)
    # Of donated buffers (`staging/tracking/buffers.py`); replaced, never changed in place.
    buffers: dict[str, frozenset[Buffer]] = field(init=False, default_factory=dict)
    dead: dict[Buffer, Donation] = field(init=False, default_factory=dict)
    rebound: frozenset[str] = field(init=False, default=frozenset())
    catching: int = field(init=False, default=0)  # inside a try that handles what a tracer would raise
    # Inside one whose handler does without what the try would bind.
    replaceable: int = field(init=False, default=0)
    # On a path that calls may or may not take: under `if x is None:`, or a test of what may be static.
    doubt: int = field(init=False, default=0)
    import_guard: int = field(init=False, default=0)  # inside a try around imports, or a version test
    making: ClassValue | None = field(init=False, default=None)  # the class whose body this is
    assigning: ast.AST | None = field(init=False, default=None)  # the assignment whose value is evaluated
    decorator: ast.expr | None = field(init=False, default=None)  # that is being applied
    # A branch was taken by the answer of what was not read, or by a number of dimensions or a dtype.
    asked_answers: bool = field(init=False, default=False)
    asked_kinds: bool = field(init=False, default=False)
    asked_sizes: bool = field(init=False, default=False)  # or by a size
    perhaps_kept: bool = field(init=False, default=False)  # what follows is for what was not kept before
    # In a `try`: how deep in branches and loops, and after how many returns, a tracer raises for certain, or perhaps.
    raised: tuple[int, int] | None = field(init=False, default=None)
    perhaps_raised: bool = field(init=False, default=False)
    continued: bool = field(init=False, default=False)  # the body of a loop has ended by `continue`
    suspended: int | None = field(init=False, default=None)  # the ledger's serial at the last `yield`
    runs_steps: bool = field(
        init=False, default=False
    )  # a generator that runs a compiled function for each item
    takes_gradient: bool = field(init=False, default=False)  # what it calls is differentiated
    # By the text of a test that is asked again: what each branch has bound.
    bound_by_tests: dict[str, dict[str, tuple[Value, dict[bool, Value]]]] = field(
        init=False, default_factory=dict
    )
    statement: ast.expr | None = field(init=False, default=None)  # that was last evaluated as a statement
    born: int = field(init=False, default=0)  # the serial of the first identity that can be made in it
    home: Stage = field(init=False)  # the stage it was entered in; `stage` is that of the call being made

    def __post_init__(self) -> None:
        self.home = self.stage

    @property
    def name(self) -> str | None:
        return self.function.qualname if self.function is not None else None

    # What rules ask.

    @property
    def owner(self) -> FunctionNode | ast.Module:
        """The function whose body it evaluates; the module for its own body and those of classes in it."""
        return self.function.node if self.function is not None else self.module.tree

    def class_being_made(self) -> ClassValue | None:
        """The class whose body it evaluates; None in any other code."""
        return self.making

    def value_of(self, name: str) -> Value | None:
        """What a variable holds, here or in the scopes around."""
        return self.scope.value_of(name)

    def local(self, name: str) -> Value | None:
        """What a variable of this body alone holds."""
        return self.scope.variables.get(name)

    def was_given(self, origin: Origin | None) -> bool:
        """Whether a value came in by a parameter, and is still what the caller gave."""
        return origin in self.inherited

    def is_certain(self) -> bool:
        """Whether a transformation was seen that stages it, or the program to run it: no habit of a framework says so."""
        return self.stage.certain

    def makes_tracers(self) -> bool:
        """Whether array functions give tracers here even of plain numbers: under jit and scan, not under vmap alone."""
        return self.stage.abstract

    def repeats(self) -> bool:
        """Whether it stands in a loop of its own whose iterations are not evaluated one by one."""
        return not all(loop.one_by_one for loop in self.loops)

    def is_conditional(self) -> bool:
        """Under an `if` of its own body."""
        return bool(self.guards)

    def is_conditional_in(self, loop: Loop) -> bool:
        """Under an `if` inside `loop`, which is one of its own: not run at every iteration."""
        return len(self.guards) > loop.guards

    def is_called(self) -> bool:
        """Whether a call was seen that leads here."""
        return self.context == "call"

    def is_trial(self) -> bool:
        """Whether it is what a transformation made of a function, looked at without a call of that."""
        return self.context == "creation"

    def is_program(self) -> bool:
        """Whether it is the body of a module or class, which runs when it is imported."""
        return self.function is None and self.context == ""

    def is_in_test(self) -> bool:
        """Whether it lies in a file of tests, or in a function that is called like one."""
        function = self.function
        return self.module.is_test or (function is not None and function.name.startswith("test"))

    def is_chosen_by_kind(self) -> bool:
        """Whether the way here asks for ranks or dtypes, so that it may not be for the shapes that are known."""
        return any(frame.asked_kinds for frame in (self, *self.callers()))

    def is_chosen_by_size(self) -> bool:
        """Whether the way here asks for shapes or what is in them, too, so that it may not be for the shapes that are known."""
        return any(frame.asked_kinds or frame.asked_sizes for frame in (self, *self.callers()))

    # What the analysis asks.

    def provokes_errors(self) -> bool:
        """Whether it lies in a test that expects an error."""
        frame: Frame | None = self if self.module.is_test else None
        while frame is not None:
            if frame.function is not None and frame.module is self.module:
                if provokes_errors(frame.function.node):
                    return True
            frame = frame.caller
        return False

    def fills_what_is_made(self) -> bool:
        """Whether it is in a branch of a method that the constructor of its class calls, before any trace: what is kept is there then."""
        function = self.function
        if function is None or function.cls is None or not self.guards:
            return False
        # Those of its bases, too, which a constructor calls by `super()`.
        makers = (
            cls.namespace.get(name) for cls in function.cls.mro() for name in ("__init__", "__post_init__")
        )
        return any(
            isinstance(maker, Function) and function.name in methods_called_on_self(maker.node)
            for maker in makers
        )

    def under_mocks(self) -> bool:
        """Whether a test that replaces parts of the program has led here: what is called is not what the source says."""
        return any(
            frame.function is not None
            and frame.module.is_test
            and replaces_parts(frame.function.cls.node if frame.function.cls else frame.function.node)
            for frame in (self, *self.callers())
        )

    def snapshot(self) -> Snapshot:
        """What a path has made so far of variables, keys and buffers."""
        return Snapshot(dict(self.scope.variables), dict(self.used), self.buffers, self.dead)

    def restore(self, snapshot: Snapshot) -> None:
        """Goes back to where the snapshot was taken, for another path."""
        self.scope.variables = dict(snapshot.variables)
        self.used = dict(snapshot.used)
        self.buffers = snapshot.buffers
        self.dead = snapshot.dead

    def merge(self, other: Snapshot) -> None:
        """Joins another path's snapshot into the current state."""
        variables = dict(self.scope.variables)
        for name, value in other.variables.items():
            mine = variables.get(name)
            variables[name] = value if mine is None else mine if mine is value else join(mine, value)
        self.scope.variables = variables
        self.used = {**other.used, **self.used}
        self.merge_buffers(other)

    def merge_buffers(self, other: Snapshot) -> None:
        """What places may hold, and what may be gone, after two paths meet."""
        if other.buffers is not self.buffers:
            merged = dict(self.buffers)
            # What one path has donated is gone on that path: where only the other path still holds it, it is alive.
            if other.dead is not self.dead:
                lost = other.dead.keys() - self.dead.keys()
                for place, buffers in self.buffers.items():
                    alone = buffers & lost
                    if alone:
                        merged[place] = buffers - (alone - other.buffers.get(place, frozenset()))
                lost = self.dead.keys() - other.dead.keys()
            else:
                lost = set()
            for place, buffers in other.buffers.items():
                mine = self.buffers.get(place, frozenset())
                merged[place] = merged.get(place, frozenset()) | (buffers - (lost - mine))
            self.buffers = merged
        if other.dead is not self.dead:
            self.dead = {**other.dead, **self.dead}

    def in_loop(self) -> Loop | None:
        """The innermost real loop (comprehensions included) of this frame."""
        return self.loops[-1] if self.loops else None

    def guarded_in_loop(self) -> bool:
        """Under an `if` inside the innermost loop: not run at every iteration."""
        return bool(self.loops) and len(self.guards) > self.loops[-1].guards

    def guarded_in_loops(self) -> bool:
        """Under an `if` inside any loop around: not run for all that the loops go through."""
        return bool(self.loops) and len(self.guards) > self.loops[0].guards

    def callers(self) -> list[Frame]:
        chain: list[Frame] = []
        frame = self.caller
        while frame is not None and len(chain) < 40:
            chain.append(frame)
            frame = frame.caller
        return chain
