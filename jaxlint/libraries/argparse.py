"""argparse: the arguments of a program, of which the parser says the types."""

from __future__ import annotations

from jaxlint.staging.evaluator.external_models import LibraryCall, attributes, methods
from jaxlint.staging.values import (
    UNKNOWN,
    ExternalObject,
    ListValue,
    Origin,
    Static,
    Unknown,
    Value,
    constant,
)
from jaxlint.staging.values.plain import Measured

_TYPES = {"builtins.int": "int", "builtins.float": "float", "builtins.str": "str"}
_PARSERS = ("argparse.ArgumentParser", "argparse.ArgumentGroup")


@methods(*(f"{parser}.add_argument" for parser in _PARSERS))
def add_argument(call: LibraryCall) -> Value:
    """The parser remembers the arguments that are lists; in an exact analysis, the type of each argument."""
    if call.machine.exact or "nargs" in call.kwargs:
        names = [name for value in call.args if isinstance(name := constant(value), str)]
        dest = constant(call.kwargs["dest"]) if "dest" in call.kwargs else None
        longest = max(names, key=lambda name: name.startswith("--"), default="")
        name = dest if isinstance(dest, str) else longest.lstrip("-").replace("-", "_")
        if name:
            call.made.kwargs[name] = _given(call, name, required=not longest.startswith("-"))
    return UNKNOWN


def _given(call: LibraryCall, name: str, required: bool) -> Value:
    """An argument of one type: a number that the default shows to be no None, or that has to be given."""
    if "nargs" in call.kwargs:
        return _list_of(call, required)
    if constant(call.kwargs.get("action")) in ("store_true", "store_false"):
        return Static(kind="bool")
    if "action" in call.kwargs:
        return UNKNOWN
    asked = call.kwargs.get("type")
    kind = _TYPES.get(getattr(asked, "name", ""), "" if asked is not None else "str")
    default = constant(call.kwargs.get("default"))
    always = required or constant(call.kwargs.get("required")) is True
    if not kind or not (always or type(default).__name__ == kind):
        return UNKNOWN
    if kind == "int":
        return Static(kind="int", measured=Measured("named", (Unknown(Origin(name)),)))
    return Static(kind=kind)


def _list_of(call: LibraryCall, required: bool) -> Value:
    """The list of an argument with `nargs`, unless a default of another type may stand in its place."""
    given = constant(call.kwargs["nargs"])
    several = given in ("+", "*") or type(given) is int
    default = call.kwargs.get("default")
    always = required or constant(call.kwargs.get("required")) is True or isinstance(default, ListValue)
    if not several or not always or "action" in call.kwargs:
        return UNKNOWN
    asked = call.kwargs.get("type")
    kind = _TYPES.get(getattr(asked, "name", ""), "" if asked is not None else "str")
    return ListValue(None, Static(kind=kind) if kind else UNKNOWN, stage=call.frame.stage)


@methods(*(f"{parser}.add_argument_group" for parser in _PARSERS))
def add_argument_group(call: LibraryCall) -> Value:
    """A group adds its arguments to the parser."""
    return ExternalObject(_PARSERS[1], [], call.made.kwargs, call.node)


@methods("argparse.ArgumentParser.parse_args")
def parse_args(call: LibraryCall) -> Value:
    return ExternalObject("argparse.Namespace", [], dict(call.made.kwargs))


@attributes("argparse.Namespace.*", "types.SimpleNamespace.*")
def in_namespace(call: LibraryCall) -> Value:
    return call.made.kwargs.get(call.name.rpartition(".")[2], UNKNOWN)
