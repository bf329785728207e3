"""What the analysis tells the rules while it evaluates a program.

A rule defines a method named after an event (`on_test`, `on_call` ...), taking the event and a `Reporter`. The same
place may be seen several times, once per calling context; the first report of a rule at a place is kept.
Each event carries the `frame` it happened in: `frame.stage` (host or staged, and why), `frame.loops` (the loops of
this function around it), `frame.function`, `frame.caller`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jaxlint.staging.values import Array

if TYPE_CHECKING:
    from jaxlint.staging.values import (
        ClassValue,
        Function,
        Operation,
        Origin,
        Reading,
        Transformed,
        Value,
    )
    from jaxlint.staging.values.buffers import Donation
    from jaxlint.staging.values.frame import Frame, Loop
    from jaxlint.staging.values.ledger import Dispatch


@dataclass(slots=True, eq=False)
class Event:
    """What all events have, and what a rule may ask of any of them, while it is told."""

    node: ast.AST
    frame: Frame

    def is_certain(self) -> bool:
        """Whether a transformation was seen that stages the code, or the program to run it: no habit of a framework says so."""
        return self.frame.is_certain()

    def makes_tracers(self) -> bool:
        """Whether array functions give tracers here even of plain numbers: under jit and scan, not under vmap alone."""
        return self.frame.makes_tracers()

    def is_caught(self) -> bool:
        """Whether a `try` around it handles what a tracer would raise."""
        return self.frame.catching > 0

    def is_optional(self) -> bool:
        """Whether the program asks if something is there: in a `try` around imports, or under `hasattr` or a test of a version."""
        return self.frame.import_guard > 0

    def is_guarded(self, convention: bool = True) -> bool:
        """Inside a try that handles what a tracer raises, outside of the trace, or where it depends on the run whether it is reached.

        `convention`: so is what runs under a trace by a framework's habit alone; False for what fails on the host as well.
        """
        value = getattr(self, "value", None)
        differentiated = getattr(self, "differentiated", False)
        if isinstance(value, Array) and value.staged and not self.frame.stage.staged and not differentiated:
            return True  # it left its trace: a leak, which is told where it happens, or a state that a library restores
        # What is kept from this trace on is wrong, whoever asked first.
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
    """`on_name`: a name resolved to something of JAX or its libraries, e.g. "jax.tree_map", as the imports spell it.

    Also "os.environ" and "os.putenv", where JAX finds settings.
    """

    qualified: str
    is_import: bool = False


@dataclass(slots=True, eq=False)
class AttributeEvent(Event):
    """`on_attribute`: `value.name` is read, where `name` is one that some class of JAX lost."""

    value: Value
    name: str


@dataclass(slots=True, eq=False)
class TestEvent(Event):
    """`on_test`: Python asks for the truth of `value`. `how`: "if", "while", "assert", "and", "not", "in", "max" ..."""

    value: Value
    how: str


@dataclass(slots=True, eq=False)
class TextComparisonEvent(Event):
    """`on_text_comparison`: the parameter of a jitted function that `value` is is compared with a string."""

    value: Array


@dataclass(slots=True, eq=False)
class ComparisonEvent(Event):
    """`on_comparison`: `left op right`, where one side is a name, an object of a library or an attribute of one."""

    left: Value
    op: ast.cmpop
    right: Value


@dataclass(slots=True, eq=False)
class ConvertEvent(Event):
    """`on_convert`: `value` is made a Python number, string or list. `how`: "float", "item", "format", "math.sqrt" ...

    `differentiated`: no trace holds it, but a gradient is taken of it where it stands, which has no numbers to give.
    """

    value: Value
    how: str
    differentiated: bool = False


@dataclass(slots=True, eq=False)
class NumpyEvent(Event):
    """`on_numpy`: `value` is handed to the NumPy function `function`, or stored into a NumPy array ("setitem")."""

    value: Value
    function: str
    differentiated: bool = False  # as of a conversion
    changes: bool = False  # the function changes in place what is an array of JAX


@dataclass(slots=True, eq=False)
class ShapeEvent(Event):
    """`on_shape`: `value` is used where `function` needs a static number ("range", "jax.numpy.zeros" ...).

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

    `base` is an array of JAX, a reference of `jax.new_ref`, or an array of NumPy that shares its memory; to the last also `base += value`.
    """

    base: Value
    value: Value
    target: ast.expr
    operator: ast.operator | None


@dataclass(slots=True, eq=False)
class FieldStoreEvent(Event):
    """`on_field_store`: `base.name = value`, where `cls`, the class of `base`, refuses it for `reason`. `node` is the target."""

    base: Value
    name: str
    cls: ClassValue
    reason: str  # the decorator or base class that freezes it


@dataclass(slots=True, eq=False)
class LeakEvent(Event):
    """`on_leak`: a tracer is stored where it outlives the trace. `where`: "global", "self.x", "list x" ..."""

    value: Value
    where: str


@dataclass(slots=True, eq=False)
class SideEffectEvent(Event):
    """`on_side_effect`: staged code counts in an ordinary variable or container, or takes an item of a list, that outlives the trace.

    So does a branch of `cond` that puts a Python value into one.

    `where`: as of a leak.
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
    discarded: bool = False  # it stands as a statement of its own


@dataclass(slots=True, eq=False)
class WithEvent(Event):
    """`on_with`: `with value:` enters `value`; `node` is its expression."""

    value: Value


@dataclass(slots=True, eq=False)
class OperationEvent(Event):
    """`on_operation`: an array operation gave `result`: a function, a method or an operator, in one vocabulary."""

    operation: Operation
    result: Array


@dataclass(slots=True, eq=False)
class BranchesEvent(Event):
    """`on_branches`: `lax.cond` or `lax.switch` was called; what each of its `functions` returns."""

    api: str
    functions: list[Value]
    results: list[Value]
    choice: Value | None = None  # the predicate or index
    operands: list[Value] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class BodyEvent(Event):
    """`on_body`: `api` calls the function `body`, its `role` ("the body", "a branch" ...), with `count` arguments.

    `given` is the first of them as the program passes it, `seen` as the function sees it; `result` what it returns.
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
    """`on_host_call`: `api`, a callback, calls `function` on the host while staged code runs."""

    api: str
    function: Value


@dataclass(slots=True, eq=False)
class CarryEvent(Event):
    """`on_carry`: a loop was called with `init`, which its `body` sees as `carry`; `result` is what the body returns.

    `differentiated`: a gradient in reverse mode flows through it. `xs`: what the body of a scan sees of what it runs over.
    """

    api: str
    body: Value
    init: Value
    carry: Value
    result: Value
    differentiated: bool = False
    xs: Value | None = None


@dataclass(slots=True, eq=False)
class ReverseModeEvent(Event):
    """`on_reverse_mode`: the result of the loop `node` reaches the result of what `transformed` differentiates."""

    transformed: Transformed | None  # None for `jax.vjp`
    api: str


@dataclass(slots=True, eq=False)
class ZeroGradientEvent(Event):
    """`on_zero_gradient`: what `transformed` differentiates depends on its argument through `operation` alone, which has no derivative."""

    transformed: Transformed | None
    operation: Operation


@dataclass(slots=True, eq=False)
class TransformEvent(Event):
    """`on_transform`: `jax.jit(f)` and the like were applied. `node` is the call, or the decorated def."""

    transformed: Transformed
    decorator: ast.expr | None = None


@dataclass(slots=True, eq=False)
class StaticArgumentEvent(Event):
    """`on_static_argument`: a call of a jitted function passes `value` for a parameter declared static."""

    transformed: Transformed
    parameter: str
    value: Value
    argument: ast.expr | None = None  # its expression at the call


@dataclass(slots=True, eq=False)
class TracedArgumentEvent(Event):
    """`on_traced_argument`: a call of a jitted function passes `value`, as the caller has it, for a traced parameter."""

    transformed: Transformed
    parameter: str
    value: Value
    argument: ast.expr | None = None  # its expression at the call


@dataclass(slots=True, eq=False)
class StaticFieldEvent(Event):
    """`on_static_field`: an instance with `value` in a field that is no leaf goes into a staged function.

    `node` is the field's declaration, or where its class flattens; `frame` that of the call.
    """

    cls: ClassValue
    name: str
    value: Value
    transformed: Transformed


@dataclass(slots=True, eq=False)
class KeyEvent(Event):
    """`on_key_reuse`: a PRNG key that was used up at `first` is used again. `how`: "again" or "loop"."""

    origin: Origin
    first: ast.AST
    how: str
    callee: str = ""


@dataclass(slots=True, eq=False)
class DonationEvent(Event):
    """`on_donation`: the call `node` gives the buffers of a place to the jitted function to write into."""

    donation: Donation


@dataclass(slots=True, eq=False)
class DonatedReadEvent(Event):
    """`on_donated_read`: `place` may hold a buffer that was donated. `how`: "used", "returned", or "twice" at the call."""

    donation: Donation
    place: str
    how: str


@dataclass(slots=True, eq=False)
class LoopEvent(Event):
    """`on_loop`: a `for` over `iterable` in staged code was evaluated; the variables at its start and at its end."""

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
    """`on_kept_key`: the key `origin` is used up at `node`, in `frame`, and stays what it is for the next run.

    `how`: "closure" (each iteration of `label`, a loop or map, uses it), "carry" (an iteration of `label` hands it on),
    "state" (it stays in the attribute `label` of the method's object), "returned" (the function returns it in a tuple or
    object, there as `label` where it has a name).
    """

    origin: Origin
    how: str
    label: str
    used: ast.AST  # where it is used up; `node` is the call of the loop where that hands the key to its body


@dataclass(slots=True, eq=False)
class StagedReturnEvent(Event):
    """`on_staged_return`: the body of a jitted function was evaluated as at its creation; `value` is its result."""

    transformed: Transformed
    function: Function
    value: Value
    parameters: dict[str, Value] = field(default_factory=dict)
    takes_gradient: bool = False  # in its body


@dataclass(slots=True, eq=False)
class ElapsedEvent(Event):
    """`on_elapsed`: one clock reading was subtracted from another. `dispatches`: what the device was given between.

    `waited`: the host waited for the device after the first of them.
    """

    start: Reading
    end: Reading
    dispatches: list[Dispatch]
    waited: bool


@dataclass(slots=True, eq=False)
class TracedMemoryEvent(Event):
    """`on_traced_memory`: tracemalloc is asked for its figures; `dispatches` is what the device was given since its start."""

    dispatches: list[Dispatch]
