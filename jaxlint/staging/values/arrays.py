"""Arrays of JAX and of NumPy, and how they came about."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from jaxlint.staging.values.plain import Flow, Origin, Value
from jaxlint.staging.values.sizes import Size
from jaxlint.staging.values.stage import Why

Shape = tuple[Size, ...]


@dataclass(slots=True, eq=False)
class Operation:
    """How an array came about. `name`: as of `jax.numpy` ("exp", "add"; methods and operators too), or a full name.

    `args` is empty beyond a depth that bounds what an array keeps alive.
    """

    name: str
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    node: ast.AST
    depth: int = 0
    full: str = ""  # the canonical name, "jax.lax.reduce_max", of what is no operator

    def operand(self, position: int, keyword: str = "") -> Value | None:
        """An argument by position or keyword; None when it was not given."""
        if position < len(self.args):
            return self.args[position]
        return self.kwargs.get(keyword)


NEW_REF = "jax.new_ref"  # the operation that makes a reference to an array


class Form:
    """What is known of the shape of an array, besides by what it was made of; several values may be one array.

    `shape`: once it was asked for, None where it is not known. `misfit`: why there is none, where the operands certainly
    do not fit. The rest is what it is worked out from: by `how`, of the arrays `of`:
    "" of what it was made of, or as the only one of `of`; "row" without `axis`; "stacked" with a new `axis`, which is
    as long as `along` says (an array and one of its axes, or a number); "either" of them; "grown" of what it was made of,
    in a loop that began with another; "layer" what `made` gives, an operation that nobody is told of; "declared" of `symbols`; "hidden" is not known.
    `rank` and `names` are what the program says by `B, T = x.shape`.
    """

    __slots__ = ("along", "asked", "axis", "how", "made", "misfit", "names", "of", "rank", "shape", "symbols")

    def __init__(
        self,
        how: str = "",
        of: Sequence[Value] = (),
        axis: int = 0,
        along: tuple[Value, int] | Value | None = None,
        made: Operation | None = None,
    ) -> None:
        self.asked = False
        self.shape: Shape | None = None
        self.misfit: Exception | None = None
        self.how = how
        self.of = of
        self.axis = axis
        self.along = along
        self.made = made
        self.rank: int | None = None
        self.names: dict[int, str] = {}
        self.symbols: dict[int, Size] = {}


@dataclass(slots=True, eq=False)
class Array(Value):
    """A JAX array, or (with `tree`) a pytree of them whose structure is not known.

    `staged`: it is an abstract tracer here. `certain`: it is one on every run that reaches this place.
    `like`: the parameter whose shape and dtype it certainly shares. `mixed`: it is a setting (None, a bool, text) on
    other paths. `partly`: it is an array that is no tracer on other paths.
    """

    staged: bool
    why: Why | None = None
    tree: bool = False
    certain: bool = True
    origin: Origin | None = None
    like: Origin | None = None
    role: str = ""  # "key", "grad", "bool", "ref", "variables" (of a flax module), "declared" (by annotation) ... where known
    jitted: str = ""  # the jitted function whose result this is, when concrete
    dtype: str = ""  # where known; "float*" and "int*" are weak (see jaxlint.jaxapi.dtypes)
    made: Operation | None = None  # the operation that it is the result of, where one is known
    flow: Flow | None = None  # it depends on what is being differentiated
    mixed: bool = False
    partly: bool = False
    rowless: bool = False  # its first axis has no elements, so that a loop over it never runs
    answer: bool = False  # what was not read says it of tracers: perhaps whether they are some
    form: Form | None = None

    @property
    def is_reference(self) -> bool:
        """Whether it is a `jax.new_ref`, which is no array: it is read by `ref[...]`."""
        return self.role == "ref" and self.made is not None and self.made.name == NEW_REF

    def known_as(self, origin: Origin | None) -> Array:
        """The same array under another identity. (As `dataclasses.replace`, in a fifth of the time.)"""
        return Array(
            self.staged,
            self.why,
            self.tree,
            self.certain,
            origin,
            self.like,
            self.role,
            self.jitted,
            self.dtype,
            self.made,
            self.flow,
            self.mixed,
            self.partly,
            self.rowless,
            self.answer,
            self.form,
        )


@dataclass(slots=True, eq=False)
class NumpyArray(Value):
    """A NumPy array or scalar on the host."""

    fresh: bool = False  # made in this function by np.zeros and the like, hence writable
    dtype: str = ""  # where known: "float64", "int64" ...
    fetched: Fetch | None = None  # it was computed by NumPy of an array of JAX
    shares: bool = False  # the memory of an array of JAX, hence it is read-only
    rowless: bool = False  # as of an array of JAX
    made: Operation | None = None  # as of an array of JAX
    form: Form | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Fetch:
    """A call of a NumPy function on an array of JAX; `jitted` as of that array."""

    node: ast.AST
    function: str
    jitted: str
