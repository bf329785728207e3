"""The evidence behind a finding: the nearby code alone, or also other files and tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.finding import Severity
from jaxlint.staging.events import Event
from jaxlint.staging.module import Module
from jaxlint.staging.values import Array, Transformed
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import Why
from jaxlint.syntax.facts import nodes_of


def severity_of(event: Event) -> Severity:
    """The severity of an error that depends on how the code is called.

    If the transformation or the source of the tracer is partly in another file, errors were right far less often in
    unseen code (benchmarks/results/unseen.md): settings and classes may differ at run time. If a test leads to the
    code, that test would fail and show the error; most do not.
    """
    way = [event.frame, *event.frame.callers()]
    if any(_is_test(frame) for frame in way) or _is_left_to_tests(way[-1]):
        return Severity.INFO
    here = event.frame.module
    return Severity.ERROR if all(module is here for module in _modules(event)) else Severity.WARNING


def _is_test(frame: Frame) -> bool:
    """Whether pytest or unittest runs it, as opposed to a helper in a test file."""
    function = frame.function
    return (
        frame.module.is_test
        and function is not None
        and (function.name.startswith(("test", "setUp")) or function.kind == "fixture")
    )


def _is_left_to_tests(frame: Frame) -> bool:
    """Whether no call of it is visible and it stands beside tests. A table or a decorator of the tests may call it,
    perhaps to see it fail."""
    if frame.context != "entry" or not frame.module.is_test:
        return False
    return any(function.name.startswith("test") for function in nodes_of(frame.module.tree, ast.FunctionDef))


def _modules(event: Event) -> Iterator[Module]:
    """The files of the evidence: of the calls from the traced function to here, of its transformation, and of the
    facts about the values."""
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
