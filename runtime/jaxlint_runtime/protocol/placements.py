"""One placement of a function's arrays on a mesh, to be compiled in another process, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from jaxlint_runtime.protocol.json_records import Message, Plain


@dataclass(frozen=True, slots=True)
class PlacementQuestion(Message):
    """A program for the compiler of a target. `module` and `options` are binary data as text (`sharding.compiling`)."""

    number: int
    target: str
    mesh: tuple[tuple[str, int], ...]  # names and sizes of its axes
    devices: tuple[int, ...]
    module: str
    options: str
    environment: dict[str, str]  # settings of JAX where the program ran


@dataclass(frozen=True, slots=True)
class PlacementAnswer(Message):
    """The figures of a compiled placement (`sharding.placed_program.Figures`); without them, `reason` says why not.

    `memory`: bytes that it needs, and those of the device, if it does not fit. `at_home`: no job can compile it, so the process of
    the program has to.
    """

    number: int
    figures: Plain | None = None
    reason: str = ""
    memory: tuple[int, int] | None = None
    at_home: bool = False
