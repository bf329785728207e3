"""inspect.signature: wrappers that sort the arguments of a call by parameter names."""

from __future__ import annotations

from jaxlint.staging.evaluator.binding import Binding
from jaxlint.staging.evaluator.external_models import LibraryCall, attributes, calls, methods, nothing
from jaxlint.staging.values import (
    UNKNOWN,
    BoundMethod,
    Choice,
    DictValue,
    ExternalObject,
    Function,
    Partial,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    join_all,
)
from jaxlint.syntax.facts import all_parameters, positional_parameters

_SIGNATURE = "inspect.signature"  # only created here: a call of the function never returns it
_BOUND = "inspect.signature.bind"


@calls(_SIGNATURE)
def signature(call: LibraryCall) -> Value:
    return ExternalObject(_SIGNATURE, call.args[:1]) if call.args else UNKNOWN


@attributes(f"{_SIGNATURE}.parameters")
def parameters(call: LibraryCall) -> Value:
    """`signature(target).parameters`: the names; the properties of a parameter stay unknown."""
    leading = 0  # a method's receiver and the positional arguments of a partial are not parameters
    target = call.made.args[0]
    while not isinstance(target, Function):
        if isinstance(target, Transformed):
            target = target.target
        elif isinstance(target, Partial):
            leading += len(target.args)
            target = target.function
        elif isinstance(target, BoundMethod):
            leading += 1
            target = target.function
        else:
            return UNKNOWN
    filled = {parameter.arg for parameter in positional_parameters(target.node)[:leading]}
    return DictValue(
        {parameter.arg: UNKNOWN for parameter in all_parameters(target.node) if parameter.arg not in filled}
    )


@methods(f"{_SIGNATURE}.bind", f"{_SIGNATURE}.bind_partial")
def bind(call: LibraryCall) -> Value:
    return _bound(call, call.made.args[0], call.args, call.kwargs)


def _bound(call: LibraryCall, target: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The result of `signature(target).bind(*args, **kwargs)`, with defaults filled in."""
    if isinstance(target, Choice):
        return join_all([_bound(call, option, args, kwargs) for option in target.options])
    skipped: set[str] = set()
    leading = 0  # arguments that the target holds, so that its signature lacks them
    while not isinstance(target, Function):
        if isinstance(target, Transformed):
            target = target.target
        elif isinstance(target, Partial):
            skipped.update(name for name in target.kwargs if name not in kwargs)
            args, kwargs = [*target.args, *args], {**target.kwargs, **kwargs}
            leading += len(target.args)
            target = target.function
        elif isinstance(target, BoundMethod) and isinstance(target.function, Function):
            args = [target.receiver, *args]
            leading += 1
            target = target.function
        else:
            return UNKNOWN
    bound = call.machine.part(Binding).bind(target, args, kwargs, None)
    if bound is None:
        return UNKNOWN
    passed = {id(value) for value in (*args, *kwargs.values())}
    given = {
        name: value for name, value in bound.items() if not isinstance(value, Unknown) or id(value) in passed
    }
    parameters = target.node.args
    positional: list[Value] = [
        given[parameter.arg] for parameter in positional_parameters(target.node) if parameter.arg in given
    ]
    rest = bound.get(parameters.vararg.arg) if parameters.vararg is not None else None
    if isinstance(rest, TupleValue):
        positional = positional + rest.items if rest.items is not None else []
    skipped.update(parameter.arg for parameter in positional_parameters(target.node)[:leading])
    named: dict[object, Value] = {
        parameter.arg: given[parameter.arg] for parameter in parameters.kwonlyargs if parameter.arg in given
    }
    more = bound.get(parameters.kwarg.arg) if parameters.kwarg is not None else None
    if isinstance(more, DictValue):
        named.update(more.items)
    everything: dict[object, Value] = {name: value for name, value in given.items() if name not in skipped}
    return ExternalObject(
        _BOUND,
        [],
        {
            "args": TupleValue(positional[leading:]),
            "kwargs": DictValue(named, more.element if isinstance(more, DictValue) else None),
            "arguments": DictValue(everything),
        },
    )


@attributes(f"{_BOUND}.args", f"{_BOUND}.kwargs", f"{_BOUND}.arguments")
def part(call: LibraryCall) -> Value:
    return call.made.kwargs[call.name.rpartition(".")[2]]


methods(f"{_BOUND}.apply_defaults")(nothing)  # they are already included
