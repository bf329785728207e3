"""A run that stops once the imports of a file are evaluated, and continues from there with any text of that file that
begins the same way.

The server forks the process at the stop for each text, so a keystroke costs only the evaluation of the file itself.
The result equals that of a full run: questions asked about the text before the stop must have the same answers for
the new text, and rules receive the events of statements before the stop after it.

Before the functions of the file are evaluated, another fork may take a first look: it begins at the edited lines and
ends at its deadline, so that its findings are a part of those of the file. A text that begins otherwise has only such
a look, with what the first text imported, before its run starts over.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from jaxlint.source import SourceError, SourceFile
from jaxlint.staging.evaluator.machine import STEPS_PER_LINE, Machine
from jaxlint.staging.listeners import Handle, hand
from jaxlint.staging.module import Module
from jaxlint.syntax.facts import module_switches
from jaxlint.syntax.parse import parse_source
from jaxlint.syntax.spelling import normalized

_IMPORTS = (ast.Import, ast.ImportFrom)
_OF_TEXT = (
    "tree",
    "lines",
    "parents",
    "spelled",
    "asked",
    "switched",
    "set_on_classes",
)  # what a module caches from it


class Differs(Exception):
    """The text does not begin like the first one, so the run must start over."""


class OutOfTime(BaseException):
    """The time of a first look is over."""


class Owner(Protocol):
    """The process that forks at the stops of a run."""

    def stop(self, go_on_with: Callable[[SourceFile], None]) -> None:
        """Called once the imports are evaluated. Returns in forks, one for each text. `go_on_with` tries a text, and
        raises Differs or SourceError."""

    def looks(self) -> float | None:
        """Called before the functions of the file are evaluated: in a fork that takes a first look, its processor
        seconds."""

    def previews(self) -> bool:
        """Called when the file itself is done, before its importers are evaluated. True ends the run there."""


class WarmRun:
    """How one run stops and continues. `edited`: the lines of the text that were edited, the last one excluded."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self.edited: tuple[int, int] | None = None
        self.looking = False  # this is a first look
        self.cut_short = False  # and its time was over
        self._machine: Machine | None = None
        self._waiting: list[tuple[Handle, Any, Any]] | None = []  # events that rules have not received yet
        self._evaluated = 0  # statements of the reported module that the stop comes after

    def held(self, method: Handle) -> Handle:
        """Wraps a rule's method: it receives events from before the stop after the stop."""

        @functools.wraps(method)
        def hear(event: Any, reporter: Any) -> None:
            if self._waiting is None:
                method(event, reporter)
            else:
                self._waiting.append((method, event, reporter))

        return hear

    def paced(self, machine: Machine, module: Module, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        """The statements of a module; for the reported module, with a stop after its imports."""
        if not module.reported or self._waiting is None:
            yield from body
            return
        self._machine = machine
        stop = self._evaluated = behind_imports(body)
        yield from body[:stop]
        self._owner.stop(functools.partial(self._go_on_with, machine, module, body, stop))
        self.deliver()
        yield from body[self._evaluated :]

    def deliver(self) -> None:
        """Sends the withheld events to the rules."""
        waiting, self._waiting = self._waiting or [], None
        for method, event, reporter in waiting:
            hand([(method, reporter)], event)

    def evaluates_importers(self) -> bool:
        """Whether the files that import the reported one should be evaluated too."""
        self.deliver()  # if the program ended before the stop
        return not (self.looking or self._owner.previews())

    def begins_functions(self) -> bool:
        """Called before the functions of the reported file are evaluated. Whether this process takes a first look, which
        OutOfTime ends."""
        if not self.looking and (seconds := self._owner.looks()) is not None:
            self.look(seconds)
        return self.looking

    def look(self, seconds: float) -> None:
        """Raises OutOfTime after some processor time."""
        self.looking = True

        def over(number: int, frame: object) -> None:
            if self.looking:
                self.cut_short = True
                raise OutOfTime

        signal.signal(signal.SIGPROF, over)
        signal.setitimer(signal.ITIMER_PROF, seconds)

    def is_edited(self, node: ast.AST) -> bool:
        """Whether edited lines are among those of a function or class."""
        if self.edited is None:
            return False
        first, last = self.edited
        return getattr(node, "lineno", 0) < last and getattr(node, "end_lineno", 0) >= first

    def parsed(self) -> list[Path]:
        """The files that have been parsed."""
        modules = self._machine.project.by_path if self._machine is not None else {}
        return [path for path, module in modules.items() if "tree" in module.__dict__]

    def parse(self, path: Path) -> None:
        """Parses a file that the run will need later."""
        module = self._machine.project.by_path.get(path) if self._machine is not None else None
        if module is not None:
            with contextlib.suppress(SourceError):
                _ = module.tree

    def _go_on_with(
        self, machine: Machine, module: Module, body: list[ast.stmt], stop: int, source: SourceFile
    ) -> None:
        """Replaces the module's text by another one, evaluated up to `stop`. Raises Differs or SourceError."""
        if not machine.project.reads_alike(module, source):
            raise Differs
        if ("donate" in module.spelled) != ("donate" in normalized(source.text)):
            raise Differs
        old, new = module.source.text, source.text
        tree = parse_source(source)
        before, lines = module.tree, len(module.lines)
        if not _begins_alike(body, tree.body, stop, old, new) or module_switches(before) != module_switches(
            tree
        ):
            raise Differs
        body[stop:] = tree.body[stop:]
        _replace(module, source, tree, body)
        machine.limit += STEPS_PER_LINE * (len(module.lines) - lines)

    def go_on_anyway(self, source: SourceFile) -> None:
        """Replaces the module's text by one that begins otherwise, of which all statements are evaluated. Names of imports
        that are gone remain, so that only a first look may go on like this. Raises SourceError."""
        machine = self._machine
        assert machine is not None
        (module,) = machine.project.targets
        tree, body = parse_source(source), module.tree.body
        self._waiting, self._evaluated = None, 0
        body[:] = tree.body
        _replace(module, source, tree, body)


def _replace(module: Module, source: SourceFile, tree: ast.Module, body: list[ast.stmt]) -> None:
    """Gives a module another text, whose statements are in `body`."""
    for name in _OF_TEXT:
        module.__dict__.pop(name, None)
    tree.body = body
    module.source = source
    module.__dict__["tree"] = tree


def behind_imports(body: Sequence[ast.stmt]) -> int:
    """The index of the statement after the last import, counting only those before the first function or class."""
    found = 0
    for number, statement in enumerate(body):
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            break
        if any(isinstance(node, _IMPORTS) for node in ast.walk(statement)):
            found = number + 1
    return found


def _begins_alike(one: list[ast.stmt], other: list[ast.stmt], stop: int, old: str, new: str) -> bool:
    """Whether the first `stop` statements of two texts are equal and at the same positions."""
    if not stop:
        return True
    if len(other) < stop or other[stop - 1].end_lineno != one[stop - 1].end_lineno:
        return False
    last = one[stop - 1].end_lineno or 0
    ends = one[stop - 1].end_col_offset == other[stop - 1].end_col_offset
    return ends and old.split("\n", last)[:last] == new.split("\n", last)[:last]
