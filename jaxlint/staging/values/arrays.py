"""JAX and NumPy arrays, and the operations that made them."""

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
    """The operation that made an array. `name`: as in `jax.numpy` ("exp", "add"; methods and operators too), or a
    full name.

    `args` is empty beyond a certain depth, which bounds the memory that an array keeps alive.
    """

    name: str
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    node: ast.AST
    depth: int = 0
    full: str = ""  # the canonical name, such as "jax.lax.reduce_max"; empty for operators

    def operand(self, position: int, keyword: str = "") -> Value | None:
        """An argument by position or keyword; None if the call does not pass it."""
        if position < len(self.args):
            return self.args[position]
        return self.kwargs.get(keyword)


NEW_REF = "jax.new_ref"  # the operation that makes a reference to an array


class Form:
    """What is known about the shape of an array beyond its operation. Several values may describe one array.

    `shape`: the result, once computed; None if it is unknown. `misfit`: why there is no shape, if the operands
    certainly do not fit. The other fields are the inputs of that computation. `how` says how the shape follows from
    the arrays `of`: "" from the operation, or from the only array of `of`; "row": without `axis`; "stacked": with a
    new `axis`, as long as `along` says (an array and one of its axes, or a number); "either": one of `of`; "grown":
    from the operation, in a loop that began with another shape; "layer": from `made`, an operation that no rule sees;
    "declared": from `symbols`; "hidden": unknown. `rank` and `names` come from the program, by `B, T = x.shape`.
    `equal`: the only array of `of` has the same elements too. `first`: it has them in the first step of a loop.
    """

    __slots__ = (
        "along",
        "asked",
        "axis",
        "equal",
        "first",
        "how",
        "made",
        "misfit",
        "names",
        "of",
        "rank",
        "shape",
        "symbols",
    )

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
        self.equal = False
        self.first = False
        self.of = of
        self.axis = axis
        self.along = along
        self.made = made
        self.rank: int | None = None
        self.names: dict[int, str] = {}
        self.symbols: dict[int, Size] = {}


@dataclass(slots=True, eq=False)
class Array(Value):
    """A JAX array, or (with `tree`) a pytree of arrays with unknown structure.

    `staged`: it is a tracer here. `certain`: it is an array on every run that reaches this place. `like`: the
    parameter whose shape and dtype it certainly shares. `mixed`: on other paths it is a setting (None, a bool, text).
    `partly`: on other paths it is an array that is not a tracer.
    """

    staged: bool
    why: Why | None = None
    tree: bool = False
    certain: bool = True
    origin: Origin | None = None
    like: Origin | None = None
    role: str = ""  # "key", "grad", "bool", "ref", "variables" (of a flax module), "declared" (by annotation) ... where known
    jitted: str = ""  # the jitted function that returned it, if it is concrete
    dtype: str = ""  # where known; "float*" and "int*" are weak (see jaxlint.jaxapi.dtypes)
    made: Operation | None = None  # the operation that made it, if known
    flow: Flow | None = None  # it depends on a differentiated value
    mixed: bool = False
    partly: bool = False
    rowless: bool = False  # its first axis has no elements, so a loop over it never runs
    answer: bool = False  # unread code computed it from tracers: perhaps whether they are tracers
    form: Form | None = None

    @property
    def is_reference(self) -> bool:
        """Whether it is a `jax.new_ref`: not an array, and read by `ref[...]`."""
        return self.role == "ref" and self.made is not None and self.made.name == NEW_REF

    def known_as(self, origin: Origin | None) -> Array:
        """The same array under another identity. (Like `dataclasses.replace`, in a fifth of the time.)"""
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

    fresh: bool = False  # created in this function by np.zeros and the like, so it is writable
    dtype: str = ""  # where known: "float64", "int64" ...
    fetched: Fetch | None = None  # NumPy computed it from a JAX array
    shares: bool = False  # it shares the memory of a JAX array, so it is read-only
    rowless: bool = False  # as in `Array`
    made: Operation | None = None  # as in `Array`
    form: Form | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Fetch:
    """A call of a NumPy function on a JAX array. `jitted`: as in that array."""

    node: ast.AST
    function: str
    jitted: str
