"""What holds while a part of the program is evaluated, and no longer than that, however the evaluation ends.

Whoever evaluates something under a condition writes `with Guessing(self): ...`. No counter is lowered by hand and no
attribute is put back by hand anywhere else in the analysis, so that an exception below leaves nothing behind that
changes what is found in the next file. These are classes and no generators: they stand on the hot path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import ast
    from types import TracebackType

    from jaxlint.staging.values.frame import Frame, Snapshot


class Scope:
    """Changes one attribute of its holder: the interpreter, a frame, or what belongs to one."""

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
    """How often something holds: once more inside, or as often more as `by` says."""

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
    """Another value inside, the old one after."""

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
    """One more on a stack inside; after, the stack is as deep as it was."""

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
    """An entry of a table inside; after, the entry that was there, or none."""

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
    """The scope that changes nothing, for `with Guessing(self) if unsure else NOTHING`."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


NOTHING = _Nothing()


# -- of the interpreter: what is evaluated though nobody is seen to call it like this


class Guessing(Counted):
    """Inside a call that something unknown may mean: nothing is reported."""

    __slots__ = ()
    attribute = "guessing"


class Beside(Counted):
    """Inside a library's own code for what the tables say, which may see odd combinations."""

    __slots__ = ()
    attribute = "beside"


class Choosing(Counted):
    """One of several functions is being called: a loop over functions, not over steps."""

    __slots__ = ()
    attribute = "choosing"


class Provoking(Changed):
    """Inside `with raises(...)` of this module of tests; None: what is evaluated has nothing to do with it."""

    __slots__ = ()
    attribute = "provoking"


class WithoutNames(Changed):
    """Names are looked up and rules do not hear of them: an annotation is read for what it says."""

    __slots__ = ()
    attribute = "wants_names"


class EnteringFixture(Stacked):
    """A fixture is evaluated for what it gives to a test."""

    __slots__ = ()
    attribute = "entering"


class Tested(Stacked):
    """An item of a dict that the branch around has asked for."""

    __slots__ = ()
    attribute = "tested"


# -- of the interpreter: what is differentiated and staged


class Differentiating(Counted):
    """Inside a function that is differentiated."""

    __slots__ = ()
    attribute = "differentiating"


class Reversing(Counted):
    """The same, in reverse mode."""

    __slots__ = ()
    attribute = "reversing"


class NotDifferentiated(Changed):
    """Inside what has rules of its own: no gradient flows through it."""

    __slots__ = ()
    attribute = "differentiating"


class NotReversed(Changed):
    """The same, of reverse mode."""

    __slots__ = ()
    attribute = "reversing"


class InRules(Counted):
    """Inside a function with rules of its own, and those rules."""

    __slots__ = ()
    attribute = "custom_rules"


class OfGradient(Changed):
    """Why the innermost function is differentiated."""

    __slots__ = ()
    attribute = "gradient_why"


class Parameters(Changed):
    """What carries the gradient among the parameters that flax and haiku hand out."""

    __slots__ = ()
    attribute = "parameter_flow"


class Unjitted(Counted):
    """Inside `with jax.disable_jit():`, where nothing is staged."""

    __slots__ = ()
    attribute = "unjitted"


class Tracing(Changed):
    """Inside what traces whatever `jax.disable_jit` says."""

    __slots__ = ()
    attribute = "unjitted"


class FakePmaps(Counted):
    """Inside a context of chex that puts `vmap` in the place of `pmap`."""

    __slots__ = ()
    attribute = "fake_pmaps"


class AtBoundary(Changed):
    """The staged call whose arguments are being converted."""

    __slots__ = ()
    attribute = "boundary"


class Copying(Kept):
    """An object is being copied; objects may hold each other."""

    __slots__ = ()
    attribute = "copying"


# -- of a frame: the path that led to what is evaluated


class Catching(Counted):
    """Inside a `try` that handles what a tracer would raise."""

    __slots__ = ()
    attribute = "catching"


class Replaceable(Counted):
    """Inside one whose handler does without what the `try` would bind."""

    __slots__ = ()
    attribute = "replaceable"


class Doubting(Counted):
    """On a path that calls may or may not take."""

    __slots__ = ()
    attribute = "doubt"


class ImportGuard(Counted):
    """Inside a `try` around imports, or a test of versions."""

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


class KeysAside(Changed):
    """What is evaluated uses up no random key of the frame."""

    __slots__ = ()
    attribute = "used"


class Undispatched(Scope):
    """What is evaluated gives the device nothing to compute: the ledger forgets it, but not what was compiled."""

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

    # Spelled out, since it is entered more often than all others together.

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
    """Both branches of an `if` are evaluated, one after the other: an exception leaves the frame as it was before them."""

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
    """A block of statements: what one of them says of the rest of the block ends with it."""

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
        """What follows in the block of `frame` is for some calls alone."""
        frame.doubt += 1

    @staticmethod
    def guards_rest(frame: Frame) -> None:
        """What follows is for some versions of a library."""
        frame.import_guard += 1


# -- of what is remembered of a function


class Active(Counted):
    """A call of the function is being evaluated."""

    __slots__ = ()
    attribute = "active"


def kinds() -> Iterator[type[Scope]]:
    """Each named scope that there is."""
    pending: list[type[Scope]] = [Scope]
    while pending:
        for kind in pending.pop().__subclasses__():
            pending.append(kind)
            if hasattr(kind, "attribute"):
                yield kind
