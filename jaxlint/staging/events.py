"""The events that the analysis sends to rules while it evaluates a program.

A rule defines a method named after an event (`on_test`, `on_call` ...), taking the event and a `Reporter`. One place may
produce several events, one for each calling context; the first report of a rule at a place is kept. Each event has the
`frame` it happened in: `frame.stage` (host or staged, and why), `frame.loops` (around it), `frame.function`, `frame.caller`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jaxlint.staging.values import UNKNOWN, Array

if TYPE_CHECKING:
    from jaxlint.staging.values import (
        ClassValue,
        Function,
        Instance,
        Operation,
        Origin,
        Reading,
        Transformed,
        Value,
    )
    from jaxlint.staging.values.buffers import Donation
    from jaxlint.staging.values.demands import Demand
    from jaxlint.staging.values.frame import Frame, Loop
    from jaxlint.staging.values.ledger import Dispatch


@dataclass(slots=True, eq=False)
class Event:
    """The common part of all events, and the questions that a rule may ask any of them during its call."""

    node: ast.AST
    frame: Frame

    def is_certain(self) -> bool:
        """Whether the analysis saw the transformation that traces the code, or the program that runs it. A
        framework's convention is not enough."""
        return self.frame.is_certain()

    def makes_tracers(self) -> bool:
        """Whether array functions return tracers here even for plain numbers: true under jit and scan, false under
        vmap alone."""
        return self.frame.makes_tracers()

    def is_caught(self) -> bool:
        """Whether an enclosing `try` handles the errors of tracers."""
        return self.frame.catching > 0

    def is_optional(self) -> bool:
        """Whether the program tests that something exists: a `try` around imports, `hasattr`, or a version test."""
        return self.frame.import_guard > 0

    def is_guarded(self, convention: bool = True) -> bool:
        """Whether the code may not fail: a `try` handles errors of tracers, the trace has ended, or another run may
        not reach it.

        `convention`: code that is traced by a framework's convention counts as guarded too; False for code that also
        fails on the host.
        """
        value = getattr(self, "value", None)
        differentiated = getattr(self, "differentiated", False)
        if isinstance(value, Array) and value.staged and not self.frame.stage.staged and not differentiated:
            # it left its trace: a leak, which has its own event, or a state that a library restores
            return True
        # What this trace stores is wrong from now on, even if another check comes first.
        stored = isinstance(self, LeakEvent)
        same = True
        frame: Frame | None = self.frame
        while frame is not None:
            stage = frame.stage
            unsure = not stage.certain and (convention or stage.kind != "convention")
            if (
                (same and frame.catching)
                or frame.replaceable
                or (stage.staged and (frame.doubt or unsure or (frame.perhaps_kept and not stored)))
                or (differentiated and frame.doubt)
            ):
                return True
            if frame.caller is not None and frame.caller.stage is not frame.stage:
                same = False
            frame = frame.caller
        return False

    def assignment(self) -> ast.Assign | None:
        """The assignment whose value is being evaluated."""
        statement = self.frame.assigning
        return statement if isinstance(statement, ast.Assign) else None


@dataclass(slots=True, eq=False)
class NameEvent(Event):
    """`on_name`: a name was resolved to something in JAX or its libraries, e.g. "jax.tree_map", as the imports spell
    it.

    Also "os.environ" and "os.putenv", through which JAX reads settings.
    """

    qualified: str
    is_import: bool = False


@dataclass(slots=True, eq=False)
class AttributeEvent(Event):
    """`on_attribute`: the program reads `value.name`, where some JAX class has lost the attribute `name`."""

    value: Value
    name: str


@dataclass(slots=True, eq=False)
class TestEvent(Event):
    """`on_test`: Python needs the truth of `value`. `how`: "if", "while", "assert", "and", "not", "in", "max" ..."""

    value: Value
    how: str


@dataclass(slots=True, eq=False)
class TextComparisonEvent(Event):
    """`on_text_comparison`: `value`, a parameter of a jitted function, is compared with a string."""

    value: Array


@dataclass(slots=True, eq=False)
class ComparisonEvent(Event):
    """`on_comparison`: `left op right`, where one side is a library name, a library object or its attribute."""

    left: Value
    op: ast.cmpop
    right: Value


@dataclass(slots=True, eq=False)
class ConvertEvent(Event):
    """`on_convert`: `value` is converted to a Python number, string or list. `how`: "float", "item", "format",
    "math.sqrt" ...

    `differentiated`: it is not in a trace, but a gradient flows through it, so it has no concrete value.
    """

    value: Value
    how: str
    differentiated: bool = False


@dataclass(slots=True, eq=False)
class NumpyEvent(Event):
    """`on_numpy`: `value` is passed to the NumPy function `function`, or stored into a NumPy array ("setitem")."""

    value: Value
    function: str
    differentiated: bool = False  # as in `ConvertEvent`
    changes: bool = False  # the function changes a JAX array in place


@dataclass(slots=True, eq=False)
class ShapeEvent(Event):
    """`on_shape`: `value` is used where `function` needs a static size ("range", "jax.numpy.zeros" ...).

    `argument` is "the data" where the size of the result depends on values, and `option` would fix it.
    """

    value: Value
    function: str
    argument: str
    option: str = "size"


@dataclass(slots=True, eq=False)
class IndexEvent(Event):
    """`on_index`: a Python sequence is indexed, or an array sliced, by `index`. `how`: "list", "dict", "slice", "mask"."""

    base: Value
    index: Value
    how: str


@dataclass(slots=True, eq=False)
class StoreEvent(Event):
    """`on_store`: `base[...] = value`, or with an operator when `operator` is set. `node` is the statement.

    `base` is a JAX array, a reference from `jax.new_ref`, or a NumPy array that shares a JAX array's memory; for the
    last, also `base += value`.
    """

    base: Value
    value: Value
    target: ast.expr
    operator: ast.operator | None


@dataclass(slots=True, eq=False)
class FieldStoreEvent(Event):
    """`on_field_store`: `base.name = value`, where `cls`, the class of `base`, refuses the assignment. `node` is the
    target."""

    base: Value
    name: str
    cls: ClassValue
    reason: str  # the decorator or base class that freezes it


@dataclass(slots=True, eq=False)
class ModuleStoreEvent(Event):
    """`on_module_store`: `base.name = value`, where `base` is a module of the project. `node` is the target."""

    base: Instance
    name: str
    value: Value


@dataclass(slots=True, eq=False)
class LeakEvent(Event):
    """`on_leak`: a tracer is stored where it outlives the trace. `where`: "global", "self.x", "list x" ..."""

    value: Value
    where: str


@dataclass(slots=True, eq=False)
class SideEffectEvent(Event):
    """`on_side_effect`: traced code increments a variable or takes an item of a list that outlives the trace.

    The same holds for a branch of `cond` that stores a Python value there.

    `where`: as in `LeakEvent`.
    """

    where: str


@dataclass(slots=True, eq=False)
class CallEvent(Event):
    """`on_call`: any call, after its arguments were evaluated. `name`: the canonical external name, or ""."""

    callee: Value
    name: str
    args: list[Value]
    kwargs: dict[str, Value]
    result: Value
    discarded: bool = False  # the call is a statement


@dataclass(slots=True, eq=False)
class WithEvent(Event):
    """`on_with`: `with value:` enters `value`; `node` is its expression."""

    value: Value


@dataclass(slots=True, eq=False)
class OperationEvent(Event):
    """`on_operation`: an array function, method or operator returned `result`. All three share one set of names."""

    operation: Operation
    result: Array


@dataclass(slots=True, eq=False)
class UnpackEvent(Event):
    """`on_unpack`: an array, or the shape of one, is unpacked into `count` names; `node` is the target."""

    value: Value
    count: int


@dataclass(slots=True, eq=False)
class BranchesEvent(Event):
    """`on_branches`: a call of `lax.cond` or `lax.switch`, and the results of its `functions`."""

    api: str
    functions: list[Value]
    results: list[Value]
    choice: Value | None = None  # the predicate or index
    operands: list[Value] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class BodyEvent(Event):
    """`on_body`: `api` calls the function `body`, its `role` ("the body", "a branch" ...), with `count` arguments.

    `given` is the first argument as the program passes it, `seen` is the same argument inside the function; `result`
    is the returned value.
    """

    api: str
    role: str
    body: Value
    count: int
    result: Value
    given: Value | None = None
    seen: Value | None = None


@dataclass(slots=True, eq=False)
class HostCallEvent(Event):
    """`on_host_call`: `api`, a callback, calls `function` on the host while traced code runs.

    `returned` is its result, and `declared` an array of the shape that the call declares, if it declares one array.
    """

    api: str
    function: Value
    returned: Value
    declared: Array | None


@dataclass(slots=True, eq=False)
class ModuleRunEvent(Event):
    """`on_module_run`: `apply` of a flax.linen module, and what the layers that it runs demand of `kwargs`."""

    module: Instance
    kwargs: dict[str, Value]
    demands: tuple[Demand, ...]


@dataclass(slots=True, eq=False)
class DerivativeRulesEvent(Event):
    """`on_derivative_rules`: the program gives `transformed` its derivative rules, by their role: "jvp", or "fwd" and
    "bwd"."""

    transformed: Transformed
    rules: dict[str, Value]
    symbolic: bool = False  # `symbolic_zeros` was passed, so that `fwd` receives other values


@dataclass(slots=True, eq=False)
class ForwardResultEvent(Event):
    """`on_forward_result`: what `rule`, the `fwd` of a function with its own derivatives, or its `bwd`, returned for a
    call.

    For a `bwd`: `primals` are the arguments that cotangents belong to, None if they are unknown, and `primal` and
    `cotangent` the result of the function and its cotangent.
    """

    transformed: Transformed
    rule: Value
    result: Value
    backward: bool = False
    primals: list[Value] | None = None
    primal: Value = UNKNOWN
    cotangent: Value = UNKNOWN


@dataclass(slots=True, eq=False)
class CarryEvent(Event):
    """`on_carry`: a call of a loop with `init`. Its `body` receives `carry` and returns `result`.

    `differentiated`: a reverse-mode gradient flows through it. `xs`: the slice of the scanned values inside the body. `steps`: how
    many a `scan` or `fori_loop` has, if it is known.
    """

    api: str
    body: Value
    init: Value
    carry: Value
    result: Value
    differentiated: bool = False
    xs: Value | None = None
    steps: int | None = None


@dataclass(slots=True, eq=False)
class ReverseModeEvent(Event):
    """`on_reverse_mode`: the result of the loop `node` flows into the result of the function that `transformed`
    differentiates."""

    transformed: Transformed | None  # None for `jax.vjp`
    api: str


@dataclass(slots=True, eq=False)
class DifferentiatedEvent(Event):
    """`on_differentiated`: the call `node` differentiates the function of `transformed`, which returned `result`."""

    transformed: Transformed
    result: Value


@dataclass(slots=True, eq=False)
class ZeroGradientEvent(Event):
    """`on_zero_gradient`: the function that `transformed` differentiates depends on its argument only through
    `operation`, which has no derivative."""

    transformed: Transformed | None
    operation: Operation


@dataclass(slots=True, eq=False)
class TransformEvent(Event):
    """`on_transform`: the program applies `jax.jit(f)` or another transformation. `node` is the call, or the
    decorated def."""

    transformed: Transformed
    decorator: ast.expr | None = None


@dataclass(slots=True, eq=False)
class StaticArgumentEvent(Event):
    """`on_static_argument`: a call of a jitted function passes `value` to a static parameter."""

    transformed: Transformed
    parameter: str
    value: Value
    argument: ast.expr | None = None  # its expression at the call


@dataclass(slots=True, eq=False)
class TracedArgumentEvent(Event):
    """`on_traced_argument`: a call of a jitted function passes the caller's `value` to a traced parameter."""

    transformed: Transformed
    parameter: str
    value: Value
    argument: ast.expr | None = None  # its expression at the call


@dataclass(slots=True, eq=False)
class StaticFieldEvent(Event):
    """`on_static_field`: an instance enters a traced function with `value` in a field that is not a leaf.

    `node` is the declaration of the field, or the place where its class flattens; `frame` is that of the call.
    """

    cls: ClassValue
    name: str
    value: Value
    transformed: Transformed


@dataclass(slots=True, eq=False)
class KeyEvent(Event):
    """`on_key_reuse`: a PRNG key that was consumed at `first` is used again. `how`: "again" or "loop"."""

    origin: Origin
    first: ast.AST
    how: str
    callee: str = ""


@dataclass(slots=True, eq=False)
class DonationEvent(Event):
    """`on_donation`: the call `node` donates the buffers of a place to the jitted function.

    `given`: all that the call donates. `result`: what it returns.
    """

    donation: Donation
    given: list[Value] = field(default_factory=list)
    result: Value = UNKNOWN


@dataclass(slots=True, eq=False)
class DonatedReadEvent(Event):
    """`on_donated_read`: `place` may hold a donated buffer. `how`: "used", "returned", or at the call "twice", and "shared" where
    `place` and what is donated may be one buffer."""

    donation: Donation
    place: str
    how: str


@dataclass(slots=True, eq=False)
class SharedPlacesEvent(Event):
    """`on_shared_places`: at the end of a method, each of `pairs` of places may be one buffer: `self.target`, `self.params`."""

    pairs: frozenset[tuple[str, str]]


@dataclass(slots=True, eq=False)
class LoopEvent(Event):
    """`on_loop`: a `for` over `iterable` in traced code, with the variables before and after its body."""

    loop: Loop
    iterable: Value
    before: dict[str, Value]
    after: dict[str, Value]


@dataclass(slots=True, eq=False)
class IterationEvent(Event):
    """`on_iteration`: a `for` on the host, also that of a comprehension, ran over `iterable`; `node` is its expression."""

    loop: Loop
    iterable: Value


@dataclass(slots=True, eq=False)
class KeptKeyEvent(Event):
    """`on_kept_key`: the key `origin` is consumed at `node`, in `frame`, and does not change before the next run.

    `how`: "closure" (each iteration of `label`, a loop or map, uses it), "carry" (an iteration of `label` passes it
    on), "state" (it stays in the attribute `label` of the method's object), "returned" (the function returns it in a
    tuple or object, as `label` if it has a name there). For "closure", `drawn` draws with the key itself, and `run`
    runs the function again for each part of `over`.
    """

    origin: Origin
    how: str
    label: str
    used: ast.AST  # where it is consumed; `node` is the call of the loop if that passes the key to its body
    drawn: ast.AST | None = None
    run: ast.AST | None = None
    over: tuple[Value, ...] = ()


@dataclass(slots=True, eq=False)
class StagedReturnEvent(Event):
    """`on_staged_return`: the body of a jitted function was evaluated at its creation; `value` is its result."""

    transformed: Transformed
    function: Function
    value: Value
    parameters: dict[str, Value] = field(default_factory=dict)
    takes_gradient: bool = False  # in its body


@dataclass(slots=True, eq=False)
class ElapsedEvent(Event):
    """`on_elapsed`: the program subtracts two clock readings. `dispatches`: the computations dispatched in between.

    `waited`: a host sync came after the first of them.
    """

    start: Reading
    end: Reading
    dispatches: list[Dispatch]
    waited: bool


@dataclass(slots=True, eq=False)
class TracedMemoryEvent(Event):
    """`on_traced_memory`: the program reads the figures of tracemalloc. `dispatches`: the computations dispatched
    since its start."""

    dispatches: list[Dispatch]
