"""Shapes of windows, densities, choices and blocks."""

from __future__ import annotations

from jaxlint.staging.shapes.applied import Applied, Result, broadcast, shapes
from jaxlint.staging.shapes.elementwise import reduced
from jaxlint.staging.values.arrays import Shape
from jaxlint.staging.values.objects import ListValue, TupleValue
from jaxlint.staging.values.plain import Value
from jaxlint.staging.values.sizes import Size, add, symbol

_FULL, _SAME, _VALID = "full", "same", "valid"
_DISTRIBUTIONS = """norm beta cauchy chi2 expon gamma laplace logistic t truncnorm uniform pareto geom poisson bernoulli
binom betabinom nbinom vonmises wrapcauchy gennorm""".split()  # noqa: SIM905
_OF_A_DISTRIBUTION = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")


@shapes(*(f"scipy.stats.{name}.{function}" for name in _DISTRIBUTIONS for function in _OF_A_DISTRIBUTION))
def density(applied: Applied) -> Result:
    """The point and all parameters broadcast."""
    return broadcast(applied, *applied.args, *applied.kwargs.values())


@shapes("numpy.select")
def choice(applied: Applied) -> Result:
    """Conditions and choices broadcast, and so does the default."""
    applied.only("condlist", "choicelist", "default")
    tests, values = applied.needed(0, "condlist"), applied.needed(1, "choicelist")
    otherwise = applied.given(2, "default")
    rest = [] if otherwise is None else [otherwise]
    return broadcast(applied, *applied.items(tests), *applied.items(values), *rest)


@shapes("numpy.block")
def block(applied: Applied) -> Result:
    """Nested lists of arrays of one rank, joined along the last axes."""
    return _joined(applied, applied.needed(0, "arrays"), -1)


def _joined(applied: Applied, value: Value, axis: int) -> Shape:
    if not isinstance(value, (ListValue, TupleValue)):
        return applied.shape_of(value)
    deeper = any(isinstance(item, (ListValue, TupleValue)) for item in applied.items(value))
    parts = [_joined(applied, item, -1) for item in applied.items(value)]
    rank = len(parts[0]) if parts else 0
    at = -2 if deeper else axis
    if any(len(part) != rank for part in parts) or rank < -at:
        applied.unclear()
    total: Size = 0
    for part in parts:
        total = add(total, part[at])
    found = list(parts[0])
    found[at] = total
    return tuple(found)


@shapes("numpy.convolve numpy.correlate")
def convolve(applied: Applied) -> Result:
    applied.only("a", "v", "mode")
    one, two = applied.shape(0, "a"), applied.shape(1, "v")
    if len(one) != 1 or len(two) != 1 or not isinstance(one[0], int) or not isinstance(two[0], int):
        applied.unclear()
    most, least = max(one[0], two[0]), min(one[0], two[0])
    default = _FULL if applied.name == "numpy.convolve" else _VALID
    mode = applied.text(2, "mode") if applied.given(2, "mode") is not None else default
    sizes = {_FULL: most + least - 1, _SAME: most, _VALID: most - least + 1}
    return (sizes[mode],) if mode in sizes else applied.unclear()


@shapes("numpy.trapezoid")
def trapezoid(applied: Applied) -> Result:
    applied.only("x", "dx", "axis")
    shape = applied.shape(0, "y")
    return reduced(shape, (applied.axis(len(shape), 3, "axis", otherwise=-1),), False)


@shapes("numpy.unique")
def unique(applied: Applied) -> Result:
    """Other arrays may come with it."""
    applied.only("size", "fill_value")
    return (applied.size(99, "size", otherwise=symbol("?")),)


@shapes("lax.reduce")
def reduce_of_any(applied: Applied) -> Result:
    applied.only("operand", "init_values", "computation", "dimensions")
    shape = applied.shape(0, "operand")
    return reduced(shape, applied.axes(len(shape), 3, "dimensions"), False)


@shapes("lax.associative_scan")
def associative_scan(applied: Applied) -> Result:
    applied.only("reverse", "axis")
    return applied.shape(1, "elems")


@shapes("lax.reduce_window")
def reduce_window(applied: Applied) -> Result:
    """One result for each place of the window."""
    applied.only("operand", "init_value", "computation", "window_dimensions", "window_strides", "padding")
    shape = applied.shape(0, "operand")
    window = applied.numbers(3, "window_dimensions")
    strides = applied.numbers(4, "window_strides")
    if not len(shape) == len(window) == len(strides) or min(strides, default=1) < 1:
        applied.unclear()
    padding = applied.const(applied.needed(5, "padding"))
    found: list[Size] = []
    for axis, (size, wide, step) in enumerate(zip(shape, window, strides, strict=True)):
        if wide == step == 1:
            found.append(size)
        elif not isinstance(size, int):
            applied.unclear()
        else:
            found.append(_places(applied, size, wide, step, padding, axis))
    return tuple(found)


def _places(applied: Applied, size: int, wide: int, step: int, padding: object, axis: int) -> int:
    if padding == "SAME":
        return -(-size // step)
    if isinstance(padding, tuple) and axis < len(padding) and isinstance(padding[axis], tuple):
        size += sum(padding[axis])
    elif padding != "VALID":
        applied.unclear()
    return max(0, (size - wide) // step + 1)
