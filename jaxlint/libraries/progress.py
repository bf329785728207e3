"""Progress bars: they hand on what they iterate over, and show numbers."""

from __future__ import annotations

from jaxlint.jaxapi.functions import PROGRESS_BARS, PROGRESS_RANGES
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.external_models import LibraryCall, calls, methods
from jaxlint.staging.values import CONTENT, ExternalObject, StarArgument, Static, Value

_BAR = "tqdm.tqdm"
_SHOWN = ("set_postfix", "set_postfix_str", "set_description", "set_description_str")


@calls(*PROGRESS_BARS)
def progress_bar(call: LibraryCall) -> Value:
    given = call.argument(0, "iterable")
    known = given is not None and not isinstance(given, StarArgument)
    return ExternalObject(
        _BAR, kwargs={CONTENT: given} if known and given is not None else {}, node=call.node
    )


@calls(*PROGRESS_RANGES)
def progress_range(call: LibraryCall) -> Value:
    counted = ExternalObject("builtins.range", [*call.args], node=call.node)
    return ExternalObject(_BAR, kwargs={CONTENT: counted}, node=call.node)


@methods(*(f"{_BAR}.{name}" for name in _SHOWN))
def show(call: LibraryCall) -> Value:
    """The bar formats what it shows, in each call."""
    call.machine.part(Conversions).read_on_host("format", call.inputs, call.node, call.frame)
    return Static(None)


@methods(f"{_BAR}.update", f"{_BAR}.close", f"{_BAR}.write", f"{_BAR}.refresh", f"{_BAR}.reset")
def turn(call: LibraryCall) -> Value:
    return Static(None)
