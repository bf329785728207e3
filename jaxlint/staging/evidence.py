"""What a finding rests on: the code around it, or also what other files and tests do with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.finding import Severity
from jaxlint.staging.events import Event
from jaxlint.staging.project import Module
from jaxlint.staging.values import Array, Transformed
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import Why
from jaxlint.syntax.facts import nodes_of


def severity_of(event: Event) -> Severity:
    """How sure an error is that rests on how the code is called.

    Where what stages the code or makes its value a tracer lies partly in another file, it was right far less often in
    code that nobody had looked at (benchmarks/results/unseen.md): settings and classes may be others when the program
    runs. Where a test leads to it, the test would fail, and tell as much; most do not.
    """
    way = [event.frame, *event.frame.callers()]
    if any(_is_test(frame) for frame in way) or _is_left_to_tests(way[-1]):
        return Severity.INFO
    here = event.frame.module
    return Severity.ERROR if all(module is here for module in _modules(event)) else Severity.WARNING


def _is_test(frame: Frame) -> bool:
    """Whether it is what pytest and unittest run, rather than a function that happens to stand in a file of tests."""
    function = frame.function
    return (
        frame.module.is_test
        and function is not None
        and (function.name.startswith(("test", "setUp")) or function.kind == "fixture")
    )


def _is_left_to_tests(frame: Frame) -> bool:
    """Whether nothing is seen to call it, and it stands beside tests: these do, by a table or a decorator, perhaps to see it fail."""
    if frame.context != "entry" or not frame.module.is_test:
        return False
    return any(function.name.startswith("test") for function in nodes_of(frame.module.tree, ast.FunctionDef))


def _modules(event: Event) -> Iterator[Module]:
    """The files of the calls from the staged function to here, of what stages it, and of what is said of the values."""
    frame: Frame | None = event.frame
    stage = event.frame.stage
    yield event.frame.module
    while frame is not None and frame.stage is stage and stage.staged:
        yield frame.module
        frame = frame.caller
    yield from _places(stage.why)
    transformed = getattr(event, "transformed", None)
    if isinstance(transformed, Transformed):
        yield from _places(transformed.why)
    value = getattr(event, "value", None)
    if isinstance(value, Array):
        yield from _places(value.why)


def _places(why: Why | None) -> Iterator[Module]:
    while why is not None:
        if why.module is not None:
            yield why.module
        why = why.cause
