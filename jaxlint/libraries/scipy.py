"""SciPy: functions and objects that compute with NumPy, and so need concrete values."""

from __future__ import annotations

from jaxlint.staging import events
from jaxlint.staging.evaluator.external_models import LibraryCall, calls, calls_of_made, methods
from jaxlint.staging.shapes.scientific import ARRAYS
from jaxlint.staging.tracking.gradients import Gradients
from jaxlint.staging.values import UNKNOWN, Array, NumpyArray, Operation, Value

_PARTS = "special stats linalg signal ndimage fft optimize interpolate integrate spatial".split()  # noqa: SIM905
_FAMILIES = [f"scipy.{part}.*" for part in _PARTS]
# Functions and classes whose results can be called.
_OBJECTS = frozenset(
    """scipy.interpolate.interp1d scipy.interpolate.interp2d scipy.interpolate.make_interp_spline
    scipy.interpolate.make_smoothing_spline scipy.stats.gaussian_kde""".split()  # noqa: SIM905
)


@calls(*_FAMILIES)
def function(call: LibraryCall) -> Value:
    if not call.name.endswith("Result") and _computes(call):
        return UNKNOWN
    if call.name in ARRAYS and any(isinstance(value, NumpyArray) for value in call.inputs):
        short = call.name.rpartition(".")[2]
        return NumpyArray(made=Operation(short, tuple(call.args), call.kwargs, call.node, 0, call.name))
    return call.made_object() if call.name in _OBJECTS else call.otherwise()


@calls_of_made(*_FAMILIES)
@methods(*(f"{family}.*" for family in _FAMILIES))
def of_object(call: LibraryCall) -> Value:
    return UNKNOWN if _computes(call) else call.opaque()


def _computes(call: LibraryCall) -> bool:
    """Emits an event if an argument is a tracer, and returns whether one is."""
    for value in call.inputs:
        if isinstance(value, Array) and value.staged and not value.tree:
            call.emit("numpy", events.NumpyEvent(call.node, call.frame, value, call.name))
            return True
    carrying = call.machine.part(Gradients).differentiated(call.inputs)
    if carrying is not None:
        call.emit("numpy", events.NumpyEvent(call.node, call.frame, carrying, call.name, True))
    return carrying is not None
