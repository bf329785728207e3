"""State that lasts as long as one part of the evaluation, however that ends.

Code that evaluates something under a condition writes `with Guessing(self): ...`. No other module lowers a counter or
restores an attribute by hand. So an exception leaves nothing behind that changes the findings of the next file. These
are classes, not generators, since they are on the hot path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import ast
    from types import TracebackType

    from jaxlint.staging.values.frame import Frame, Snapshot
    from jaxlint.staging.values.keys import ConsumedKeys


class Scope:
    """Changes one attribute of its holder: the interpreter, a frame, or a record."""

    __slots__ = ("holder",)
    attribute: ClassVar[str]

    def __init__(self, holder: Any) -> None:
        self.holder = holder

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        raise NotImplementedError


class Counted(Scope):
    """A counter: one more inside, or `by` more."""

    __slots__ = ("by",)

    def __init__(self, holder: Any, by: int = 1) -> None:
        self.holder = holder
        self.by = by

    def __enter__(self) -> None:
        name = self.attribute
        setattr(self.holder, name, getattr(self.holder, name) + self.by)

    def __exit__(self, *_: object) -> None:
        name = self.attribute
        setattr(self.holder, name, getattr(self.holder, name) - self.by)


class Changed(Scope):
    """Sets another value; the old value returns at the end."""

    __slots__ = ("before", "value")

    def __init__(self, holder: Any, value: Any) -> None:
        self.holder = holder
        self.value = value

    def __enter__(self) -> None:
        name = self.attribute
        self.before = getattr(self.holder, name)
        setattr(self.holder, name, self.value)

    def __exit__(self, *_: object) -> None:
        setattr(self.holder, self.attribute, self.before)


class Stacked(Scope):
    """Pushes one more item on a stack; afterwards the stack has its old depth."""

    __slots__ = ("depth", "item")

    def __init__(self, holder: Any, item: Any) -> None:
        self.holder = holder
        self.item = item

    def __enter__(self) -> None:
        stack = getattr(self.holder, self.attribute)
        self.depth = len(stack)
        stack.append(self.item)

    def __exit__(self, *_: object) -> None:
        del getattr(self.holder, self.attribute)[self.depth :]


class Kept(Scope):
    """Sets an entry of a table; afterwards it has the previous entry, or none."""

    __slots__ = ("before", "key", "value")

    def __init__(self, holder: Any, key: Any, value: Any) -> None:
        self.holder = holder
        self.key = key
        self.value = value

    def __enter__(self) -> None:
        table = getattr(self.holder, self.attribute)
        self.before = table.get(self.key, self)
        table[self.key] = self.value

    def __exit__(self, *_: object) -> None:
        table = getattr(self.holder, self.attribute)
        if self.before is self:
            table.pop(self.key, None)
        else:
            table[self.key] = self.before


class _Nothing:
    """A scope that changes nothing, for `with Guessing(self) if unsure else NOTHING`."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


NOTHING = _Nothing()


# -- of the interpreter: evaluation without a visible call


class Guessing(Counted):
    """Inside a call that something unknown may mean: nothing is reported."""

    __slots__ = ()
    attribute = "guessing"


class BelowLikelyCall(Counted):
    """Below a call that likely reaches a method: only rules about costs are told."""

    __slots__ = ()
    attribute = "likely"

    def __enter__(self) -> None:
        super().__enter__()
        self.holder.listeners.hear_costs_only(True)

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self.holder.listeners.hear_costs_only(False)


class InLibraryCode(Counted):
    """Inside a library's own code for a tabulated function, where odd combinations occur."""

    __slots__ = ()
    attribute = "beside"


class Choosing(Counted):
    """One of several functions is being called: a loop over functions, not over steps."""

    __slots__ = ()
    attribute = "choosing"


class ExpectingErrors(Changed):
    """Inside `with raises(...)` of this test module; None: the code has nothing to do with it."""

    __slots__ = ()
    attribute = "provoking"


class WithoutNames(Changed):
    """Looks names up without events: an annotation is read for its meaning."""

    __slots__ = ()
    attribute = "wants_names"


class EnteringFixture(Stacked):
    """A fixture is evaluated for the value that it gives to a test."""

    __slots__ = ()
    attribute = "entering"


class Tested(Stacked):
    """A dict item that the enclosing branch has tested."""

    __slots__ = ()
    attribute = "tested"


# -- of the interpreter: differentiation and tracing


class Differentiating(Counted):
    """Inside a differentiated function."""

    __slots__ = ()
    attribute = "differentiating"


class Reversing(Counted):
    """The same, in reverse mode."""

    __slots__ = ()
    attribute = "reversing"


class NotDifferentiated(Changed):
    """Inside a function with its own derivative rules: gradients do not flow through its body."""

    __slots__ = ()
    attribute = "differentiating"


class NotReversed(Changed):
    """The same, for reverse mode."""

    __slots__ = ()
    attribute = "reversing"


class InRules(Counted):
    """Inside a function with its own derivative rules; holds those rules."""

    __slots__ = ()
    attribute = "custom_rules"


class OfGradient(Changed):
    """The reason why the innermost function is differentiated."""

    __slots__ = ()
    attribute = "gradient_why"


class Parameters(Changed):
    """The gradient flow of parameters that flax and haiku provide."""

    __slots__ = ()
    attribute = "parameter_flow"


class Unjitted(Counted):
    """Inside `with jax.disable_jit():`, where jit does not trace."""

    __slots__ = ()
    attribute = "unjitted"


class Tracing(Changed):
    """Inside a transformation that traces in spite of `jax.disable_jit`."""

    __slots__ = ()
    attribute = "unjitted"


class FakePmaps(Counted):
    """Inside a chex context that replaces `pmap` by `vmap`."""

    __slots__ = ()
    attribute = "fake_pmaps"


class AtBoundary(Changed):
    """The traced call whose arguments are being converted."""

    __slots__ = ()
    attribute = "boundary"


class Copying(Kept):
    """An object is being copied; objects may contain each other."""

    __slots__ = ()
    attribute = "copying"


# -- of a frame: the path to the current code


class Catching(Counted):
    """Inside a `try` that handles errors of tracers."""

    __slots__ = ()
    attribute = "catching"


class Replaceable(Counted):
    """Inside a `try` whose handler does without the names that the `try` binds."""

    __slots__ = ()
    attribute = "replaceable"


class Doubting(Counted):
    """On a path that a call may skip."""

    __slots__ = ()
    attribute = "doubt"


class ImportGuard(Counted):
    """Inside a `try` around imports, or a version test."""

    __slots__ = ()
    attribute = "import_guard"


class Guarded(Stacked):
    """Under an `if`, a `case` or an `except`."""

    __slots__ = ()
    attribute = "guards"


class Looping(Stacked):
    """Inside a loop or a comprehension."""

    __slots__ = ()
    attribute = "loops"


class Staged(Changed):
    """The frame makes a call that is evaluated in another stage."""

    __slots__ = ()
    attribute = "stage"


class StartingWithKeys(Changed):
    """The evaluation starts with `keys` consumed; afterwards the frame has consumed what it had before."""

    __slots__ = ()
    attribute = "consumed"

    def __init__(self, frame: Frame, keys: ConsumedKeys) -> None:
        super().__init__(frame, keys)


class Demanding(Changed):
    """Collects what the code demands from here on; afterwards the frame demands what it did before."""

    __slots__ = ()
    attribute = "demands"


class Undispatched(Scope):
    """The evaluation dispatches nothing: the ledger forgets it, apart from compilations."""

    __slots__ = ("serial",)
    attribute = "log"

    def __enter__(self) -> None:
        self.serial = self.holder.serial

    def __exit__(self, *_: object) -> None:
        self.holder.forget(self.serial)


class Assigning(Changed):
    """The value of this assignment is being evaluated."""

    __slots__ = ()
    attribute = "assigning"

    # Written out, since it is entered more often than all others together.

    def __enter__(self) -> None:
        frame: Frame = self.holder
        self.before = frame.assigning
        frame.assigning = self.value

    def __exit__(self, *_: object) -> None:
        self.holder.assigning = self.before


class Decorating(Changed):
    """This decorator is being applied."""

    __slots__ = ()
    attribute = "decorator"


class OwnVariables(Changed):
    """Variables of a comprehension: changes to them are not the function's."""

    __slots__ = ()
    attribute = "variables"


class Path(Scope):
    """Both branches of an `if` are evaluated in turn. An exception restores the frame to its state before them."""

    __slots__ = ("before", "depth", "node")
    attribute = "guards"

    def __init__(self, holder: Any, node: ast.If, before: Snapshot) -> None:
        self.holder = holder
        self.node = node
        self.before = before

    def __enter__(self) -> None:
        guards = self.holder.guards
        self.depth = len(guards)
        guards.append(self.node)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        del self.holder.guards[self.depth :]
        if kind is not None:
            self.holder.restore(self.before)


class Block(Scope):
    """A block of statements: what a statement implies about the rest of the block ends with the block."""

    __slots__ = ("doubt", "guard")
    attribute = "doubt"

    def __enter__(self) -> None:
        frame: Frame = self.holder
        self.guard, self.doubt = frame.import_guard, frame.doubt

    def __exit__(self, *_: object) -> None:
        frame: Frame = self.holder
        frame.import_guard, frame.doubt = self.guard, self.doubt

    @staticmethod
    def doubts_rest(frame: Frame) -> None:
        """The rest of the block in `frame` runs for some calls only."""
        frame.doubt += 1

    @staticmethod
    def guards_rest(frame: Frame) -> None:
        """The rest of the block runs for some library versions only."""
        frame.import_guard += 1


# -- of a function's memo


class Active(Counted):
    """A call of the function is under evaluation."""

    __slots__ = ()
    attribute = "active"


def kinds() -> Iterator[type[Scope]]:
    """All named scopes."""
    pending: list[type[Scope]] = [Scope]
    while pending:
        for kind in pending.pop().__subclasses__():
            pending.append(kind)
            if hasattr(kind, "attribute"):
                yield kind
