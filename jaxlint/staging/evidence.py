"""What a finding rests on: the code around it, or also what other files do with it."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.staging.events import Event
from jaxlint.staging.frame import Frame
from jaxlint.staging.project import Module
from jaxlint.staging.stage import Why
from jaxlint.staging.values import Array, Transformed


def leaves_the_file(event: Event) -> bool:
    """Whether what stages the code at hand, or makes its value a tracer, lies partly in another file.

    Such findings were right far less often in code that nobody had looked at (benchmarks/results/unseen.md): what other
    files pass depends on settings and classes that may be others when the program runs.
    """
    here = event.frame.module
    return any(module is not here for module in _modules(event))


def _modules(event: Event) -> Iterator[Module]:
    """The files of the calls from the staged function to here, of what stages it, and of what is said of the values."""
    frame: Frame | None = event.frame
    stage = event.frame.stage
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
