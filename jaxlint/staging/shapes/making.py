"""Shapes of arrays created from sizes and numbers, and of random draws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from jaxlint.staging.shapes.applied import Applied, Result, broadcast, shapes
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import Static, Value, is_none, kind_of_static
from jaxlint.staging.values.sizes import Size, add, divide, product, subtract, symbol


@shapes("numpy.zeros numpy.ones numpy.empty numpy.full lax.full lax.broadcasted_iota")
def filled(applied: Applied) -> Result:
    position = 1 if applied.name.endswith("iota") else 0
    return applied.sizes(position, "shape")


@shapes(
    "numpy.zeros_like numpy.ones_like numpy.empty_like numpy.full_like lax.full_like lax.zeros_like_array"
)
def like(applied: Applied) -> Result:
    if applied.given(99, "shape") is not None:
        return applied.sizes(99, "shape")
    full = applied.name.endswith("full_like")
    if len(applied.args) > (3 if full else 2):
        return applied.sizes(3 if full else 2)
    return applied.shape(0, "a", "x", "prototype")


@shapes("numpy.array numpy.asarray numpy.asanyarray numpy.ascontiguousarray device_put device_get")
def converted(applied: Applied) -> Result:
    if applied.given(99, "ndmin") is not None:
        applied.unclear()
    return applied.shape(0, "object", "a", "x")


@shapes(
    """numpy.float32 numpy.float16 numpy.bfloat16 numpy.float64 numpy.int32 numpy.int64 numpy.int16 numpy.int8 numpy.uint8
    numpy.uint16 numpy.uint32 numpy.uint64 numpy.bool_ numpy.complex64 numpy.complex128"""
)
def scalar(applied: Applied) -> Result:
    return applied.shape(0, "x")


@shapes("numpy.arange")
def arange(applied: Applied) -> Result:
    applied.only("dtype", "start", "stop", "step", "device")
    given = [
        value
        for i, name in enumerate(("start", "stop", "step"))
        if (value := applied.given(i, name)) is not None
    ]
    bounds = [constant(value) for value in given]
    if given and all(type(bound) in (int, float) for bound in bounds):
        start, stop, step = ([0, *bounds, 1] if len(bounds) == 1 else [*bounds, 1])[:3]
        return (max(0, math.ceil((stop - start) / step)),) if step else applied.unclear()
    integral = all(not isinstance(v, Static) or kind_of_static(v) in ("int", "") for v in given)
    if len(given) == 1 and integral:
        return (applied.size(0, "stop", "start"),)
    if len(given) == 2 and integral:
        start, stop = applied.size(0, "start"), applied.size(1, "stop")
        return (subtract(stop, start),) if start == 0 else applied.unclear()
    return applied.unclear()


@shapes("numpy.linspace numpy.logspace numpy.geomspace")
def linspace(applied: Applied) -> Result:
    if not {"axis", "retstep"}.isdisjoint(applied.kwargs) or len(applied.args) > 5:
        applied.unclear()
    ends = broadcast(applied, applied.needed(0, "start"), applied.needed(1, "stop"))
    return (applied.size(2, "num", otherwise=50), *ends)


@shapes("numpy.eye numpy.identity numpy.tri lax.eye")
def eye(applied: Applied) -> Result:
    rows = applied.size(0, "N", "n")
    second = None if applied.name.endswith("identity") else applied.given(1, "M")
    return (rows, rows if second is None else applied.size(1, "M"))


@shapes("lax.iota")
def iota(applied: Applied) -> Result:
    return (applied.size(1, "size"),)


@shapes("numpy.indices")
def indices(applied: Applied) -> Result:
    applied.only("dtype", "dimensions")
    sizes = applied.sizes(0, "dimensions")
    return (len(sizes), *sizes)


@shapes("numpy.meshgrid")
def meshgrid(applied: Applied) -> Result:
    """Each of the arrays in the result."""
    applied.only("indexing")
    indexing = applied.text(99, "indexing") if "indexing" in applied.kwargs else "xy"
    sides = [product(applied.shape_of(arg)) for arg in applied.args]
    if indexing == "xy" and len(sides) > 1:
        sides[:2] = sides[1::-1]
    return tuple(sides)


@shapes("numpy.fft.fftfreq numpy.fft.rfftfreq")
def frequencies(applied: Applied) -> Result:
    size = applied.size(0, "n")
    if applied.name.endswith(".fftfreq"):
        return (size,)
    half = divide(size, 2)
    return (add(half, 1),) if half is not None else applied.unclear()


@shapes("numpy.hanning numpy.hamming numpy.blackman numpy.bartlett numpy.kaiser")
def window(applied: Applied) -> Result:
    return (applied.size(0, "M"),)


@shapes("random.key random.PRNGKey random.fold_in random.wrap_key_data random.clone")
def key(applied: Applied) -> Result:
    return applied.unclear()  # its maker decides whether it is one new key, or two numbers


# Random draws: the position of the shape, and of parameters that are broadcast if there is no shape.
_SHAPE_AT: dict[str, tuple[int, tuple[tuple[int, str], ...] | None]] = {
    "normal": (1, ()),
    "uniform": (1, ()),
    "bits": (1, ()),
    "exponential": (1, ()),
    "gumbel": (1, ()),
    "laplace": (1, ()),
    "logistic": (1, ()),
    "cauchy": (1, ()),
    "rademacher": (1, ()),
    "maxwell": (1, ()),
    "randint": (1, None),
    "truncated_normal": (3, ((1, "lower"), (2, "upper"))),
    "bernoulli": (2, ((1, "p"),)),
    "gamma": (2, ((1, "a"),)),
    "loggamma": (2, ((1, "a"),)),
    "chisquare": (2, ((1, "df"),)),
    "t": (2, ((1, "df"),)),
    "pareto": (2, ((1, "b"),)),
    "poisson": (2, ((1, "lam"),)),
    "rayleigh": (2, ((1, "scale"),)),
    "geometric": (2, ((1, "p"),)),
    "beta": (3, ((1, "a"), (2, "b"))),
    "binomial": (3, ((1, "n"), (2, "p"))),
    "f": (3, ((1, "dfnum"), (2, "dfden"))),
    "wald": (2, ((1, "mean"),)),
    "weibull_min": (3, None),
    "triangular": (4, None),
    "lognormal": (2, ((1, "sigma"),)),
    "generalized_normal": (2, None),
    "double_sided_maxwell": (3, None),
}


@shapes(" ".join(f"random.{name}" for name in _SHAPE_AT))
def drawn(applied: Applied) -> Result:
    position, parameters = _SHAPE_AT[applied.name.removeprefix("random.")]
    if applied.given(position, "shape") is not None:
        return applied.sizes(position, "shape")
    if parameters is None:
        applied.unclear()
    # A bernoulli draw without a shape is as large as `p`, which has a default.
    operands = [v for i, name in parameters if (v := applied.given(i, name)) is not None]
    return broadcast(applied, *operands)


@shapes("random.categorical")
def categorical(applied: Applied) -> Result:
    if not {"replace", "mode"}.isdisjoint(applied.kwargs) or len(applied.args) > 3:
        applied.unclear()
    if applied.given(3, "shape") is not None:
        return applied.sizes(3, "shape")
    logits = applied.shape(1, "logits")
    axis = applied.axis(len(logits), 2, "axis", otherwise=-1)
    return (*logits[:axis], *logits[axis + 1 :])


@shapes("random.dirichlet")
def dirichlet(applied: Applied) -> Result:
    alpha = applied.shape(1, "alpha")
    batch = alpha[:-1] if applied.given(2, "shape") is None else applied.sizes(2, "shape")
    return (*batch, *alpha[-1:])


@shapes("random.multivariate_normal")
def multivariate_normal(applied: Applied) -> Result:
    mean = applied.shape(1, "mean")
    if applied.given(3, "shape") is not None:
        return (*applied.sizes(3, "shape"), *mean[-1:])
    cov = applied.shape(2, "cov")
    return mean if len(cov) == 2 else applied.unclear()


@shapes("random.permutation")
def permutation(applied: Applied) -> Result:
    value = applied.needed(1, "x")
    if isinstance(value, Static):
        return (applied.size(1, "x"),)
    return applied.shape_of(value) or applied.unclear()  # a number in an array stands for as many


@shapes("random.choice")
def choice(applied: Applied) -> Result:
    shape = applied.sizes(2, "shape") if applied.given(2, "shape") is not None else ()
    value = applied.needed(1, "a")
    if isinstance(value, Static):
        return shape
    whole = applied.shape_of(value)
    if not whole:
        return shape  # a number in an array
    axis = applied.axis(len(whole), 5, "axis", otherwise=0)
    return (*whole[:axis], *shape, *whole[axis + 1 :])


@shapes("random.orthogonal")
def orthogonal(applied: Applied) -> Result:
    size: Size = applied.size(1, "n")
    shape = applied.sizes(2, "shape") if applied.given(2, "shape") is not None else ()
    return applied.unclear() if applied.given(4, "m") is not None else (*shape, size, size)


@shapes("random.ball")
def ball(applied: Applied) -> Result:
    shape = applied.sizes(3, "shape") if applied.given(3, "shape") is not None else ()
    return (*shape, applied.size(1, "d"))


# -- NumPy's random numbers


@shapes("numpy.random.rand numpy.random.randn")
def drawn_by_sizes(applied: Applied) -> Result:
    return tuple(applied.size(position) for position in range(len(applied.args)))


# The position of the size, after the parameters that are numbers.
_NUMPY_SIZE_AT = {
    "normal": 2, "uniform": 2, "standard_normal": 0, "random": 0, "random_sample": 0, "randint": 2, "integers": 2,
    "exponential": 1, "poisson": 1, "beta": 2, "gamma": 2,
}  # fmt: skip


def draws_several(name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> bool:
    """Whether a call of NumPy's random numbers is given a size, so that it returns an array."""
    short = name.rpartition(".")[2]
    if short in ("rand", "randn", "permutation", "permuted"):
        return bool(args)
    size = kwargs.get("size", args[at] if (at := _NUMPY_SIZE_AT.get(short, len(args))) < len(args) else None)
    return size is not None and not is_none(size)


@shapes(" ".join(f"numpy.random.{name}" for name in _NUMPY_SIZE_AT))
def drawn_by_numpy(applied: Applied) -> Result:
    position = _NUMPY_SIZE_AT[applied.name.rpartition(".")[2]]
    if applied.given(position, "size") is None:
        return broadcast(applied, *applied.args)
    return applied.sizes(position, "size")


@shapes("numpy.random.permutation numpy.random.permuted")
def shuffled_by_numpy(applied: Applied) -> Result:
    """A permutation of an array, or of as many numbers as a number says."""
    value = applied.needed(0, "x")
    return (applied.size(0, "x"),) if isinstance(value, Static) else applied.shape_of(value)


@shapes("numpy.random.choice")
def chosen_by_numpy(applied: Applied) -> Result:
    size = applied.sizes(1, "size") if applied.given(1, "size") is not None else ()
    value = applied.needed(0, "a")
    if isinstance(value, Static):
        return size
    whole = applied.shape_of(value)
    axis = applied.axis(len(whole), 4, "axis", otherwise=0)
    return (*whole[:axis], *size, *whole[axis + 1 :])


@shapes("numpy.flatnonzero numpy.unique_values")
def as_many_as_there_are(applied: Applied) -> Result:
    applied.only("a", "x", "size", "fill_value")
    return (applied.size(99, "size", otherwise=symbol("?")),)
