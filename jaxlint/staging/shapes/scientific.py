"""Shapes of the results of SciPy: integrals, filters, transforms and distances."""

from __future__ import annotations

from jaxlint.staging.shapes.applied import Applied, Result, Shape, shapes
from jaxlint.staging.values.sizes import Size, subtract

_FULL, _SAME, _VALID = "full", "same", "valid"


def _below(prefix: str, names: str) -> str:
    return " ".join(f"{prefix}.{name}" for name in names.split())


# Functions of NumPy arrays that return one array, with a shape rule here or beside those of JAX.
INTEGRALS = _below("scipy.integrate", "simpson trapezoid cumulative_trapezoid cumulative_simpson")
FILTERS = _below(
    "scipy.ndimage",
    """gaussian_filter gaussian_filter1d uniform_filter uniform_filter1d median_filter maximum_filter minimum_filter
    gaussian_laplace gaussian_gradient_magnitude laplace sobel prewitt convolve convolve1d correlate correlate1d
    binary_dilation binary_erosion binary_opening binary_closing grey_dilation grey_erosion shift spline_filter""",
)
SIGNALS = _below("scipy.signal", "detrend hilbert savgol_filter medfilt wiener")
WAVES = _below("scipy.fft", "dct idct dst idst fft ifft")
ARRAYS = frozenset(
    [
        *(name for names in (INTEGRALS, FILTERS, SIGNALS, WAVES) for name in names.split()),
        "scipy.signal.lfilter",
        "scipy.signal.filtfilt",
        "scipy.signal.sosfilt",
        "scipy.signal.sosfiltfilt",
        "scipy.signal.convolve",
        "scipy.signal.fftconvolve",
        "scipy.signal.correlate",
        "scipy.ndimage.map_coordinates",
        "scipy.fft.rfft",
        "scipy.spatial.distance.cdist",
        "scipy.spatial.distance.pdist",
        *(
            f"scipy.special.{name}"
            for name in """erf erfc erfinv expit gammaln digamma entr exprel i0 i0e i1 i1e log_ndtr log_softmax logit
            ndtr ndtri gamma loggamma softmax logsumexp xlogy xlog1py rel_entr kl_div betaln gammainc gammaincc zeta
            polygamma beta binom jv yv iv kv""".split()  # noqa: SIM905
        ),
        *(f"scipy.linalg.{name}" for name in ("inv", "expm", "sqrtm", "solve", "solve_triangular", "det")),
    ]
)


@shapes("scipy.integrate.simpson scipy.integrate.trapezoid")
def integral(applied: Applied) -> Result:
    applied.only("x", "dx", "axis")
    shape = applied.shape(0, "y")
    axis = applied.axis(len(shape), 3, "axis", otherwise=-1)
    return (*shape[:axis], *shape[axis + 1 :])


@shapes("scipy.integrate.cumulative_trapezoid scipy.integrate.cumulative_simpson")
def running_integral(applied: Applied) -> Result:
    applied.only("x", "dx", "axis", "initial")
    shape = applied.shape(0, "y")
    axis = applied.axis(len(shape), 3, "axis", otherwise=-1)
    if applied.given(4, "initial") is not None:
        return shape
    return (*shape[:axis], _or_unclear(applied, subtract(shape[axis], 1)), *shape[axis + 1 :])


def _or_unclear(applied: Applied, size: Size | None) -> Size:
    return applied.unclear() if size is None else size


@shapes(FILTERS, SIGNALS)
def filtered(applied: Applied) -> Result:
    if "output" in applied.kwargs:
        applied.unclear()
    return applied.shape(0, "input", "x", "data", "volume", "im")


@shapes("scipy.signal.lfilter scipy.signal.filtfilt")
def filtered_by_two(applied: Applied) -> Result:
    applied.only("axis")  # with initial conditions, the final ones come with the result
    return applied.shape(2, "x") if len(applied.args) <= 4 else applied.unclear()


@shapes("scipy.signal.sosfilt scipy.signal.sosfiltfilt")
def filtered_by_sections(applied: Applied) -> Result:
    applied.only("axis")
    return applied.shape(1, "x") if len(applied.args) <= 3 else applied.unclear()


@shapes("scipy.signal.convolve scipy.signal.fftconvolve scipy.signal.correlate")
def convolution(applied: Applied) -> Result:
    applied.only("mode", "method")
    one, two = applied.shape(0, "in1"), applied.shape(1, "in2")
    mode = applied.text(2, "mode") if applied.given(2, "mode") is not None else _FULL
    if len(one) != len(two):
        applied.unclear()
    if mode == _SAME:
        return one
    found: list[Size] = []
    for a, b in zip(one, two, strict=True):
        if not isinstance(a, int) or not isinstance(b, int) or mode not in (_FULL, _VALID):
            applied.unclear()
        found.append(a + b - 1 if mode == _FULL else abs(a - b) + 1)
    if mode == _VALID and not (_covers(one, two) or _covers(two, one)):
        applied.unclear()
    return tuple(found)


def _covers(one: Shape, two: Shape) -> bool:
    return all(isinstance(a, int) and isinstance(b, int) and a >= b for a, b in zip(one, two, strict=True))


@shapes("scipy.ndimage.map_coordinates")
def mapped(applied: Applied) -> Result:
    if "output" in applied.kwargs:
        applied.unclear()
    return applied.shape(1, "coordinates")[1:]


@shapes(WAVES, "scipy.fft.rfft")
def transformed(applied: Applied) -> Result:
    cosines = applied.name.rpartition(".")[2] in ("dct", "idct", "dst", "idst")
    at = 2 if cosines else 1
    applied.only("n", "axis", "norm", "type")
    shape = applied.shape(0, "x")
    axis = applied.axis(len(shape), at + 1, "axis", otherwise=-1)
    size = applied.size(at, "n") if applied.given(at, "n") is not None else shape[axis]
    if applied.name.endswith("rfft"):
        if not isinstance(size, int):
            applied.unclear()
        size = size // 2 + 1
    return (*shape[:axis], size, *shape[axis + 1 :])


@shapes("scipy.spatial.distance.cdist")
def distances(applied: Applied) -> Result:
    one, two = applied.shape(0, "XA"), applied.shape(1, "XB")
    return (one[0], two[0]) if len(one) == len(two) == 2 else applied.unclear()


@shapes("scipy.spatial.distance.pdist")
def distances_of_pairs(applied: Applied) -> Result:
    shape = applied.shape(0, "X")
    if len(shape) != 2 or not isinstance(shape[0], int):
        applied.unclear()
    return (shape[0] * (shape[0] - 1) // 2,)
