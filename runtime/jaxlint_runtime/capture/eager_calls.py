"""Calls in the user's code that compiled their operations one by one, such as `model.init(key, x)`, and could be
compiled as a whole.

A compile outside jit is counted for each user call on the stack. The outermost call without a jitted function and
without a host sync under it is the one to jit: such calls are set-up code, the others are the program itself. Calls under it
are kept as well, since `jit` cannot return the object that `Trainer(config)` makes.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from jaxlint_runtime.capture.function_identity import Project

_LEAST = 4  # compiles that make a call worth reporting
_PLAIN = (bool, int, str, bytes, type(None), type, types.FunctionType, types.ModuleType, argparse.Namespace)
_MOST_NAMES = 100

Place = tuple[int, int, int, int]  # first and last line, first and last column, as in `ast`


@dataclass(slots=True)
class EagerCall:
    """The compiles under one expression. `plain` has the surrounding names whose values cannot be traced."""

    path: str
    function: str
    place: Place
    plain: dict[str, str]
    compiles: int = 0
    seconds: float = 0.0
    is_program: bool = False  # a jitted function is called under it, or a host sync happens
    outer: set[tuple[types.CodeType, int]] = field(default_factory=set)
    number: int = 0  # among the calls that could be compiled as a whole
    within: tuple[int, ...] = ()  # the numbers of such calls around it

    def as_json(self) -> dict[str, Any]:
        """The call for the report."""
        return {
            "number": self.number,
            "within": list(self.within),
            "path": self.path,
            "line": self.place[0],
            "function": self.function,
            "place": list(self.place),
            "plain": dict(self.plain),
            "compiles": self.compiles,
            "seconds": self.seconds,
        }


class EagerCalls:
    """The calls of one run, by code object and instruction."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._calls: dict[tuple[types.CodeType, int], EagerCall] = {}

    def compiled(self, seconds: float) -> None:
        """An operation was just compiled outside jit, in this thread."""
        with contextlib.suppress(Exception):  # observation must never break the program
            inner: set[tuple[types.CodeType, int]] = set()
            around = list(self._around(sys._getframe(1)))
            for key, call in reversed(around):
                call.compiles += 1
                call.seconds += seconds
                call.outer |= inner
                inner.add(key)

    def is_program(self) -> None:
        """A jitted function is being called, or a host sync happens: the calls on the stack are more than set-up
        code."""
        with contextlib.suppress(Exception):
            for _, call in self._around(sys._getframe(1)):
                call.is_program = True

    def found(self) -> list[EagerCall]:
        """The calls that could be compiled as a whole, the most expensive first, an outer one before those under it."""
        able = {
            key: call for key, call in self._calls.items() if not call.is_program and call.compiles >= _LEAST
        }
        for number, call in enumerate(able.values()):
            call.number = number
        for call in able.values():
            call.within = tuple(sorted(able[key].number for key in call.outer if key in able))
        return sorted(able.values(), key=lambda call: (-call.seconds, len(call.within)))

    def _around(
        self, frame: types.FrameType | None
    ) -> Iterator[tuple[tuple[types.CodeType, int], EagerCall]]:
        """The user's calls on the stack, from the inside out."""
        while frame is not None:
            path = self._project.file(frame.f_code.co_filename)
            if path is not None:
                key = (frame.f_code, frame.f_lasti)
                if key not in self._calls:
                    place = _place(frame)
                    if place is not None:
                        self._calls[key] = EagerCall(
                            path, frame.f_code.co_qualname, place, _plain_names(frame)
                        )
                if key in self._calls:
                    yield key, self._calls[key]
            frame = frame.f_back


def _place(frame: types.FrameType) -> Place | None:
    """The place of the expression that a frame is evaluating."""
    positions = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    if positions is None or any(one is None for one in positions):
        return None
    return positions  # type: ignore[return-value]


def _plain_names(frame: types.FrameType) -> dict[str, str]:
    """Names in a frame whose values are static under jit: "static", "class", or "unhashable" if they cannot even be
    static."""
    known = {name: frame.f_globals[name] for name in frame.f_code.co_names if name in frame.f_globals}
    if frame.f_locals is not frame.f_globals:
        known.update(itertools.islice(frame.f_locals.items(), _MOST_NAMES))
    kinds = {name: _kind(value) for name, value in known.items()}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def _kind(value: Any) -> str | None:
    if isinstance(value, _PLAIN):
        return "class" if isinstance(value, type) else "static"
    if isinstance(value, tuple | list) and value and all(isinstance(item, _PLAIN) for item in value):
        return "static" if isinstance(value, tuple) else "unhashable"
    return None
